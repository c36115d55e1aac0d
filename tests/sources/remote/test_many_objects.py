"""Tests of prefixes with very many objects: what is asked, what is said meanwhile, and how much memory it takes, in a process of its own."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from listing_server import IN_A_RUN, Listing, listing_server
from rows import lines, token_row
from s3_server import as_aws_tools_take_them

REPOSITORY = Path(__file__).parents[3]

CLIENT = """
import json, resource, sys
import fsspec, s3fs
from board import open_run
from board.cli import printing
from board.sources.remote import mirror
from board.runs.library import list_runs
printing.TICK_SECONDS = 0.0
mirror.MOST_OBJECTS = int(sys.argv[2])
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
try:
    folder = printing.listed(sys.argv[1])
    grown = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before
    last = sorted(path.name for path in folder.iterdir())[-1]
    told = {"runs": sum(1 for _ in folder.iterdir()), "last": last, "grown": grown, "frame": len(open_run(folder / last).frame)}
except Exception as error:
    told = {"error": str(error)}
print(json.dumps(told))
"""


def client(listing: Listing, most: int = 1_000_000) -> tuple[dict[str, object], list[str]]:
    """What a process found under `s3://many/runs`, and what it said meanwhile."""
    environment = os.environ | as_aws_tools_take_them(listing.endpoint) | {"PYTHONPATH": str(REPOSITORY)}
    command = [sys.executable, "-c", CLIENT, "s3://many/runs", str(most)]
    ended = subprocess.run(command, env=environment, capture_output=True, text=True, cwd=REPOSITORY, check=False)
    assert ended.returncode == 0, ended.stderr
    return json.loads(ended.stdout), ended.stderr.splitlines()


def assert_listed(objects: int) -> None:
    """A page for every thousand, nothing else until a run is opened, and a little memory for each."""
    with listing_server(objects, lines([token_row(3)])) as listing:
        told, said = client(listing)
    assert (told["runs"], told["frame"]) == (objects // IN_A_RUN, IN_A_RUN)
    assert listing.asked["head"] == 0
    pages = -(-objects // 1_000)
    # once for the address, and once for the prefix of the run that is opened where the first is not fresh any more
    assert pages <= listing.asked["list"] <= 2 * pages
    assert listing.asked["get"] <= 2 * IN_A_RUN
    assert int(str(told["grown"])) <= 60_000 + objects * 1.2  # kB
    assert any(line.startswith("Listing s3://many/runs: ") and line.endswith(" objects so far.") for line in said)


def test_some_thousand() -> None:
    """As with very many, quickly."""
    assert_listed(5_000)


@pytest.mark.slow
def test_a_hundred_thousand() -> None:
    """A bucket as it is after some months."""
    assert_listed(100_000)


def test_too_many() -> None:
    """What lies beyond the bound is not asked for, and a sentence says what to name instead."""
    with listing_server(100_000, b"") as listing:
        told, _ = client(listing, most=3_000)
    assert "More than 3,000 objects lie there: name the prefix of some of them" in str(told["error"])
    assert listing.asked["list"] == 4
