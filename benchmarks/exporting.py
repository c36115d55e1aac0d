"""A run saved as one file, in every format: how fast, when the first bytes come, and in how much memory.

Each is a process of its own, `python -m benchmarks.exporting FOLDER FORMAT ARRAYS`, which opens the kept run and then writes the file piece
by piece, as the server hands it on.
"""

import json
import os
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from itertools import product
from pathlib import Path
from typing import Final

from benchmarks import rollouts
from benchmarks.machine import memory
from benchmarks.plan import Plan, say
from benchmarks.sections import Cell, Section, figure

REPOSITORY: Final = Path(__file__).resolve().parent.parent
FORMATS: Final = ("csv", "jsonl", "parquet")
ARRAYS: Final = {"": "without token arrays", "arrays": "with token arrays"}
TIMEOUT_SECONDS: Final = 3_600

COLUMNS: Final = ("file", "seconds", "process time (s)", "rollouts/s", "MB", "MB/s", "first bytes (ms)", "anonymous, more (MB)")

Found = dict[str, float]


def sections(plan: Plan, place: Path) -> Iterator[Section]:
    """One table for each number of rollouts."""
    for count in sorted(plan.rollouts):
        folder = place / f"run_{count}"
        say(f"exporting: writing {count:,} rollouts")
        rollouts.of_size(folder, count)
        attempt(folder, "parquet", "")  # the run is kept from now on
        yield at_size(folder, count, plan.large_rounds)


def at_size(folder: Path, count: int, rounds: int) -> Section:
    """Every format of one run, with token arrays and without, in turn."""
    ways = list(product(FORMATS, ARRAYS))
    found: dict[tuple[str, str], list[Found]] = {way: [] for way in ways}
    for at in range(rounds):
        say(f"exporting: {count:,} rollouts, round {at + 1} of {rounds}")
        for way in ways[at % len(ways) :] + ways[: at % len(ways)]:
            found[way].append(attempt(folder, *way))
    rows = tuple(row(f"{form}, {ARRAYS[arrays]}", found[form, arrays]) for form, arrays in ways)
    note = f"Medians of {rounds}. The run is open before; its file is written to the disk and is not flushed."
    return Section("exporting", f"A file of {count:,} rollouts", COLUMNS, rows, note)


def row(name: str, found: Sequence[Found]) -> tuple[Cell, ...]:
    """What a way took, round by round."""
    seconds = [one["seconds"] for one in found]
    return (
        name,
        figure(seconds, "s"),
        figure([one["work"] for one in found], "s"),
        figure([one["rows"] / one["seconds"] for one in found], "rollouts/s"),
        figure([one["bytes"] / 1e6 for one in found], "MB"),
        figure([one["bytes"] / 1e6 / one["seconds"] for one in found], "MB/s"),
        figure([1e3 * one["first"] for one in found], "ms"),
        figure([one["more"] for one in found], "MB"),
    )


def attempt(folder: Path, form: str, arrays: str) -> Found:
    """What one file took. Raises RuntimeError with the last line of what went wrong."""
    environment = os.environ | {"RL_BOARD_CACHE": str(folder.parent / "cache"), "PYTHONPATH": str(REPOSITORY)}
    command = [sys.executable, "-m", "benchmarks.exporting", str(folder), form, arrays]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=TIMEOUT_SECONDS)
    if done.returncode:
        raise RuntimeError(f"{form}: {(done.stderr.strip().splitlines() or ['no word'])[-1]}")
    return dict(json.loads(done.stdout))


def written(folder: Path, form: str, arrays: bool) -> Found:
    """Seconds and bytes of a file, and by how many MB the process's own memory was at most larger than with the run open."""
    from board import open_run
    from board.runs import export

    known = next(one for one in export.FORMATS if one == form)
    run, out = open_run(folder), folder.with_suffix(f".{form}")
    before = memory()["anonymous"]
    wall, work = time.perf_counter(), time.process_time()
    first, size, rows, most = 0.0, 0, 0, before
    with out.open("wb") as stream:
        for piece in export.pieces(run, known, arrays):
            stream.write(piece.data)
            size, rows = size + len(piece.data), rows + piece.rows
            first = first or (time.perf_counter() - wall if piece.rows else 0.0)
            most = max(most, memory()["anonymous"])
    took = time.perf_counter() - wall, time.process_time() - work
    out.unlink()
    if rows != len(run.frame):
        raise RuntimeError(f"{rows:,} of {len(run.frame):,} rollouts were written")
    return {"seconds": took[0], "work": took[1], "rows": rows, "bytes": size, "first": first, "more": most - before}


def main() -> None:
    """Write the file as named, and print what it took."""
    folder, form, arrays = sys.argv[1:]
    print(json.dumps(written(Path(folder), form, bool(arrays))))


if __name__ == "__main__":
    main()
