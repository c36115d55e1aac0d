"""Tests of tinker-cookbook's capture of sampling."""

from typing import Any

import pytest

from board.errors import RowRefused
from board.formats.contract import Head, Place
from board.formats.trainers import tinker_capture

SCOPE = {"run_id": "r", "split": "train", "iteration": 10, "group_idx": 0, "traj_idx": 3, "purpose": "rollout"}
RECORD: dict[str, Any] = {
    "kind": "sample",
    "scope": SCOPE,
    "num_samples": 1,
    "seq_id": 99,
    "prompt_tokens": [1, 17],
    "sampling_params": {"temperature": 1.0},
    "samples": [{"tokens": [19, 2], "logprobs": [-0.2, None], "stop_reason": "stop"}],
    "status": "ok",
}
PLACE = Place("capture/sample.jsonl", 1)


def mapped(**fields: Any) -> list[dict[str, Any]]:
    """The rollouts of a record with these fields."""
    return tinker_capture.rollouts({**RECORD, **fields}, PLACE)


def test_fields() -> None:
    """The scope says where a sample belongs; its tokens are ids, its logprobs the engine's."""
    (one,) = mapped()

    assert one == {
        "step": 10,
        "split": "train",
        "group_id": 0,
        "sample_id": "3:99",
        "run_id": "r",
        "purpose": "rollout",
        "kind": "sample",
        "num_samples": 1,
        "seq_id": 99,
        "status": "ok",
        "sampling_params": {"temperature": 1.0},
        "prompt_token_ids": [1, 17],
        "response_token_ids": [19, 2],
        "rollout_logprobs": [-0.2, None],
        "stop_reason": "stop",
    }


def test_every_sample_is_a_rollout() -> None:
    """A call for several samples gives as many rollouts, each with a name of its own."""
    several = [{"tokens": [19]}, {"tokens": [20], "logprobs": None}]

    rollouts = mapped(samples=several)

    assert [one["response_token_ids"] for one in rollouts] == [[19], [20]]
    assert [one["sample_id"] for one in rollouts] == ["3:99", "3:99:1"]
    assert [one["rollout_logprobs"] for one in rollouts] == [None, None]


def test_scope_may_say_nothing() -> None:
    """Without an iteration there is no step to stand at, and the reader is told."""
    (one,) = mapped(scope=None, seq_id=None)

    assert (one["step"], one.get("split"), one["group_id"]) == (0, None, None)
    assert "sample_id" not in one
    assert "step" in tinker_capture.note(Head(PLACE.name, ({**RECORD, "scope": {}},)))
    assert "step" not in tinker_capture.note(Head(PLACE.name, (RECORD,)))


def test_evaluation_is_told_by_the_scope() -> None:
    """A split that is not training is an evaluation."""
    assert mapped(scope={**SCOPE, "split": "test"})[0]["split"] == "evaluation"


DAMAGED: dict[str, tuple[dict[str, Any], str]] = {
    "a call that failed": ({"samples": None, "status": "error"}, 'has no `samples`; its status is "error"'),
    "logprobs too short": ({"samples": [{"tokens": [1, 2], "logprobs": [0.0]}]}, "`logprobs` has 1 item for 2 tokens"),
    "tokens as text": ({"samples": [{"tokens": ["a"]}]}, '`tokens` holds "a" at position 0, not a whole number'),
    "a sample without tokens": ({"samples": [{"logprobs": [0.0]}]}, "has no `tokens`"),
    "a prompt as text": ({"prompt_tokens": "four"}, '`prompt_tokens` is "four", not a list'),
    "a scope that is a name": ({"scope": "train"}, '`scope` is "train", not an object'),
}


@pytest.mark.parametrize(("fields", "reason"), DAMAGED.values(), ids=DAMAGED)
def test_damaged_records_are_refused_by_their_key(fields: dict[str, Any], reason: str) -> None:
    """A sample whose tokens or logprobs cannot be told is refused with the key."""
    with pytest.raises(RowRefused, match=reason):
        mapped(**fields)


def test_recognised_by_keys() -> None:
    """Samples with a prompt and a scope, in a file of any name."""
    assert tinker_capture.recognise(Head("x.jsonl", (RECORD,)))
    assert not tinker_capture.recognise(Head(PLACE.name, ({"samples": [], "prompt_tokens": []},)))
