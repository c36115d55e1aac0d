"""Measures the findings: `python -m benchmarks.findings`. Prints a report, and writes it and results.json where `--into` says.

`--write FOLDER` writes the runs and their truth instead, to look at them.
"""

import argparse
import json
import time
from dataclasses import asdict
from pathlib import Path
from typing import Any, Final, cast

from benchmarks.findings import report
from benchmarks.findings.cases import CLEAN, Plan, made, scored
from benchmarks.findings.plants.all_plants import PLANTS
from benchmarks.findings.plants.plant import SHAPES, STRENGTHS, Shape, Strength
from benchmarks.findings.scoring import Score, as_json
from benchmarks.machine import load, machine
from benchmarks.plan import say

HERE: Final = Path(__file__).resolve().parent


def main() -> None:
    """Measure what is asked for."""
    options = arguments()
    plan = Plan(
        kinds=listed(options.kinds, (*CLEAN, *PLANTS)),
        seeds=options.seeds,
        held_out=options.held_out,
        strengths=cast("tuple[Strength, ...]", listed(options.strength, STRENGTHS)),
        shapes=cast("tuple[Shape, ...]", listed(options.shape, SHAPES)),
        steps=options.steps,
        salad=options.salad,
    )
    if options.write:
        written(plan, options.write)
        return
    scores = measured(plan, here=options.here)
    about = f"Measured {time.strftime('%Y-%m-%d')} on {machine()['processor']}, load average {load()}"
    text = report.whole(scores, plan, about)
    print(text)
    if options.into:
        keep(options.into, text, scores, plan)


def keep(into: Path, text: str, scores: list[Score], plan: Plan) -> None:
    """Write results.json, and the report into README.md between its markers."""
    into.mkdir(parents=True, exist_ok=True)
    document = {"plan": asdict(plan), "scores": as_json(scores)}
    (into / "results.json").write_text(json.dumps(document, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    readme = into / "README.md"
    around = (readme if readme.exists() else HERE / "README.md").read_text(encoding="utf-8")
    readme.write_text(report.between_markers(around, text), encoding="utf-8")


def measured(plan: Plan, *, here: bool) -> list[Score]:
    """The score of every case, one after the other."""
    scores = []
    for case in plan.cases():
        one = scored(case, here=here)
        first = ", ".join(said.kind for said in one.said[:3])
        say(f"{case.name}: {one.failure or first or 'nothing'} ({one.seconds:.1f} s)")
        scores.append(one)
    return scores


def written(plan: Plan, folder: Path) -> None:
    """The runs of a plan, each with its truth in a file beside it."""
    for case in plan.cases():
        truth: dict[str, Any] = asdict(made(case, folder / case.name))
        truth |= {"rollouts": sorted(truth["rollouts"]), "tokens": sorted(truth["tokens"])}
        (folder / f"{case.name}.truth.json").write_text(json.dumps(truth) + "\n", encoding="utf-8")
        say(f"{folder / case.name}")


def listed(text: str, known: tuple[str, ...]) -> tuple[str, ...]:
    """Names out of a comma-separated list; all that are known for an empty one. Ends the process for one that is not."""
    names = tuple(name.strip() for name in text.split(",") if name.strip()) or known
    unknown = [name for name in names if name not in known]
    if unknown:
        raise SystemExit(f"Not known: {', '.join(unknown)}. Known: {', '.join(known)}")
    return names


def arguments() -> argparse.Namespace:
    """What the command line asks for."""
    default = Plan()
    options = argparse.ArgumentParser(prog="python -m benchmarks.findings", description=__doc__)
    options.add_argument("--kinds", default="", help=f"of {', '.join((*CLEAN, *PLANTS))} (default: all)")
    options.add_argument("--seeds", type=int, default=default.seeds, help="runs of each kind, strength and shape")
    options.add_argument("--held-out", action="store_true", help="seeds that nobody tunes on")
    options.add_argument("--strength", default=",".join(default.strengths), help=f"of {', '.join(STRENGTHS)}")
    options.add_argument("--shape", default=",".join(default.shapes), help=f"of {', '.join(SHAPES)}")
    options.add_argument(
        "--steps", type=int, default=default.steps, help="of a run; those with small steps have half as many more"
    )
    options.add_argument(
        "--salad", action="store_true", help="thoughts of words at random: what is found must not need real text"
    )
    options.add_argument("--here", action="store_true", help="run the command in this process, which saves its start")
    options.add_argument("--into", type=Path, help="folder for results.json and README.md")
    options.add_argument("--write", type=Path, help="write the runs and their truth into this folder, and measure nothing")
    return options.parse_args()


if __name__ == "__main__":
    main()
