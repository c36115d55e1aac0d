"""Factors and shifts between two samples: known ones come out, and what is no rescaling is none."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from board.findings.rescaling import distance, rescaling

DICE = np.random.default_rng(0)


@pytest.mark.parametrize(("factor", "shift"), [(2.0, 0.0), (-1.0, 0.0), (1.0, 2.0), (1.0, -0.5), (3.0, 1.5)])
def test_values_tell_the_factor_and_the_shift(factor: float, shift: float) -> None:
    """Zeros and ones, as many before as after."""
    before, after = (DICE.random((2, 60)) < 0.5).astype(float)
    found = rescaling(before, factor * after + shift, 1.5, 1.0)
    assert found is not None
    np.testing.assert_allclose(factor * after + shift, found.factor * found.undone(factor * after + shift) + found.shift)
    assert set(np.round(found.undone(factor * after + shift), 6)) == {0.0, 1.0}


@pytest.mark.parametrize(
    "after",
    [
        DICE.normal(0, 1, 60),
        np.where(DICE.random(60) < 0.5, 2.5, 0) + DICE.normal(0, 1, 60),
        np.linspace(3, 9, 60),
        DICE.normal(0, 3, 10),
    ],
    ids=["the same", "a bonus for half", "a line", "too few"],
)
def test_what_is_no_rescaling_is_none(after: np.ndarray) -> None:
    """A normal sample before."""
    assert rescaling(np.random.default_rng(1).normal(0, 1, 60), after, 1.5, 1.0) is None


@given(st.lists(st.floats(-5, 5), min_size=1, max_size=12), st.lists(st.floats(-5, 5), min_size=1, max_size=12))
def test_the_distance_is_that_of_the_distribution_functions(one: list[float], other: list[float]) -> None:
    """Shares up to every number of either sample, counted."""
    slow = max(abs(sum(x <= at for x in one) / len(one) - sum(x <= at for x in other) / len(other)) for at in one + other)
    assert distance(np.array(one), np.array(other)) == pytest.approx(slow)
