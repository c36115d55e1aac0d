"""Tests of ROLL's logging-board files."""

from typing import Any

import numpy as np
import pytest
from golden_runs import flat, golden, golden_head, read_one
from hypothesis import given
from hypothesis import strategies as st

from board import formats
from board.errors import RowRefused
from board.formats import native
from board.formats.contract import Head
from board.formats.trainers import roll_board

FILE = "data_20260105_120000_123.jsonl"
ROW: dict[str, Any] = {
    "step": 1,
    "prompt": "p",
    "response": "ab",
    "response_tokens": ["a", "b", "<|pad|>"],
    "new_response_mask": [1, 1, 0],
    "logprobs": [-1.0, -2.0, 0.0],
    "token_rewards": [0.0, 0.0, 0.0, 0.5, 0.0],
    "values": [0.0, 0.0, 0.0, 0.5, 0.0],
    "reward": 0.5,
}


def test_a_row() -> None:
    """Arrays of three lengths end with the response, the token rewards aligned at its end; their copy is no critic's."""
    assert flat(golden(roll_board, FILE)[0]) == {
        "step": 4,
        "prompt": "2+2?",
        "response": "4<|im_end|>",
        "reward": 0.7,
        "response_tokens": ["4", "<|im_end|>"],
        "logprobs": [pytest.approx(-0.21), pytest.approx(-0.1)],
        "log_probs2": [pytest.approx(-0.2), pytest.approx(-0.1)],
        "ref_logprobs": [pytest.approx(-0.3), None],
        "entropies": [0.5, pytest.approx(0.2)],
        "token_rewards": [0.25, pytest.approx(0.7)],
        "loss_mask": [1, 1],
    }


def test_a_row_without_a_response() -> None:
    """It has no tokens and no arrays, and its reward is as it was written."""
    row = golden(roll_board, FILE)[2]

    assert (row.tokens, row.arrays, flat(row)["reward"]) == ([], {}, None)
    assert sorted(row.texts) == ["prompt", "response"]


def test_arrays_come_as_numbers() -> None:
    """What is declared as arrays is read without a Python object per number, and comes out the same."""
    (row,) = golden(roll_board, "data_20260105_120130_007.jsonl")

    assert row.arrays["token_rewards"].dtype == np.float32
    assert {name: array.tolist() for name, array in row.arrays.items() if name != "logprobs"} == {
        "ref_logprobs": [-0.25],
        "token_rewards": [1.0],
        "loss_mask": [1.0],
    }


READ: dict[str, tuple[dict[str, Any], dict[str, Any]]] = {
    "no second forward pass": ({"log_probs2": None}, {"log_probs2": None, "logprobs": [-1.0, -2.0]}),
    "a gap in the mask": (
        {"new_response_mask": [1, 0, 1], "response_tokens": ["a", "b", "c"]},
        {"logprobs": [-1.0, None, 0.0], "token_rewards": [0.0, None, 0.0]},
    ),
    "fewer tokens than the mask": ({"response_tokens": ["a"]}, {"response_tokens": ["a"], "logprobs": [-1.0, -2.0]}),
    "no tokens": ({"response_tokens": None}, {"response": "ab", "logprobs": [-1.0, -2.0]}),
    "a null in an array": ({"logprobs": [None, -2.0, 0.0]}, {"logprobs": [None, -2.0]}),
    "an array of its own": ({"extra": [1.5, 2.5]}, {"extra": [1.5, 2.5]}),
    "a name of ours": ({"loss_mask": 3, "entropies": "x"}, {"loss_mask (logged)": 3.0, "entropies (logged)": "x"}),
}


@pytest.mark.parametrize(("fields", "expected"), READ.values(), ids=READ)
def test_what_a_field_becomes(fields: dict[str, Any], expected: dict[str, Any]) -> None:
    """Whatever is there comes out in its place, and what is masked has no number."""
    row = flat(read_one(roll_board, ROW | fields))

    assert {key: row.get(key) for key in expected} == expected


REFUSED: dict[str, tuple[dict[str, Any], str]] = {
    "no mask": ({"new_response_mask": None}, "has no `new_response_mask`; its keys are: step"),
    "no step": ({"step": None}, "has no `step`; its keys are: step"),
    "a mask of text": ({"new_response_mask": "110"}, '`new_response_mask` is "110", not a list'),
    "too few logprobs": ({"logprobs": [-1.0]}, "`logprobs` has 1 number against 3 in `new_response_mask`"),
    "too many logprobs": ({"logprobs": [-1.0] * 4}, "`logprobs` has 4 numbers against 3 in `new_response_mask`"),
    "too few rewards": ({"token_rewards": [0.5]}, "`token_rewards` has 1 number against 3 in `new_response_mask`"),
    "logprobs that are a number": ({"logprobs": -1.0}, "`logprobs` is -1.0, not a list"),
}


@pytest.mark.parametrize(("fields", "reason"), REFUSED.values(), ids=REFUSED)
def test_damaged_rows_are_refused(fields: dict[str, Any], reason: str) -> None:
    """The reason names ROLL's key."""
    with pytest.raises(RowRefused) as refusal:
        read_one(roll_board, ROW | fields)

    assert str(refusal.value).startswith(reason)


@given(st.integers(0, 5), st.integers(0, 5), st.integers(0, 5))
def test_token_rewards_stand_at_their_tokens(prompt: int, response: int, padding: int) -> None:
    """Whatever the prompt's length and the padding's, the reward of a token is that token's."""
    rewards = [float(at) for at in range(prompt + response + padding)]
    bits = [1] * response + [0] * padding

    row = read_one(roll_board, {"step": 0, "response": "x", "new_response_mask": bits, "token_rewards": rewards})

    found = row.arrays["token_rewards"].tolist() if response else []
    assert found == rewards[prompt : prompt + response]


def test_recognition() -> None:
    """By ROLL's mask, and then not as a row of ours."""
    head = golden_head(roll_board, FILE)

    assert formats.recognise(head) is roll_board
    assert not native.recognise(head)
    assert not roll_board.recognise(Head(FILE, ({"step": 1, "response": "a", "response_tokens": ["a"]},)))


def test_note() -> None:
    """The reader is told which reward it is."""
    assert "after normalisation" in roll_board.note(golden_head(roll_board, FILE))
