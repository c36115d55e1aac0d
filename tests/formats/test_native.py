"""board.formats.native: which records are the board's own rows, and that they are passed on as they are."""

from typing import Any

import pytest
from golden_runs import flat, read_one

from board.errors import RowRefused
from board.formats import native, row_reader
from board.formats.contract import Head, Place

RECOGNISED: dict[str, tuple[dict[str, Any], bool]] = {
    "response": ({"step": 0, "response": "x"}, True),
    "tokens": ({"step": 0, "response_tokens": []}, True),
    "no step": ({"response": "x"}, False),
    "step alone": ({"step": 0}, False),
    "another dialect": ({"global_step": 0, "output": "x"}, False),
    "counts of the prompt's tokens": ({"step": 0, "response": "x", "prompt_tokens": 12}, True),
    "a mask by ROLL's name": ({"step": 0, "response": "x", "new_response_mask": [1]}, True),
    "ROLL's": ({"step": 0, "response": "x", "response_tokens": ["x"], "new_response_mask": [1]}, False),
    "open-instruct's": ({"step": 0, "prompt_idx": 0, "sample_idx": 0, "prompt_tokens": [1], "response_tokens": [2]}, False),
}


@pytest.mark.parametrize(("record", "expected"), RECOGNISED.values(), ids=RECOGNISED)
def test_own_records_are_recognised(record: dict[str, Any], expected: bool) -> None:
    """A step and a response under our names."""
    assert native.recognise(Head("a.jsonl", (record,))) is expected


def test_own_records_are_passed_on() -> None:
    """A record of ours is one rollout, under the names it has, and there is nothing to say of its numbers."""
    record = {"step": 0, "response": "x", "whatever": 1}
    assert native.rollouts(record, Place("a.jsonl", 1)) == [record]
    assert native.note(Head("a.jsonl", (record,))) == ""


REMARKS: dict[str, tuple[str, str]] = {
    "before, wide brackets": ("（Optional）ref_reward", "ref_reward"),
    "before, with a blank": ("(optional) ref_response", "ref_response"),
    "after": ("values [per token]", "values"),
}


@pytest.mark.parametrize(("key", "name"), REMARKS.values(), ids=REMARKS)
def test_a_remark_in_a_key_is_told(key: str, name: str) -> None:
    """A name of ours with a remark in brackets is told with the name that it should be; the right name beside it, or another name, is not."""
    record = {"step": 0, "response": "x", key: 1}

    assert f"`{key}` should be `{name}`" in native.note(Head("a.jsonl", (record,)))
    assert native.note(Head("a.jsonl", (record | {name: 1},))) == ""
    assert native.note(Head("a.jsonl", ({"step": 0, "response": "x", "(optional) mood": 1},))) == ""


def test_a_remark_in_a_needed_key_is_told() -> None:
    """A row whose response has a remark in its name is refused with the name that it should be."""
    with pytest.raises(RowRefused, match=r"（required）response → response"):
        row_reader.read({"step": 0, "（required）response": "x"})


ASKED = [{"role": "user", "content": "2+2?"}]
MADE: dict[str, tuple[dict[str, Any], dict[str, Any]]] = {
    "a prompt in messages": ({"messages": ASKED}, {"prompt": "user:\n2+2?"}),
    "the answer in them, too": ({"messages": [*ASKED, {"role": "assistant", "content": "4"}]}, {"prompt": "user:\n2+2?"}),
    "a prompt beside them": ({"messages": ASKED, "prompt": "p"}, {"prompt": "p"}),
    "a thought": ({"reasoning_content": "so"}, {"response": "<think>\nso\n</think>\n4"}),
    "a thought that is in the response": ({"thinking": "4"}, {"response": "4"}),
    "somebody's reasoning": ({"reasoning": "right"}, {"response": "4"}),
    "a reward at each token": (
        {"response_tokens": ["4", "."], "reward": [0.0, 1.5]},
        {"reward": 1.5, "token_rewards": [0.0, 1.5]},
    ),
    "other rewards of the tokens": (
        {"response_tokens": ["4", "."], "reward": [0.0, 1.5], "token_rewards": [0.5, 0.5]},
        {"reward": 1.5, "token_rewards": [0.5, 0.5]},
    ),
    "a prompt of texts": ({"prompt": ["a", "b"]}, {"prompt": "a\n\nb"}),
}


@pytest.mark.parametrize(("fields", "expected"), MADE.values(), ids=MADE)
def test_what_is_made_of_a_row(fields: dict[str, Any], expected: dict[str, Any]) -> None:
    """A list of rewards is of the tokens where it is as long; messages are the prompt where nothing else is one; a thought is said first."""
    row = flat(read_one(native, {"step": 0, "response": "4", **fields}))

    assert {name: row.get(name) for name in expected} == expected
