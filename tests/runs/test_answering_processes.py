"""Tests of processes that answer orders: those that end cost their order alone, and none is left."""

import os
import signal
import time
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from board.runs import worker_pool

MODULE = "order_worker"


@pytest.fixture(autouse=True)
def found(monkeypatch: pytest.MonkeyPatch) -> None:
    """Processes find the tests' helpers."""
    monkeypatch.setenv("PYTHONPATH", str(Path(__file__).parents[1] / "helpers"))


@pytest.mark.parametrize("count", [1, 3])
def test_each_order_is_answered_once(count: int) -> None:
    """Beside its place among them, in whatever order."""
    orders = [{"do": "echo", "value": at} for at in range(7)]
    found = dict(worker_pool.answers(MODULE, count, orders, lambda: None))
    assert {at: said["value"] for at, said in found.items()} == {at: at for at in range(7)}


@pytest.mark.parametrize("how", ["die", "fail"])
def test_one_that_ends_costs_its_order(how: str) -> None:
    """The others are answered, by another process."""
    orders: list[dict[str, Any]] = [{"do": "echo", "value": 0}, {"do": how}, {"do": "echo", "value": 2}]
    found = dict(worker_pool.answers(MODULE, 1, orders, lambda: None))
    assert (found[0]["value"], found[2]["value"]) == (0, 2)
    assert found[1]["failed"].startswith("a process beside this one ended: it ended with exit status")


def test_none_is_left_when_nobody_waits_any_more() -> None:
    """Who goes away ends those that are at work."""
    with closing(worker_pool.answers(MODULE, 2, [{"do": "pid"}, {"do": "sleep"}, {"do": "sleep"}], lambda: None)) as answers:
        pid = next(said["pid"] for _, said in answers)
    for _ in range(100):
        if not _is_there(pid):
            return
        time.sleep(0.1)
    raise AssertionError("it is still there")


def _is_there(pid: int) -> bool:
    try:
        os.kill(pid, signal.SIG_DFL)
    except ProcessLookupError:
        return False
    return True


def test_is_heard_while_waiting() -> None:
    """`tick` is called."""
    ticks = list[int]()
    assert len([*worker_pool.answers(MODULE, 1, [{"do": "pause"}], lambda: ticks.append(1))]) == 1
    assert ticks
