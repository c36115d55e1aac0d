"""board.metrics.advantage_rules: each rule against its definition, group by group, and which one logged advantages are found to follow."""

import math
from collections.abc import Callable, Sequence
from statistics import mean, pstdev, stdev

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from board.metrics.advantage_rules import EPSILON, RULES, GroupedRewards, fits

NAN = math.nan
Groups = list[list[float]]

BY_HAND: dict[str, Callable[[float, Sequence[float], Sequence[float]], float]] = {
    "GRPO, std of n": lambda r, group, step: (r - mean(group)) / (pstdev(group) + EPSILON),
    "GRPO, std of n − 1": lambda r, group, step: (r - mean(group)) / (stdev(group) + EPSILON) if len(group) > 1 else NAN,
    "Dr. GRPO": lambda r, group, step: r - mean(group),
    "RLOO": lambda r, group, step: r - (sum(group) - r) / (len(group) - 1) if len(group) > 1 else NAN,
    "batch": lambda r, group, step: (r - mean(step)) / (stdev(step) + EPSILON) if len(step) > 1 else NAN,
    "group mean, batch std": lambda r, group, step: (r - mean(group)) / (stdev(step) + EPSILON) if len(step) > 1 else NAN,
}
"""Of one reward, those of its group and those of its step; RLOO as the reward less the mean of the others."""


def batch(steps: list[Groups]) -> GroupedRewards:
    """Steps of groups of rewards."""
    groups = [group for step in steps for group in step]
    return GroupedRewards(
        np.array([r for group in groups for r in group]),
        np.cumsum([0, *map(len, groups)]),
        np.cumsum([0, *(sum(map(len, step)) for step in steps)]),
    )


def by_hand(name: str, steps: list[Groups]) -> list[float]:
    """The rule of that name, one reward after the other."""
    rule = BY_HAND[name]
    found = []
    for step in steps:
        every = [r for group in step for r in group if math.isfinite(r)]
        for group in step:
            known = [r for r in group if math.isfinite(r)]
            found += [rule(r, known, every) if math.isfinite(r) else NAN for r in group]
    return found


REWARD = st.one_of(st.just(NAN), st.sampled_from([-1.0, 0.0, 0.5, 1.0, 3.0]))
STEPS = st.lists(st.lists(st.lists(REWARD, min_size=1, max_size=5), min_size=1, max_size=4), min_size=1, max_size=3)


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.name)
@given(steps=STEPS)
def test_rules_are_their_definitions(rule: object, steps: list[Groups]) -> None:
    """Over groups of any size, with rewards that are equal or missing."""
    (one,) = (known for known in RULES if known is rule)
    assert one.compute(batch(steps)).tolist() == pytest.approx(by_hand(one.name, steps), nan_ok=True, rel=1e-6, abs=1e-6)


DRAWN = np.random.default_rng(3).normal(size=(4, 6, 8)).tolist()
"""Four steps of six groups of eight."""


@pytest.mark.parametrize("name", BY_HAND)
def test_logged_advantages_are_told_by_their_rule(name: str) -> None:
    """Advantages of one rule, as bfloat16 would hold them and some missing, fit that rule best, all of them, and no other."""
    exact = np.array(by_hand(name, DRAWN))
    logged = exact * (1 + 0.002 * np.sign(np.sin(np.arange(exact.size))))
    logged[::17] = NAN

    first, second, *_ = fits(batch(DRAWN), logged)

    assert first.rule.name == name
    assert first.fitting == first.rows == np.isfinite(logged).sum()
    assert first.r_squared > 0.9999
    assert second.fitting < second.rows


def test_rows_that_do_not_fit_are_named() -> None:
    """One advantage that is off is the largest error, and the one row that does not fit."""
    logged = np.array(by_hand("RLOO", DRAWN))
    logged[5] += 2
    best = fits(batch(DRAWN), logged)[0]
    assert np.flatnonzero(~best.fits).tolist() == [5]
    assert best.largest_error == pytest.approx(2, abs=1e-6)


def test_nothing_to_compare() -> None:
    """Without a logged advantage no rule fits, and nothing is claimed."""
    best = fits(batch([[[0.0, 1.0]]]), np.array([NAN, NAN]))[0]
    assert (best.rows, best.fitting) == (0, 0)
    assert math.isnan(best.largest_error)
    assert math.isnan(best.r_squared)
