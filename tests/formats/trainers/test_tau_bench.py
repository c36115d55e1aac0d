"""Tests of tau-bench's trajectories."""

from typing import Any

import pytest
from golden_runs import GOLDEN

from board import formats, open_run
from board.errors import RowRefused
from board.formats.contract import Head, Place
from board.formats.trainers import tau_bench


def test_a_run_opens_as_evaluation() -> None:
    """Two tasks tried twice: the response begins at the assistant's call, and an attempt that ended in an error says which."""
    run = open_run(GOLDEN / "tau_bench")
    frame = run.frame

    assert run.splits == ("evaluation",)
    assert set(frame["step"]) == {0}
    assert (frame["group"].nunique(), frame["reward"].mean()) == (2, 0.5)
    assert run.report.problems == []
    first = run.rollout(int(frame.index[0]))
    assert first["prompt"] == "system:\nYou serve customers.\n\nuser:\nTable 1, please."
    assert first["response"].startswith('assistant:\n→ book({"table": 1})\n\ntool:\n{"ok": true}\n\nassistant:\nBooked.')
    failed = run.rollout(int(frame.index[(frame["prompt_id"] == "0") & (frame["sample_id"] == "1")][0]))
    assert (failed["response"], failed["error"]) == ("", "RateLimitError: slow down")
    assert "counts in the mean" in tau_bench.note(Head("x.json", ()))


BAD: dict[str, tuple[Any, str]] = {
    "nothing": (None, "`traj` is null, not a list of messages with roles"),
    "no roles": ([{"content": "4"}], "`traj` is "),
}


@pytest.mark.parametrize(("traj", "reason"), BAD.values(), ids=BAD)
def test_a_conversation_that_is_none_is_refused(traj: Any, reason: str) -> None:
    """By its key."""
    with pytest.raises(RowRefused, match=reason):
        formats.read({"task_id": 0, "trial": 0, "reward": 0.0, "info": {}, "traj": traj}, tau_bench, Place("x.json", 1))
