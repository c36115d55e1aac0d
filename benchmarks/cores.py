"""What more processors are worth to a cold open: `python -m benchmarks.cores FOLDER COUNT` opens it bound to so many and prints times as JSON.

The share of the processor's time that one process spends alone, before the first byte range is given out and after the last has come back, is
measured by itself, and reckoned from the times on one processor and on all: both say what a machine with more of them could gain.
"""

import json
import os
import resource
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final

from benchmarks import rollouts
from benchmarks.opening import REPOSITORY, TIMEOUT_SECONDS, in_page_cache, turned
from benchmarks.plan import Plan, say
from benchmarks.sections import Section, figure

MANY: Final = 16
"""Processors that the gain is reckoned for, against two."""

COLUMNS: Final = ("processors", "seconds", "processor (s)", "alone, before and after (s)", "alone (% of the processor's time)")

Took = dict[str, float]


def sections(plan: Plan, place: Path) -> Iterator[Section]:
    """One table, of the largest run that is written whole."""
    size = max(plan.megabytes)
    say(f"cores: writing {size} MB")
    rollouts.write(place / "run", size * 1_000_000)
    counts = sorted({1, 2, len(os.sched_getaffinity(0))} & {*range(1, len(os.sched_getaffinity(0)) + 1)})
    found: dict[int, list[Took]] = {count: [] for count in counts}
    for at in range(plan.rounds_of(size)):
        say(f"cores: round {at + 1} of {plan.rounds_of(size)}")
        for count in turned([str(count) for count in counts], at):
            found[int(count)].append(_opened(place / "run", place / "cache", int(count)))
    rows = tuple(
        (
            str(count),
            figure([one["seconds"] for one in took], "s"),
            figure([one["processor"] for one in took], "s"),
            figure([one["alone"] for one in took], "s"),
            figure([100 * one["alone"] / one["processor"] for one in took], "%"),
        )
        for count, took in found.items()
    )
    yield Section("cores", f"Cold open of {size} MB by number of processors", COLUMNS, rows, _reckoned(found))


def _opened(folder: Path, cache: Path, count: int) -> Took:
    shutil.rmtree(cache, ignore_errors=True)
    in_page_cache(folder)
    environment = os.environ | {"RL_BOARD_CACHE": str(cache), "PYTHONPATH": str(REPOSITORY)}
    command = [sys.executable, "-m", "benchmarks.cores", str(folder), str(count)]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=TIMEOUT_SECONDS, check=True)
    return dict(json.loads(done.stdout.splitlines()[-1]))


def serial_share(one: Sequence[float], two: Sequence[float]) -> float:
    """What of the time on one processor two do not shorten, by Amdahl's law: T2 / T1 = s + (1 - s) / 2; the median of the rounds' pairs."""
    shares = sorted(2 * b / a - 1 for a, b in zip(one, two, strict=True))
    return max(0.0, shares[len(shares) // 2])


def gain(share: float) -> float:
    """How many times less MANY processors take than two where that share is not shortened."""
    return (share + (1 - share) / 2) / (share + (1 - share) / MANY)


def _reckoned(found: dict[int, list[Took]]) -> str:
    alone = sorted(one["alone"] / one["processor"] for took in found.values() for one in took)
    told = [f"By what is done alone {MANY} processors would take 1/{gain(alone[len(alone) // 2]):.1f} of the time of two"]
    if 2 in found:
        share = serial_share(*([one["seconds"] for one in found[count]] for count in (1, 2)))
        told.append(
            f"by the times on one and on two, whose memory they share, {100 * share:.0f} % is not shortened: 1/{gain(share):.1f}"
            if share < 1
            else "the times on one and on two say nothing: other work had the processors"
        )
    return f"{'; '.join(told)}. Reckoned, not measured: a disk that is slower than the processors is not in it."


def main() -> None:
    """Open the folder, bound to so many processors, and print what it took."""
    folder, count = Path(sys.argv[1]), int(sys.argv[2])
    os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[:count])
    from board.runs.opening import Opening

    started, used = time.perf_counter(), time.process_time()
    opening = Opening(folder)
    work = opening.loader.missing()
    before = time.process_time() - used
    with opening.loader.loading(work):
        read = time.process_time()
        run = opening.whole()
    seconds, ended = time.perf_counter() - started, time.process_time()
    helpers = resource.getrusage(resource.RUSAGE_CHILDREN)
    whole = ended - used + helpers.ru_utime + helpers.ru_stime
    print(json.dumps({"seconds": seconds, "processor": whole, "alone": before + ended - read, "rows": len(run.frame)}))


if __name__ == "__main__":
    main()
