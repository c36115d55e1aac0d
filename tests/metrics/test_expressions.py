"""board.metrics.expressions: the functions that metrics are declared with, at their edges."""

import math

import numpy as np
import pytest

from board.metrics.declared.computation import Applied
from board.metrics.expressions import FUNCTIONS, evaluated

NAN, INF = math.nan, math.inf

CASES: dict[str, tuple[str, list[float], float]] = {
    "the opposite": ("negative", [2.0], -2.0),
    "without its sign": ("size", [-2.0], 2.0),
    "e to a number": ("exp", [0.0], 1.0),
    "e to a number too large": ("exp", [1e4], INF),
    "e to the opposite": ("exp_of_negative", [math.log(2)], 0.5),
    "one less": ("less_one", [3.0], 2.0),
    "together": ("sum", [1.0, 2.0], 3.0),
    "apart": ("difference", [1.0, 2.0], -1.0),
    "above 0": ("is_above_0", [0.5], 1.0),
    "0 is not above 0": ("is_above_0", [0.0], 0.0),
    "below 0": ("is_below_0", [-0.5], 1.0),
    "0 is not below 0": ("is_below_0", [0.0], 0.0),
    "is 0": ("is_0", [0.0], 1.0),
    "is not 0": ("is_0", [3.0], 0.0),
    "a quarter left unexplained": ("explained_share", [1.0, 4.0], 0.75),
    "nothing to explain": ("explained_share", [0.0, 0.0], NAN),
    "equal weights": ("effective_share", [1.0, 1.0], 1.0),
    "one of four weights": ("effective_share", [1.0, 4.0], 0.25),
    "the same twice": ("correlation", [1.0, 1.0, 4.0], 1.0),
    "rounding beyond 1": ("correlation", [1.0, 1.0, 4.0 + 1e-9], 1.0),
    "nothing in common": ("covariance", [6.0, 2.0, 3.0], 0.0),
    "large together": ("covariance", [7.5, 2.0, 3.0], 1.5),
    "a mean of which half is padding": ("padded_mean", [3.0, 4.0, 4.0, 2.0], 1.5),
    "0, 0, 3 and 3 around 1.5": ("padded_std", [3.0, 9.0, 2.0, 2.0, 2.0], 1.5),
    "one that does not vary": ("correlation", [0.0, 1.0, 1.0], NAN),
}


@pytest.mark.parametrize(("name", "given", "expected"), CASES.values(), ids=CASES)
def test_function_of_known_numbers(name: str, given: list[float], expected: float) -> None:
    """Each gives what its name says, an infinity for what overflows and NaN for what is not defined, and warns of nothing."""
    numbers = {str(at): np.array([value]) for at, value in enumerate(given)}

    assert evaluated(Applied(name, tuple(numbers)), numbers.__getitem__).tolist() == pytest.approx([expected], nan_ok=True)


def test_every_function_is_tested() -> None:
    """A new function must be written down here too."""
    assert {name for name, _, _ in CASES.values()} == set(FUNCTIONS)


@pytest.mark.parametrize("name", FUNCTIONS)
def test_a_missing_number_stays_missing(name: str) -> None:
    """A function of what is not known is not known."""
    given = next(given for function, given, _ in CASES.values() if function == name)

    missing = {str(at): np.array([NAN]) for at in range(len(given))}

    assert np.isnan(evaluated(Applied(name, tuple(missing)), missing.__getitem__)).all()


def test_a_number_itself_is_looked_up() -> None:
    """What is no function is what it is."""
    assert evaluated("reward", {"reward": np.array([2.0])}.__getitem__).tolist() == [2.0]
