"""board.formats.common_fields: step and split, rewards in parts, and what is left of a record."""

from typing import Any

import pytest

from board.formats.common_fields import given, hidden, other_fields, reward_note, rewarded, step_and_split

PLACES: dict[str, tuple[tuple[Any, ...], dict[str, Any]]] = {
    "the record says both": (("eval_3.pt", 7, "train"), {"step": 7, "split": "train"}),
    "the path says both": (("eval_3.pt",), {"step": 3, "split": "evaluation"}),
    "step 0 is one": (("3.pt", 0), {"step": 0}),
    "nobody says anything": (("x.pt",), {"step": 0}),
}


@pytest.mark.parametrize(("asked", "expected"), PLACES.values(), ids=PLACES)
def test_step_and_split(asked: tuple[Any, ...], expected: dict[str, Any]) -> None:
    """The record counts before the path."""
    assert step_and_split(*asked) == expected


REWARDS: dict[str, tuple[Any, dict[str, Any]]] = {
    "a number": (0.5, {"reward": 0.5}),
    "nothing": (None, {}),
    "a list of one number": ([1], {"reward": 1}),
    "a list of several": ([1, 2], {"reward.1": 1, "reward.2": 2}),
    "a list of texts": (["a"], {"reward": ["a"]}),
    "a list as long as tokens": ([0.5] * 17, {"reward": [0.5] * 17}),
    "score before reward": ({"reward": 1, "score": 2}, {"reward": 2, "reward.reward": 1, "reward.score": 2}),
    "a zero is a total": ({"score": 0, "reward": 1}, {"reward": 0, "reward.score": 0, "reward.reward": 1}),
    "a total": ({"format": 0.1, "total": 1.1}, {"reward": 1.1, "reward.format": 0.1, "reward.total": 1.1}),
    "one number": ({"acc": 1, "none": None, "why": "x"}, {"reward": 1, "reward.acc": 1, "reward.why": "x"}),
    "parts alone": ({"acc": 1, "format": 0}, {"reward.acc": 1, "reward.format": 0}),
}


@pytest.mark.parametrize(("reward", "expected"), REWARDS.values(), ids=REWARDS)
def test_rewards(reward: Any, expected: dict[str, Any]) -> None:
    """Each part keeps its name; one number is the total, and of several none is made where none is called so."""
    assert rewarded(reward) == expected
    assert bool(reward_note([None, reward])) == isinstance(reward, dict)


TOKENS: dict[str, tuple[Any, dict[str, Any]]] = {
    "one for each": ([0.0, None, 1.5], {"reward": 1.5, "token_rewards": [0.0, None, 1.5]}),
    "fewer": ([1.0, 2.0], {"reward.1": 1.0, "reward.2": 2.0}),
    "no numbers": (["a", "b", "c"], {"reward": ["a", "b", "c"]}),
    "one": (2.0, {"reward": 2.0}),
}


@pytest.mark.parametrize(("reward", "expected"), TOKENS.values(), ids=TOKENS)
def test_rewards_at_tokens(reward: Any, expected: dict[str, Any]) -> None:
    """A list as long as the tokens is theirs, and its sum the reward."""
    assert rewarded(reward, ["x", "y", "z"]) == expected


def test_gaps_and_what_is_there() -> None:
    """Masked tokens have a gap, no mask hides nothing, and only null is away."""
    assert hidden([1.0, 2.0], [1, 0]) == [1.0, None]
    assert hidden([1.0], None) == [1.0]
    assert hidden(None, [1]) is None
    assert hidden([1.0, 2.0, 3.0], ["x", [], {}]) == [1.0, None, None]
    assert given(a=0, b=None, c=[], d="") == {"a": 0, "c": [], "d": ""}


def test_other_fields() -> None:
    """What was not placed is kept, unless it is empty; a name that means something here is told apart."""
    record: dict[str, Any] = {
        "placed": 1,
        "kept": 0,
        "null": None,
        "none": [],
        "nothing": {},
        "reward": 1.0,
        "step": 3,
        "token_ids": [1],
    }

    assert other_fields(record, {"placed"}) == {"kept": 0, "reward (logged)": 1.0, "step (logged)": 3, "token_ids (logged)": [1]}
