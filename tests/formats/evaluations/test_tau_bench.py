"""Tests of tau-bench's trajectories."""

import json
from pathlib import Path
from typing import Any

import pytest
from golden_runs import GOLDEN

from board import formats, open_run
from board.errors import RowRefused
from board.formats.contract import Head, Place
from board.formats.evaluations import tau_bench


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


def simulation(task: int, trial: int, reward: float, ended: str = "user_stop") -> dict[str, Any]:
    """One of tau2-bench's: the assistant greets first, in words that nobody sampled."""
    call = {"id": "c1", "name": "book", "arguments": {"seat": task}, "requestor": "assistant"}
    said = [
        {"role": "assistant", "content": "Hi! How can I help you today?"},
        {"role": "user", "content": f"Seat {task}, please."},
        {"role": "assistant", "content": None, "tool_calls": [call]},
        {"id": "c1", "role": "tool", "content": "ok", "requestor": "assistant", "error": False},
    ]
    return {
        "id": f"{task}-{trial}",
        "task_id": str(task),
        "duration": 60.5,
        "termination_reason": ended,
        "reward_info": {"reward": reward, "reward_basis": ["DB"], "reward_breakdown": {"DB": reward}},
        "messages": said,
        "trial": trial,
        "seed": 300 + trial,
    }


SIMULATIONS = [simulation(0, 0, 1.0), simulation(1, 0, 0.0), simulation(0, 1, 0.0), simulation(1, 1, 0.0, "infrastructure_error")]


def results(simulations: list[dict[str, Any]]) -> str:
    """The file of a run, its policy so long that no simulation is near its beginning."""
    info = {"git_commit": "abc", "environment_info": {"domain_name": "airline", "policy": "Help customers. " * 900}}
    tasks = [{"id": str(at), "evaluation_criteria": {"actions": [{"name": "book", "arguments": {"seat": at}}]}} for at in (0, 1)]
    return json.dumps({"timestamp": "2026-06-01T10", "info": info, "tasks": tasks, "simulations": simulations}, indent=2)


@pytest.mark.parametrize("one_file", [True, False], ids=["one file", "a file a simulation"])
def test_results_of_tau2_bench(tmp_path: Path, one_file: bool) -> None:
    """A simulation is a rollout of its task, which begins behind the user's first turn; what tau2-bench does not count is in no mean."""
    (tmp_path / "results.json").write_text(results(SIMULATIONS if one_file else []))
    for one in [] if one_file else SIMULATIONS:
        (tmp_path / "simulations").mkdir(exist_ok=True)
        (tmp_path / "simulations" / f"{one['id']}.json").write_text(json.dumps(one, indent=2))

    run = open_run(tmp_path)

    frame = run.frame[run.frame["split"] == "evaluation"]
    assert ({*run.splits}, len(run.frame), frame["reward"].mean()) == ({"evaluation", "discarded"}, 4, 1 / 3)
    assert {*run.frame["group_id"]} == {"0", "1"}
    assert list(frame["reward.DB"]) == list(frame["reward"])
    first = run.rollout(int(frame.index[0]))
    assert first["prompt"] == "assistant:\nHi! How can I help you today?\n\nuser:\nSeat 0, please."
    assert first["response"] == 'assistant:\n→ book({"seat": 0})\n\ntool:\nok'
    assert run.report.problems == []


def test_a_simulation_without_messages_is_refused_and_the_others_are_read(tmp_path: Path) -> None:
    """As a voice run writes it, with ticks."""
    (tmp_path / "results.json").write_text(results([*SIMULATIONS[:1], SIMULATIONS[1] | {"messages": None}]))

    run = open_run(tmp_path)

    assert len(run.frame) == 1
    assert [problem.reason for problem in run.report.problems] == [
        "simulation 2 `messages` is null, not a list of messages with roles"
    ]
