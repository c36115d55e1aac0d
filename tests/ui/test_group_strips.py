"""What travels to the browser for strips of groups: places on a common axis, never more dots than there is room for."""

import math

import numpy as np
import pytest

from board.ui.components.group_strips import MOST_DOTS, Strip, build

HOLLOW = 3.0
"""The reward of a member that is in no number of its group."""


def strip(rewards: list[float], sizes: list[float] | None = None, mean: float = math.nan) -> Strip:
    """A strip of these rewards."""
    lengths, hollow = np.array(sizes or [math.nan] * len(rewards)), np.array([reward == HOLLOW for reward in rewards], bool)
    return Strip("1", np.array(rewards), lengths, hollow, mean, "told", grey=False)


def test_dots_lie_on_one_axis_of_rewards() -> None:
    """All strips share the axis from least to largest; a member without a reward has no dot, one without a length a middling one."""
    data = build([strip([0.0, math.nan, 4.0], [10, 10, 40], mean=2.0), strip([1.0])], threshold=1.0)

    assert data["dots"]["x"].to_pylist() == [0.0, 1.0, 0.25]
    assert data["dots"]["size"].to_pylist() == [0.25, 1.0, 0.5]
    assert data["counts"]["count"].to_pylist() == [2, 1]
    meta = data["meta"]
    assert (meta["low"], meta["high"], meta["threshold"]) == ("0", "4", 0.25)
    assert [row["mean"] for row in meta["rows"]] == [0.5, None]


def test_what_is_in_no_number_is_hollow() -> None:
    """Such a member has its place on the axis, which may begin or end with it, and a mark."""
    data = build([strip([0.0, math.nan, HOLLOW, 1.0]), strip([HOLLOW, 2.0])], threshold=1.0)

    assert data["dots"]["x"].to_pylist() == pytest.approx([0.0, 1 / 3, 1.0, 2 / 3, 1.0])
    assert data["dots"]["hollow"].to_pylist() == [0, 0, 1, 0, 1]


def test_large_groups_keep_their_ends() -> None:
    """Of more members than there is room for evenly many are drawn by reward, with the best and the worst, and the strip says so."""
    many = strip(np.random.default_rng(0).permutation(1_000).astype(float).tolist())
    data = build([many] * 50, threshold=math.nan)

    drawn = data["counts"]["count"].to_pylist()
    assert sum(drawn) <= MOST_DOTS
    first = data["dots"]["x"].to_numpy()[: drawn[0]]
    assert (first.min(), first.max()) == (0.0, 1.0)
    assert data["meta"]["rows"][0]["text"] == f"told · {drawn[0]} of 1,000 drawn"
    assert data["meta"]["threshold"] is None


@pytest.mark.parametrize("rewards", [[], [math.nan], [2.0, 2.0], [-1.7e308, 1.7e308]])
def test_odd_rewards_make_strips(rewards: list[float]) -> None:
    """No reward, one reward and rewards as far apart as floats go have places between 0 and 1."""
    data = build([strip(rewards)] if rewards else [], threshold=0.0)
    places = data["dots"]["x"].to_numpy()
    assert ((places >= 0) & (places <= 1)).all()
