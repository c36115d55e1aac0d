"""The cases: which run with which fault at which place, written with its truth beside it."""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from random import Random
from typing import Any, Final

from benchmarks.findings.reported.configuration import Run, run_of
from benchmarks.findings.reported.fault import STRENGTHS, Fault, Row, Spot, Strength, faults_of, measured
from benchmarks.findings.reported.file_faults import FILE_HOOKS
from benchmarks.findings.reported.honest import made
from benchmarks.findings.reported.number_faults import NUMBER_HOOKS
from benchmarks.findings.reported.reward_faults import REWARD_HOOKS
from benchmarks.findings.reported.text_faults import TEXT_HOOKS
from benchmarks.findings.reported.texts import KINDS, POOLS

FAULTS: Final = faults_of(REWARD_HOOKS | TEXT_HOOKS | NUMBER_HOOKS | FILE_HOOKS)
CLEAN: Final = {f"clean_{kind}": kind for kind in KINDS} | {"clean_role_markers": "chat"}
"""Sound runs by name, and their kind of task; those of the last end responses with one of several markers."""


@dataclass(frozen=True)
class Case:
    """One run to be written."""

    kind: str
    """Of FAULTS or CLEAN."""
    seed: int
    strength: Strength = "medium"

    @property
    def name(self) -> str:
        """As its folder is called."""
        return f"{self.kind}-{self.seed}" + (f"-{self.strength}" if self.kind in FAULTS else "")


def cases(kinds: tuple[str, ...], first: int, seeds: int, strength: Strength) -> Iterator[Case]:
    """Kind by kind; with 0 seeds ten of what is sound and four of each fault."""
    for kind in kinds:
        yield from (Case(kind, seed, strength) for seed in range(first, first + (seeds or (10 if kind in CLEAN else 4))))


def write(case: Case, folder: Path) -> dict[str, Any]:
    """Write the run into `folder/run`, and what is true of it into `folder/truth.json`."""
    if case.kind in CLEAN:
        wanted = {"ends": POOLS["markers"], "tokens": True} if case.kind == "clean_role_markers" else {}
        run = run_of(CLEAN[case.kind], case.seed, **wanted)
        rows, truth = made(run), {"fault": None, "severity": None}
    else:
        run, fault, spot = planted(FAULTS[case.kind], case)
        rows = made(run, fault.hooks, spot)
        truth = truth_of(fault, spot, rows)
    about = {
        "case": case.name,
        "kind": case.kind,
        "seed": case.seed,
        "steps": run.steps,
        "rollouts": len(rows),
        "group": run.group,
    }
    about |= {"trend": run.trend, "traits": sorted(run.traits), "arrays": run.arrays, "tokens": run.tokens}
    _lines(rows, folder / "run")
    (folder / "truth.json").write_text(json.dumps(about | truth, ensure_ascii=False, indent=1) + "\n", encoding="utf-8")
    return about | truth


def planted(fault: Fault, case: Case) -> tuple[Run, Fault, Spot]:
    """A run that fits a fault, and the place of the fault in it; places, sizes of groups and token arrays take turns by seed."""
    turn = case.seed + len(fault.name)
    place = fault.places[turn % len(fault.places)]
    group = fault.groups[(case.seed + len(fault.called)) % len(fault.groups)]
    many = group == 64
    arrays = ("logprobs", "ref_logprobs", "entropies") if turn % 2 and not many else ()
    heavy = many and fault.wants.get("arrays")
    wanted = {"calm": True, "least": 12 if heavy else 20, "group": group, "arrays": arrays, "growth": 0.2 * (case.seed % 3 - 1)}
    wanted |= {"rollouts": 128, "tokens": False} if many and not heavy else {"rollouts": 16 if arrays else 24}
    wanted |= dict(fault.wants)
    run = run_of(fault.task, case.seed, **wanted)
    count = len(run.steps)
    first = {"start": 0, "one": 1, "early": count * 2 // 9, "middle": count // 2, "end": count - max(5, fault.length + 1)}[place]
    last = min(count, first + fault.length) - 1 if fault.length else count - 1
    return run, fault, Spot(run, STRENGTHS[case.strength], first, last, Random(f"{case.name}/fault"))


def truth_of(fault: Fault, spot: Spot, rows: list[Row]) -> dict[str, Any]:
    """What was done to the run, with the mean of a number that shows it within the fault's steps and outside of them."""
    steps = spot.run.steps
    last = spot.last - (spot.last - spot.first) % 5 if fault.name == "validation_among_rollouts" else spot.last
    between = max(2, len(steps) // 8) if fault.measure in ("validation", "held_out_b") else 0
    shown = [row for row in rows if between or row.get("split", "train") != "evaluation" or spot.run.kind == "evaluation"]
    inside = [steps[spot.first] <= row["step"] <= steps[last] for row in shown]
    within, outside = ([row for row, at in zip(shown, inside, strict=True) if at == wanted] for wanted in (True, False))
    return {
        "fault": fault.name,
        "class": fault.shape if fault.shape in ("population", "episode") else ("departure" if spot.first else "level"),
        "called": fault.called,
        "first": steps[spot.first],
        "grown": steps[min(spot.first + fault.grows + between, spot.last)],
        "last_least": steps[max(spot.first, last - between)],
        "last": steps[last],
        "measure": fault.measure,
        "within": measured(fault.measure, within),
        "outside": measured(fault.measure, outside),
        "rollouts_within": len(within),
        "words": fault.words,
        "consequences": fault.also,
        "severity": fault.severity,
    }


def _lines(rows: list[Row], folder: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    files: dict[str, list[str]] = {}
    for row in rows:
        kept = {key: value for key, value in row.items() if key[0] != "_"}
        files.setdefault(row["_file"], []).append(json.dumps(kept, ensure_ascii=False) + "\n")
    for stale in folder.glob("*.jsonl"):
        stale.unlink()
    for name, lines in files.items():
        (folder / name).write_text("".join(lines), encoding="utf-8")
