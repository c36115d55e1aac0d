"""Tests of Atropos' saved groups."""

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from board import formats
from board.errors import RowRefused
from board.formats.contract import Head, Place
from board.formats.trainers import atropos

U = -100
CHAT = [{"role": "user", "content": "2+2?"}, {"role": "assistant", "content": "4"}]
TOOLS = [
    {"role": "user", "content": "2+2?"},
    {"role": "assistant", "content": "", "tool_calls": [{"function": {"name": "add", "arguments": '{"a": 2}'}}]},
    {"role": "tool", "content": "4"},
    {"role": "assistant", "content": "4"},
]
GROUP: dict[str, Any] = {
    "tokens": [[1, 17, 30, 40, 19, 2], [1, 17, 20]],
    "masks": [[U, U, 30, U, 19, 2], [U, U, 20]],
    "scores": [1.0, -1.0],
    "advantages": [[0.0, 0.0, 0.7, 0.7, 0.7, 0.7], [0.0, 0.0, -0.7]],
    "ref_logprobs": [[0.0, 0.0, -0.3, 0.0, -0.2, -0.1], [0.0, 0.0, -1.0]],
    "inference_logprobs": [[1.0, 1.0, -0.31, 1.0, -0.21, math.nan], [1.0, 1.0, -1.1]],
    "messages": [TOOLS, CHAT],
    "generation_params": {"temperature": 0.8},
    "overrides": [{"set_advantage_to_zero": True}, None],
    "group_overrides": None,
}
PLACE = Place("data/gsm8k.jsonl", 3)


def mapped(**fields: Any) -> list[dict[str, Any]]:
    """The rollouts of a group with these fields."""
    return atropos.rollouts({**GROUP, **fields}, PLACE)


def test_a_line_is_a_group() -> None:
    """Each sample becomes a rollout; the line is their group, told apart from the same line of another file."""
    first, second = formats.read(GROUP, atropos, PLACE)

    assert (first.step, second.step) == (0, 0)
    assert [row.numbers["reward"] for row in (first, second)] == [1.0, -1.0]
    assert [row.ids for row in (first, second)] == [{"group_id": "data/gsm8k.jsonl:3", "sample_id": at} for at in "01"]
    assert first.texts["prompt"] == "user:\n2+2?"
    assert first.texts["response"] == 'assistant:\n→ add({"a": 2})\n\ntool:\n4\n\nassistant:\n4'
    assert second.texts["response"] == "4"
    assert first.numbers["generation_params.temperature"] == 0.8
    assert first.numbers["overrides.set_advantage_to_zero"] == 1
    assert "overrides" not in second.texts


def test_any_list_of_an_item_per_sample_is_split() -> None:
    """What an environment adds is each sample's own, cut to the response where it has a number per token; other lists stay the group's."""
    added = {"parsed_actions": ["L", None], "token_weights": [[0.5] * 6, [0.25] * 3], "tags": ["a", "b", "c"]}

    first, second = formats.read({**GROUP, **added}, atropos, PLACE)

    assert (first.texts["parsed_actions"], "parsed_actions" in second.texts) == ("L", False)
    assert first.texts["tags"] == second.texts["tags"] == '["a", "b", "c"]'
    assert [one["token_weights"] for one in atropos.rollouts({**GROUP, **added}, PLACE)] == [[0.5] * 4, [0.25]]


def test_arrays_begin_with_the_response() -> None:
    """What stands before the first trained token is prompt; a tool's answer lies within and has no logprob, for its 1.0 is a dummy."""
    first, second = formats.read(GROUP, atropos, PLACE)

    np.testing.assert_allclose(first.arrays["rollout_logprobs"], [-0.31, math.nan, -0.21, math.nan], rtol=1e-6)
    np.testing.assert_allclose(first.arrays["ref_logprobs"], [-0.3, math.nan, -0.2, -0.1], rtol=1e-6)
    np.testing.assert_allclose(first.arrays["advantages"], [0.7] * 4, rtol=1e-6)
    np.testing.assert_array_equal(first.arrays["loss_mask"], [1, 0, 1, 1])
    np.testing.assert_array_equal(second.arrays["loss_mask"], [1])
    ids = [(one["prompt_token_ids"], one["response_token_ids"]) for one in mapped()]
    assert ids == [([1, 17], [30, 40, 19, 2]), ([1, 17], [20])]


