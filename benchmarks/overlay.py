"""Eight cached runs laid over each other: what the server does for the first view of Rewards and of Metrics, for a step, and in how much memory.

Each view is a process of its own, `python -m benchmarks.overlay PAGE`, that has shown the page of a tiny run before: what it takes
is the opening of eight runs that it has never seen and their curves, and no import. The script runs as the server runs it, through AppTest.
"""

import json
import os
import statistics
import subprocess
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final

from streamlit.testing.v1 import AppTest

from benchmarks import rollouts
from benchmarks.interactions import ENTRY, TIMEOUT_SECONDS, checked, step_on, timed
from benchmarks.machine import memory
from benchmarks.plan import Plan, say
from benchmarks.sections import Section, figure
from board.analysis.run_overlay import MOST_RUNS
from board.runs.opening import open_run

REPOSITORY: Final = Path(__file__).resolve().parent.parent
PAGES: Final = ("rewards", "metrics")
RUNS: Final = tuple(f"seed_{at}" for at in range(MOST_RUNS))
TINY: Final = "tiny"
TINY_ROLLOUTS: Final = 320
STEPS: Final = 6
"""So many steps are gone to; the first is thrown away."""

GOAL_MEGABYTES: Final = 1000
"""The goals are for runs of this size."""

Found = dict[str, float]


def sections(plan: Plan, place: Path) -> Iterator[Section]:
    """One table: a row for each page."""
    root = place / "runs"
    os.environ["RL_BOARD_CACHE"] = str(place / "cache")
    rollouts.of_size(root / TINY, TINY_ROLLOUTS)
    for seed, name in enumerate(RUNS):
        say(f"overlay: writing and opening {plan.overlay_megabytes:,} MB, {seed + 1} of {len(RUNS)}")
        rollouts.write(root / name, plan.overlay_megabytes * 1_000_000, seed=seed)
        open_run(root / name)
    yield laid_over(root, plan)


def laid_over(root: Path, plan: Plan) -> Section:
    """What the first view, a step and the memory came to, round by round."""
    held = plan.overlay_megabytes >= GOAL_MEGABYTES
    first, step, more = ("overlay_first", "overlay_step", "overlay_memory") if held else (None, None, None)
    rows = []
    for page in PAGES:
        say(f"overlay: {page}")
        found = [attempt(root, page) for _ in range(plan.large_rounds)]
        rows.append(
            (
                page.capitalize(),
                figure([one["wall"] for one in found], "s"),
                figure([one["work"] for one in found], "s", first),
                figure([one["step"] for one in found], "ms", step),
                figure([one["more"] for one in found], "MB", more),
            )
        )
    columns = ("page", "first view, wall", "first view, process time", "a step, process time", "memory a run")
    note = (
        f"{len(RUNS)} cached runs of {plan.overlay_megabytes:,} MB that the server has not opened. Medians of {plan.large_rounds}; a step is "
        f"the median of {STEPS - 1}. Process time counts all threads; memory is the process's own, after the steps."
    )
    return Section("overlay", f"Eight runs of {plan.overlay_megabytes:,} MB over each other", columns, tuple(rows), note)


def attempt(root: Path, page: str) -> Found:
    """What one server took. Raises RuntimeError with the last line of what went wrong."""
    environment = os.environ | {"RL_BOARD_ROOT": str(root), "RL_BOARD_FINDINGS": "off", "PYTHONPATH": str(REPOSITORY)}
    command = [sys.executable, "-m", "benchmarks.overlay", page]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=TIMEOUT_SECONDS * 5)
    if done.returncode:
        raise RuntimeError(f"overlay of {page}: {(done.stderr.strip().splitlines() or ['no word'])[-1]}")
    return dict(json.loads(done.stdout))


def visit(page: str, runs: Sequence[str]) -> AppTest:
    """The page as a link opens it, not run yet."""
    test = AppTest.from_file(str(ENTRY), default_timeout=TIMEOUT_SECONDS)
    test.query_params["run"] = runs[0]
    test.query_params["step"] = "1"
    test.query_params["beside"] = list(runs) if len(runs) > 1 else []
    return test.switch_page(f"board/ui/pages/{page}.py")


def measured(page: str) -> Found:
    """Seconds of the first view, milliseconds of a step, and megabytes more for each run."""
    for _ in range(2):
        timed(visit(page, [TINY]))
    before = memory()["anonymous"]
    test = visit(page, RUNS)
    wall, work = timed(test)
    checked(test)
    chips = [one for one in test.get("bidi_component") if one.proto.component_name.endswith("run_chips")]
    shown = sum(len(json.loads(one.proto.json)["chips"]) for one in chips)
    if shown != len(RUNS):
        raise RuntimeError(f"{shown} of {len(RUNS)} runs are shown")
    steps = [timed(step_on(test, at))[1] for at in range(STEPS)][1:]
    checked(test)
    more = (memory()["anonymous"] - before) / len(RUNS)
    return {"wall": wall / 1e3, "work": work / 1e3, "step": statistics.median(steps), "more": more}


if __name__ == "__main__":
    print(json.dumps(measured(sys.argv[1])))
