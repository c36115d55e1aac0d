"""Tests of XTuner's rollouts."""

from functools import partial
from typing import Any

import pytest
from golden_runs import read_all

from board.errors import RowRefused
from board.formats.contract import Head
from board.formats.trainers import xtuner

SUMMARY = {"reward_mean": 0.5, "reward_std": 0.5, "response_len_mean": 2.0, "response_len_max": 2, "total_len": 12}
RECORD: dict[str, Any] = {
    "rollout_id": "r0",
    "group_id": "g0",
    "task_name": "gsm8k",
    "data_source": "openai/gsm8k",
    "status": "completed",
    "error_msg": None,
    "prompt": [{"role": "user", "content": "2+2?"}],
    "label": "4",
    "response": "4 ✓",
    "reward": 1.0,
    "prompt_len": 4,
    "response_len": 2,
    "reward_payload": {"score": 1.0, "acc": True, "why": "equal"},
    "agent": {"name": None, "tool_turns": 2},
}
OLD: dict[str, Any] = {
    "action_id": "a0",
    "prompt": "2+2?",
    "response": "4",
    "response_len": 2,
    "label": "4",
    "reward": 1.0,
    "finish_reason": "stop",
}
NAME = "train_rollout/train_rollout_6.jsonl"
read = partial(read_all, xtuner, name=NAME, line=2)


def test_fields() -> None:
    """Every key has its place; what the reward is made of stands beside it, number by number."""
    (row,) = read(RECORD)

    assert row.step == 6
    assert row.ids == {"group_id": "g0", "sample_id": "r0", "data_source": "openai/gsm8k"}
    assert {"prompt": "user:\n2+2?", "response": "4 ✓", "ground_truth": "4"}.items() <= row.texts.items()
    assert {"status": "completed", "task_name": "gsm8k", "reward.why": "equal"}.items() <= row.texts.items()
    assert row.numbers == {
        "reward": 1.0,
        "reward.score": 1.0,
        "reward.acc": 1.0,
        "prompt_len": 4.0,
        "response_len": 2.0,
        "agent.tool_turns": 2.0,
    }
    assert "error_msg" not in row.texts
    assert row.flags == []


def test_older_shape() -> None:
    """Before rollouts had groups, an action was a sample."""
    (row,) = read(OLD, name="rollout_idx_3_trajectory.jsonl")

    assert row.step == 3
    assert row.ids == {"sample_id": "a0"}
    assert row.texts == {"prompt": "2+2?", "response": "4", "ground_truth": "4", "finish_reason": "stop"}
    assert row.numbers == {"reward": 1.0, "response_len": 2.0}


@pytest.mark.parametrize(("name", "step"), [("eval_rollout/eval_rollout_6.jsonl", 6), ("eval_3_trajectory.jsonl", 3)])
def test_evaluations_are_told_by_the_name(name: str, step: int) -> None:
    """Step and evaluation are in the path alone."""
    (row,) = read(RECORD, name=name)

    assert (row.step, row.ids["split"]) == (step, "evaluation")


def test_statistics_are_no_rollout() -> None:
    """The record before the rollouts gives none, and is no damage."""
    assert read(SUMMARY) == []


def test_parts_that_are_no_object_are_kept() -> None:
    """A payload of another shape is kept as it is, and null is nothing."""
    assert read({**RECORD, "reward_payload": 0.5})[0].numbers["reward_payload"] == 0.5
    assert "reward_payload" not in read({**RECORD, "reward_payload": None})[0].texts


DAMAGED: dict[str, tuple[dict[str, Any], str]] = {
    "no response": ({**RECORD, "response": None}, "`response`"),
    "something else": ({"hello": 1}, "`response`"),
}


@pytest.mark.parametrize(("record", "reason"), DAMAGED.values(), ids=DAMAGED)
def test_damaged_records_are_refused_by_their_key(record: dict[str, Any], reason: str) -> None:
    """A record that is neither statistics nor a rollout is refused, not skipped."""
    with pytest.raises(RowRefused, match=reason):
        read(record)


RECOGNISED: dict[str, tuple[tuple[dict[str, Any], ...], bool]] = {
    "statistics and a rollout": ((SUMMARY, RECORD), True),
    "a file that just began": ((SUMMARY,), True),
    "the older shape": ((SUMMARY, OLD), True),
    "someone's rollout with an id": (({"rollout_id": 3, "response": "4", "reward": 1.0},), False),
    "someone's statistics": (({"reward_mean": 0.5, "step": 3},), False),
}


@pytest.mark.parametrize(("records", "known"), RECOGNISED.values(), ids=RECOGNISED)
def test_recognised_by_any_of_its_records(records: tuple[dict[str, Any], ...], known: bool) -> None:
    """The first record is never a rollout, so any of the first few may tell."""
    assert xtuner.recognise(Head(NAME, records)) is known
