"""Tests of what a query may take: time, memory, its own process, and nothing of the board's environment."""

import os
import signal
import sys
import threading
import time
from pathlib import Path

import pytest
from queried import ENDLESS, FRAME, children

from board.errors import BoardError
from board.sql.query import curves, evaluate
from board.sql.sandbox_client import Limits

QUICK = Limits(seconds=1)


def is_copy(process: int) -> bool:
    """Whether it still is what this process is: what is started has its own command line and environment from a moment later on."""
    return Path(f"/proc/{process}/cmdline").read_bytes() == Path("/proc/self/cmdline").read_bytes()


@pytest.mark.parametrize("name", ENDLESS)
def test_time_is_limited(name: str) -> None:
    """A query that never ends is stopped, also within one function that DuckDB does not interrupt, and leaves no process behind."""
    before, started = children(), time.monotonic()

    with pytest.raises(BoardError, match="took longer than 1 second\\."):
        evaluate(FRAME, ENDLESS[name], QUICK)

    assert time.monotonic() - started < 60  # left alone it would take minutes
    assert children() <= before


@pytest.mark.parametrize(
    "query", ["SELECT 1 AS step, length(repeat('x', 4000000000)) AS y", "SELECT 1 AS step, list_sum(range(1000000000)) AS y"]
)
def test_memory_is_limited_within_a_function(query: str) -> None:
    """What escapes DuckDB's own limit does not escape the system's."""
    with pytest.raises(BoardError, match="Out of Memory"):
        evaluate(FRAME, query)


def test_killed_process_is_told() -> None:
    """When the machine kills the process, the reader gets a sentence and the board goes on."""
    before, told = children(), []

    def ask() -> None:
        with pytest.raises(BoardError) as stopped:
            evaluate(FRAME, ENDLESS["recursion"])
        told.append(str(stopped.value))

    asking = threading.Thread(target=ask)
    asking.start()
    while not (started := children() - before):
        time.sleep(0.01)
    for process in started:
        os.kill(process, signal.SIGKILL)
    asking.join()

    assert told == ["The query was stopped: it needed more than the 512 MB it may take, or DuckDB failed."]
    assert len(curves(evaluate(FRAME, "SELECT step, avg(reward) FROM rollouts GROUP BY ALL"))) == 1


@pytest.mark.parametrize(
    ("python", "wanted"),
    [
        ("/bin/false", "process that answers queries failed: it ended with exit status 1"),
        ("/nowhere/python", "could not be run: No such file"),
    ],
)
def test_process_that_cannot_start_is_told(monkeypatch: pytest.MonkeyPatch, python: str, wanted: str) -> None:
    """A broken installation is named as such, not as a wrong query."""
    monkeypatch.setattr(sys, "executable", python)

    with pytest.raises(BoardError, match=wanted):
        evaluate(FRAME, "SELECT 1 AS step, 2 AS y")


def test_environment_is_not_handed_on(monkeypatch: pytest.MonkeyPatch) -> None:
    """The process does not even have what the board's environment holds, such as keys."""
    monkeypatch.setenv("SECRET_KEY", "hunter2")
    before = children()

    def ask() -> None:
        with pytest.raises(BoardError, match="longer"):
            evaluate(FRAME, ENDLESS["recursion"], Limits(seconds=3))

    asking = threading.Thread(target=ask)
    asking.start()
    while not (started := children() - before) or any(map(is_copy, started)):
        time.sleep(0.01)
    found = [Path(f"/proc/{process}/environ").read_text() for process in started]
    asking.join()

    assert ["PYTHONPATH" in one for one in found] == [True]
    assert "hunter2" not in found[0]


def test_several_readers_at_once() -> None:
    """Each reader gets the answer to their own query."""
    found: dict[int, list[float]] = {}

    def ask(number: int) -> None:
        found[number] = evaluate(FRAME, f"SELECT step, {number} AS y FROM rollouts GROUP BY ALL").frame["y"].tolist()

    asking = [threading.Thread(target=ask, args=(number,)) for number in range(3)]
    for thread in asking:
        thread.start()
    for thread in asking:
        thread.join()

    assert found == {number: [number] * 3 for number in range(3)}
