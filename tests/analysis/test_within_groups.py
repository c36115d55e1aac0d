"""What earns more than its own group: sides and worths against loops over groups, and what must cancel."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from board.analysis.stats.within_groups import Worths, discordant, sides, stretches

MEMBERS = st.lists(st.tuples(st.integers(-1, 4), st.sampled_from([0.0, 1.0, 0.5, np.nan, np.inf]), st.booleans()), max_size=30)


def split(members: list[tuple[int, float, bool]]) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Groups, rewards, and whether each has the thing."""
    return (
        np.array([one[0] for one in members], np.int64),
        np.array([one[1] for one in members], float),
        np.array([one[2] for one in members], bool),
    )


@given(MEMBERS)
def test_discordance_by_a_loop(members: list[tuple[int, float, bool]]) -> None:
    """Group by group: the shares of those above and of those below that have it, weighed as the smaller side is large."""
    groups, rewards, has = split(sorted(members, key=lambda one: one[0]))
    high, low, both = 0.0, 0.0, 0
    for group in range(5):
        own = [at for at in range(len(groups)) if groups[at] == group and np.isfinite(rewards[at])]
        mean = sum(rewards[at] for at in own) / max(1, len(own))
        above = [has[at] for at in own if rewards[at] > mean + 1e-9]
        below = [has[at] for at in own if rewards[at] < mean - 1e-9]
        if above and below:
            p, q, both = np.mean(above), np.mean(below), both + 1
            high += min(len(above), len(below)) * p * (1 - q)
            low += min(len(above), len(below)) * q * (1 - p)

    found = sides(groups, rewards)
    rows = np.flatnonzero(has)

    assert found.groups == pytest.approx(both)
    things = np.ones(len(rows), np.int64)
    told = discordant(found, stretches(groups, things, rows), things, rows, 3)
    np.testing.assert_allclose(told, [[0, high, 0], [0, low, 0]], atol=1e-9)


def test_topics_cancel() -> None:
    """What every response to an easy prompt holds is on both sides, however unlike they are in number."""
    groups = np.repeat([0, 1], 8)
    rewards = np.array([1] * 7 + [0] + [1] + [0] * 7, float)
    rows = np.flatnonzero(groups == 0)
    high, low = discordant(sides(groups, rewards), np.array([0]), np.zeros(8, np.int64), rows, 1)
    assert (high[0], low[0]) == pytest.approx((0, 0))


@given(MEMBERS)
def test_worth_by_a_loop(members: list[tuple[int, float, bool]]) -> None:
    """The mean difference in groups that have both, which weigh n₁n₀ / (n₁ + n₀)."""
    groups, rewards, has = split(members)
    differences, weights = [], []
    for group in range(5):
        own = (groups == group) & np.isfinite(rewards)
        with_it, without = rewards[own & has], rewards[own & ~has]
        if len(with_it) and len(without):
            differences.append(with_it.mean() - without.mean())
            weights.append(len(with_it) * len(without) / (len(with_it) + len(without)))

    found = Worths(groups, rewards).of(np.flatnonzero(has))

    assert found.groups == len(weights)
    if weights:
        assert found.gain == pytest.approx(np.average(differences, weights=weights))
    else:
        assert np.isnan(found.gain)
        assert not found.sure


def test_closed_form() -> None:
    """Two groups of two in which it is worth 1 and 3: 2 more, with a standard error of 1."""
    found = Worths(np.array([0, 0, 1, 1]), np.array([1.0, 0.0, 5.0, 2.0])).of(np.array([0, 2]))
    assert (found.with_it, found.without, found.error) == pytest.approx((3, 1, 1))
    assert not found.sure
