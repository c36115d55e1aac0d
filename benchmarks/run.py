"""Measures everything, prints one Markdown report, and writes results.json and the table in README.md: `python benchmarks`.

Each part runs in a process of its own. One that fails says so in the report, beside what it had measured before. Parts that are not
asked for stay in the report as they were measured last, each with its own date, commit and load.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from dataclasses import asdict
from pathlib import Path
from typing import Any, Final

from benchmarks import report
from benchmarks.machine import commit, load, machine, versions
from benchmarks.parts import PARTS
from benchmarks.plan import Plan, say
from benchmarks.report import MeasuredPart
from benchmarks.sections import Section, from_json

HERE: Final = Path(__file__).resolve().parent


def main() -> None:
    """Measure what is asked for. Ends with 1 when a part failed."""
    options = arguments()
    plan = Plan(
        megabytes=tuple(options.megabytes),
        growth=tuple(options.growth),
        gzip_megabytes=options.gzip_megabytes,
        short_rows=options.short_rows,
        rollouts=tuple(options.rollouts),
        index_megabytes=options.index_megabytes,
        scale_millions=options.scale_millions,
        rounds=options.rounds,
        large_rounds=options.large_rounds,
        before=str(options.before.resolve()) if options.before else "",
    )
    results = options.into / "results.json"
    options.into.mkdir(parents=True, exist_ok=True)
    parts = report.read(results)
    for name in options.only:
        parts[name] = measured(name, plan)
        report.write(parts, results)
    text = report.whole(parts)
    print(text)
    readme = options.into / "README.md"
    around = (readme if readme.exists() else HERE / "README.md").read_text(encoding="utf-8")
    readme.write_text(report.between_markers(around, text), encoding="utf-8")
    sys.exit(any(section.failure for name in options.only for section in parts[name].sections))


def arguments() -> argparse.Namespace:
    """What the command line asks for."""
    default = Plan()
    options = argparse.ArgumentParser(prog="python benchmarks", description=__doc__)
    options.add_argument("--only", nargs="+", choices=PARTS, default=list(PARTS), help="parts to run (default: all)")
    options.add_argument("--megabytes", type=int, nargs="+", default=default.megabytes, help="sizes of runs to open")
    options.add_argument("--growth", type=int, nargs="*", default=default.growth, help="MB to multiply the largest of them to")
    options.add_argument("--gzip-megabytes", type=int, default=default.gzip_megabytes, help="size of the gzipped run")
    options.add_argument("--short-rows", type=int, default=default.short_rows, help="rows of the run of short responses")
    options.add_argument("--rollouts", type=int, nargs="+", default=default.rollouts, help="sizes of runs to click through")
    options.add_argument(
        "--index-megabytes", type=int, default=default.index_megabytes, help="size of the run made into an index"
    )
    options.add_argument(
        "--scale-millions",
        type=float,
        default=default.scale_millions,
        help="millions of rollouts in the index opened as a sample",
    )
    options.add_argument("--rounds", type=int, default=default.rounds, help="how often each is measured")
    options.add_argument("--large-rounds", type=int, default=default.large_rounds, help="the same for runs from 500 MB on")
    options.add_argument("--before", type=Path, help="another checkout, whose first views are measured beside this one's")
    options.add_argument("--into", type=Path, default=HERE, help="folder for results.json and README.md")
    return options.parse_args()


def measured(name: str, plan: Plan) -> MeasuredPart:
    """What a part found, and when and on what."""
    started, before = time.monotonic(), load()
    about: dict[str, Any] = {"date": time.strftime("%Y-%m-%d %H:%M %Z"), "commit": commit(HERE), "machine": machine()}
    about |= {"versions": versions(), "plan": asdict(plan)}
    sections = tuple(sections_of(name, plan))
    return MeasuredPart(about | {"load": [before, load()], "minutes": round((time.monotonic() - started) / 60, 1)}, sections)


def sections_of(name: str, plan: Plan) -> list[Section]:
    """The sections of a part; one more that says why, when it ended before it was done."""
    with tempfile.TemporaryDirectory() as place:
        into = Path(place) / "sections.jsonl"
        into.touch()
        command = [sys.executable, "-m", "benchmarks.parts", name, json.dumps(asdict(plan)), str(into)]
        environment = os.environ | {"PYTHONPATH": str(HERE.parent), "STREAMLIT_LOGGER_LEVEL": "error"}
        process = subprocess.Popen(command, env=environment, stderr=subprocess.PIPE, text=True)
        assert process.stderr is not None
        last = ""
        for line in process.stderr:
            sys.stderr.write(line)
            last = line.strip() or last
        code = process.wait()
        sections = [from_json(json.loads(line)) for line in into.read_text(encoding="utf-8").splitlines()]
    if code:
        say(f"{name} failed")
        sections.append(Section(name, f"{PARTS[name]}: not all was measured", failure=f"ended with {code}: {last}"))
    return sections