def test_what_was_not_saved_is_not_there() -> None:
    """Null columns leave no trace: no text, no logprob, no advantage is made up."""
    nothing = dict.fromkeys(("advantages", "ref_logprobs", "inference_logprobs", "messages", "overrides"))

    for one in mapped(**nothing):
        assert not {"prompt", "response", "advantages", "advantage", "ref_logprobs", "rollout_logprobs", "overrides"} & one.keys()


def test_one_advantage_for_a_sample() -> None:
    """A number instead of a list is the advantage of the whole response."""
    assert [one["advantage"] for one in mapped(advantages=[0.5, -0.5])] == [0.5, -0.5]


def test_nothing_trained_is_all_prompt() -> None:
    """A sequence without a trained token has no response to begin anywhere."""
    first, _ = mapped(masks=[[U] * 6, [U, U, 20]])

    assert (first["prompt_token_ids"], first["response_token_ids"]) == (GROUP["tokens"][0], [])


@given(st.lists(st.lists(st.booleans(), min_size=1, max_size=12), min_size=1, max_size=4))
def test_no_token_is_lost_before_the_last_trained(trained: list[list[bool]]) -> None:
    """Prompt and response together are the sequence up to its last trained token, and every trained token keeps its own number."""
    tokens = [list(range(10, 10 + len(mask))) for mask in trained]
    masks = [
        [token if kept else U for token, kept in zip(ids, mask, strict=True)] for ids, mask in zip(tokens, trained, strict=True)
    ]
    group = {"tokens": tokens, "masks": masks, "scores": [0.0] * len(tokens), "inference_logprobs": tokens}

    for one, ids, mask in zip(atropos.rollouts(group, PLACE), tokens, trained, strict=True):
        joined = one["prompt_token_ids"] + one["response_token_ids"]
        assert joined == ids[: len(joined)]
        assert not any(mask[len(joined) :])
        assert [value for value in one["rollout_logprobs"] if value is not None] == [
            i for i, k in zip(ids, mask, strict=True) if k
        ]


DAMAGED: dict[str, tuple[dict[str, Any], str]] = {
    "fewer scores than samples": ({"scores": [1.0]}, "`scores` has 1 item for 2 samples"),
    "scores that are no list": ({"scores": 1.0}, "`scores` is 1.0, not a list"),
    "tokens of one sample no list": ({"tokens": [[1], 2]}, "`tokens` holds 2 at position 1, not a list"),
    "tokens as text": ({"tokens": [["a"] * 6, [1, 2, 3]]}, '`tokens` holds "a" at position 0, not a whole number'),
    "a mask too short": ({"masks": [[U, 1], [U, U, 20]]}, "`masks` has 2 items for 6 tokens"),
    "logprobs too short": ({"ref_logprobs": [[0.0], [0.0, 0.0, -1.0]]}, "`ref_logprobs` has 1 item for 6 tokens"),
    "advantages too long": ({"advantages": [[0.0] * 7, [0.0] * 3]}, "`advantages` has 7 items for 6 tokens"),
    "no masks": ({"masks": None}, "has no `masks`"),
    "a chat that is none": ({"messages": [TOOLS, "4"]}, '`messages` is "4"'),
}


@pytest.mark.parametrize(("fields", "reason"), DAMAGED.values(), ids=DAMAGED)
def test_damaged_groups_are_refused_by_their_key(fields: dict[str, Any], reason: str) -> None:
    """Which number belongs to which token cannot be guessed: the group is refused and the key named."""
    with pytest.raises(RowRefused, match=reason):
        mapped(**fields)


def test_recognised_by_nested_lists() -> None:
    """Sequences with masks and scores, in a file of any name; flat lists under the same keys are someone else's."""
    assert atropos.recognise(Head("x.jsonl", (GROUP,)))
    assert not atropos.recognise(Head(PLACE.name, ({"tokens": [1, 2], "masks": [0, 1], "scores": [1.0]},)))
    assert not atropos.recognise(Head(PLACE.name, ({"tokens": [[1]], "scores": [1.0]},)))


def test_note_says_that_steps_are_missing() -> None:
    """All groups stand at one step, unless the file's name says which."""
    assert "step" in atropos.note(Head(PLACE.name, (GROUP,)))
    assert atropos.rollouts(GROUP, Place("step_4/gsm8k.jsonl", 1))[0]["step"] == 4
