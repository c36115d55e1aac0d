"""The part `findings` of `python benchmarks`: how long a run is looked through, and how well what went wrong is found."""

import os
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final

from benchmarks import rollouts
from benchmarks.findings.cases import CLEAN, scored
from benchmarks.findings.cases import Plan as Cases
from benchmarks.findings.scoring import FIRST, Score, summarised
from benchmarks.plan import Plan, say
from benchmarks.sections import Figure, Section, figure
from benchmarks.serving import REPOSITORY

SEEDS: Final = 2
"""Held-out runs of each kind, sudden and gradual each."""
TOKENS: Final = 60
"""Of the median response of the runs that time is taken of."""
GOALS_OF: Final = {10_000: "findings_10k"}

_OPENED: Final = "import sys\nfrom board import open_run\nopen_run(sys.argv[1])"
_LOOKED: Final = (
    "import sys, time\nfrom board import open_run\nfrom board.findings.scan import find_all\n"
    "run = open_run(sys.argv[1])\nstart = time.perf_counter()\nfind_all(run)\nprint(time.perf_counter() - start)"
)


def sections(plan: Plan, place: Path) -> Iterator[Section]:
    """Time by the number of rollouts, then found by kind, then what clean runs are blamed for."""
    yield _time(plan, place)
    scores = []
    for case in Cases(seeds=SEEDS, held_out=True).cases():
        scores.append(scored(case, here=True))
        say(f"{case.name}: {', '.join(said.kind for said in scores[-1].said[:3]) or 'nothing'}")
    yield _found([one for one in scores if one.kind not in CLEAN])
    yield _blamed([one for one in scores if one.kind in CLEAN])


def _time(plan: Plan, place: Path) -> Section:
    rows = []
    for count in plan.rollouts:
        run = place / f"run_{count}"
        rollouts.write(run, 0, tokens=TOKENS, rows=count)
        took = [_looked(run, place / f"cache_{count}_{at}") for at in range(plan.large_rounds)]
        rows.append((f"{count:,}", figure(took, "s", GOALS_OF.get(count))))
    note = "`find_all` of a run that was opened before and not looked through, in a new process, its imports left out."
    return Section("findings", "A run looked through for findings", ("rollouts", "s"), tuple(rows), note)


def _looked(run: Path, cache: Path) -> float:
    environment = os.environ | {"RL_BOARD_CACHE": str(cache), "PYTHONPATH": str(REPOSITORY)}
    for code in (_OPENED, _LOOKED):
        started = time.perf_counter()
        ended = subprocess.run(
            [sys.executable, "-c", code, str(run)], env=environment, check=True, capture_output=True, text=True
        )
        say(f"{run.name}: {time.perf_counter() - started:.1f} s")
    return float(ended.stdout)


def _found(scores: Sequence[Score]) -> Section:
    rows = tuple(
        (
            f"`{one.kind}`",
            Figure(one.found_or_sign, one.found_or_sign, one.found_or_sign, one.runs, "of 1", "findings_found"),
            "" if one.precision is None else Figure(one.precision, one.precision, one.precision, one.runs, "of 1"),
            "" if one.onset_error is None else f"{one.onset_error:g}",
        )
        for one in summarised(scores)
    )
    columns = ("kind", f"found among the first {FIRST}", "rows right", "onset off by, steps")
    return Section("findings", "Planted faults found, held-out seeds, medium strength", columns, rows)


def _blamed(scores: Sequence[Score]) -> Section:
    goals = {CLEAN[0]: "findings_false"}
    rows = tuple(
        (one.kind, Figure(one.accusations, one.accusations, one.accusations, one.runs, "per run", goals.get(one.kind)))
        for one in summarised(scores)
    )
    return Section("findings", "Warnings and errors about runs without a fault", ("runs", "per run"), rows)
