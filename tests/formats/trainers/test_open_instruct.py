"""Tests of open-instruct's rollouts."""

from typing import Any

import numpy as np
import pytest
from golden_runs import flat, golden, golden_head, golden_records

from board import formats
from board.errors import RowRefused
from board.formats import native
from board.formats.contract import Head, Place
from board.formats.trainers import open_instruct

FILE = "grpo_rollouts_000000.jsonl"
ROW: dict[str, Any] = {
    "step": 1,
    "sample_idx": 0,
    "prompt_idx": 5,
    "prompt_tokens": [1, 2],
    "response_tokens": [3, 4],
    "reward": 1.0,
    "logprobs": [-1.0, 0.0],
}


def mapped(record: dict[str, Any]) -> dict[str, Any]:
    """The rollout of a record, under our names."""
    (rollout,) = open_instruct.rollouts(record, Place(FILE, 1))
    return dict(rollout)


def test_a_row() -> None:
    """Ids stay integers under a name that says what they are; the logprobs are the inference engine's."""
    rollout = mapped(golden_records(open_instruct, FILE)[0])

    assert rollout == {
        "rollout_logprobs": [-0.2, -0.01],
        "step": 3,
        "sample_id": 0,
        "group_id": 0,
        "prompt_token_ids": [1, 17, 10, 17],
        "response_token_ids": [19, 2],
        "reward": 10.0,
        "advantage": 0.7,
        "finish_reason": "stop",
        "data_source": "gsm8k",
        "ground_truth": ["4"],
        "request_info": None,
    }


def test_what_the_board_reads_of_it() -> None:
    """A row has its numbers, ids and texts; its tokens are named by their ids until a tokenizer is given."""
    row = flat(golden(open_instruct, FILE)[0])

    assert row == {
        "step": 3,
        "sample_id": "0",
        "group_id": "0",
        "prompt_token_ids": "[1, 17, 10, 17]",
        "response_token_ids": [19, 2],
        "response_tokens": [" 19", " 2"],
        "rollout_logprobs": [pytest.approx(-0.2), pytest.approx(-0.01)],
        "reward": 10.0,
        "advantage": 0.7,
        "finish_reason": "stop",
        "data_source": "gsm8k",
        "ground_truth": '["4"]',
    }


def test_what_tools_wrote() -> None:
    """Where tools were called, the dummies on their tokens are no numbers; a mask nobody stored is not invented."""
    rollout = mapped(golden_records(open_instruct, FILE)[1])

    assert [one is None for one in rollout["rollout_logprobs"]] == [False, False, True, True, False, False]
    assert "loss_mask" not in rollout
    assert rollout["request_info"]["tool_outputs"] == "4 ✓"


def test_a_sure_token_keeps_its_number() -> None:
    """Without a tool a logprob of 0 is a probability of 1; ids beyond 16 bits are as they were."""
    rollout = mapped(golden_records(open_instruct, "grpo_rollouts_000001.jsonl")[0])

    assert rollout["rollout_logprobs"] == [0.0, -0.5]
    assert rollout["response_token_ids"] == [151643, 2]


def test_an_empty_response() -> None:
    """The token that was appended to it has no logprob, and stays without one."""
    rollout = mapped(golden_records(open_instruct, FILE)[2])

    assert np.isnan(rollout["rollout_logprobs"]).tolist() == [True]


CALLS: dict[str, tuple[Any, bool]] = {
    "nothing": (None, False),
    "an empty record": ({}, False),
    "no call": ({"num_calls": 0, "tool_outputs": "", "tool_calleds": False}, False),
    "a call": ({"num_calls": 1}, True),
    "calls in lists": ({"num_calls": [0, 2]}, True),
    "none in lists": ({"num_calls": [0], "tool_calleds": [False]}, False),
    "a flag alone": ({"tool_calleds": True}, True),
    "text": ("called", False),
}


@pytest.mark.parametrize(("info", "hidden"), CALLS.values(), ids=CALLS)
def test_whether_tools_were_called(info: Any, hidden: bool) -> None:
    """Only what the requests say counts."""
    rollout = mapped({**ROW, "request_info": info})

    assert rollout["rollout_logprobs"] == ([-1.0, None] if hidden else [-1.0, 0.0])
    assert ROW["logprobs"] == [-1.0, 0.0]


def test_no_logprobs() -> None:
    """None are made."""
    assert mapped({**ROW, "logprobs": None})["rollout_logprobs"] is None
    assert mapped({key: value for key, value in ROW.items() if key != "logprobs"})["rollout_logprobs"] is None


REFUSED: dict[str, tuple[dict[str, Any], str]] = {
    "no step": ({"step": None}, "has no `step`; its keys are: step, sample_idx"),
    "no tokens": ({"response_tokens": None}, "has no `response_tokens`; its keys are"),
    "tokens that are text": ({"response_tokens": "34"}, '`response_tokens` is "34", not a list'),
    "a prompt that is text": ({"prompt_tokens": "12"}, '`prompt_tokens` is "12", not a list'),
    "logprobs that are a number": ({"logprobs": -1.0}, "`logprobs` is -1.0, not a list"),
    "too few logprobs": ({"logprobs": [-1.0]}, "`logprobs` has 1 number against 2 in `response_tokens`"),
    "too many logprobs": ({"logprobs": [-1.0] * 3}, "`logprobs` has 3 numbers against 2 in `response_tokens`"),
}


@pytest.mark.parametrize(("fields", "reason"), REFUSED.values(), ids=REFUSED)
def test_damaged_rows_are_refused(fields: dict[str, Any], reason: str) -> None:
    """The reason names open-instruct's key."""
    with pytest.raises(RowRefused) as refusal:
        formats.read(ROW | fields, open_instruct, Place(FILE, 1))

    assert str(refusal.value).startswith(reason)


def test_recognition() -> None:
    """By its numbers of samples and prompts, and then not as a row of ours."""
    head = golden_head(open_instruct, FILE)

    assert formats.recognise(head) is open_instruct
    assert not native.recognise(head)
    assert not open_instruct.recognise(Head(FILE, ({"step": 1, "response_tokens": [1], "logprobs": [-1.0]},)))


def test_note() -> None:
    """What is left out is said where tools were called."""
    assert "logprobs of exactly 0" in open_instruct.note(golden_head(open_instruct, FILE))
    assert open_instruct.note(golden_head(open_instruct, "grpo_rollouts_000001.jsonl")) == ""
