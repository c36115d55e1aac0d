"""Lines without end, zeros and bombs: each ends in seconds of processor time within 1 GB, is one problem, and the rest loads."""

import gzip
import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

import pyarrow as pa
import pytest
from rows import lines, row

CHILD: Final = """
import json, resource, sys
from pathlib import Path
resource.setrlimit(resource.RLIMIT_DATA, (1 << 30, 1 << 30))
resource.setrlimit(resource.RLIMIT_CPU, (90, 90))
from board import open_run
for folder in sorted(Path(sys.argv[1]).iterdir()):
    run = open_run(folder)
    again = open_run(folder)
    used = resource.getrusage(resource.RUSAGE_SELF)
    print(json.dumps({
        "run": folder.name,
        "lines": run.frame[["step", "line"]].to_numpy().tolist(),
        "again": again.frame[["step", "line"]].to_numpy().tolist(),
        "problems": [str(one) for one in run.report.problems],
        "seconds": used.ru_utime + used.ru_stime,
        "memory": next(line.split()[1] for line in open("/proc/self/status") if line.startswith("VmHWM")),
    }), flush=True)
"""

GOOD: Final = lines([row(1)])
LAST: Final = lines([row(2)])


def _hole(path: Path, size: int, after: bytes = LAST) -> None:
    """A good row, zeros without a line end, and what comes after."""
    with path.open("wb") as file:
        file.write(GOOD)
        file.seek(len(GOOD) + size)
        file.write(after)
        file.truncate()


def _bomb(path: Path, compress: Callable[[bytes], bytes]) -> None:
    """A good row, then 16 GB of zeros."""
    path.write_bytes(compress(GOOD) + compress(bytes(64_000_000)) * 250)


def _zstd(data: bytes) -> bytes:
    return bytes(pa.Codec("zstd").compress(data, asbytes=True))


def _line_of_letters(path: Path) -> None:
    with path.open("wb") as file:
        file.write(GOOD + b'{"step": 5, "response": "')
        for _ in range(500):
            file.write(b"x" * 1_000_000)
        file.write(b'"}\n' + LAST)


LONG = "is longer than 256,000,000 bytes (RL_BOARD_LONGEST_LINE), from byte"
DENSE = "decompressed it is more than 200 times as long"

CASES: Final[dict[str, tuple[str, Callable[[Path], object], list[list[int]], str]]] = {
    "a line of 500 MB": ("a.jsonl", _line_of_letters, [[1, 1], [2, 3]], f"a.jsonl:2: {LONG} {len(GOOD)} on"),
    "3 GB and a row": (
        "a.jsonl",
        lambda path: _hole(path, 3 << 30, b"\n" + LAST),
        [[1, 1], [2, 3]],
        f"a.jsonl:2: {LONG} {len(GOOD)} on",
    ),
    "3 GB without an end": (
        "a.jsonl",
        lambda path: _hole(path, 3 << 30, b""),
        [[1, 1]],
        f"a.jsonl:2: {LONG} {len(GOOD)} on: it is left out, with all that follows it",
    ),
    "a terabyte of zeros": ("a.jsonl", lambda path: _hole(path, 1 << 40, b"\n" + LAST), [[1, 1], [2, 3]], LONG),
    "a bomb of gzip": ("a.jsonl.gz", lambda path: _bomb(path, gzip.compress), [[1, 1]], DENSE),
    "a bomb of zstd": ("a.jsonl.zst", lambda path: _bomb(path, _zstd), [[1, 1]], DENSE),
    "a JSON file of zeros": (
        "episode_1.json",
        lambda path: _hole(path, 1 << 40),
        [[1, 1]],
        "episode_1.json:2: is longer than 256,000,000 bytes",
    ),
}


@pytest.fixture(scope="module")
def told(tmp_path_factory: pytest.TempPathFactory) -> dict[str, dict[str, Any]]:
    """What one reader, bounded to 1 GB and 90 s of the processor, says of each run, opened twice."""
    base = tmp_path_factory.mktemp("bounds")
    for case, (name, make, _, _) in CASES.items():
        (base / "root" / case).mkdir(parents=True)
        make(base / "root" / case / name)
    done = subprocess.run(
        [sys.executable, "-c", CHILD, str(base / "root")],
        env={**os.environ, "RL_BOARD_CACHE": str(base / "cache")},
        capture_output=True,
        text=True,
        timeout=400,
        check=False,
    )
    assert done.returncode == 0, (done.stdout, done.stderr[-2000:])
    return {one["run"]: one for one in map(json.loads, done.stdout.splitlines())}


@pytest.mark.parametrize("case", CASES)
def test_what_has_no_end_ends(told: dict[str, dict[str, Any]], case: str) -> None:
    """The rows around it are there with their lines, it is one problem with its place, and no more than 1 GB was in memory."""
    _, _, rows, reason = CASES[case]
    said = told[case]

    assert (said["lines"], said["again"]) == (rows, rows)
    assert len([one for one in said["problems"] if reason in one]) == 1
    assert int(said["memory"]) * 1024 < 1 << 30
