"""Tests of turns of what is rare: a few marked rollouts are noise, whatever the standard errors of steps without any."""

import numpy as np
import pytest

from board.findings.change_points import CLEAR, Series, clusters, noise, series, turn
from board.metrics.step_sums import Steps

PER_STEP = 32


def shares(chances: list[float], seed: int) -> tuple[Steps, np.ndarray]:
    """PER_STEP rollouts a step, each marked by the chance of its step."""
    dice = np.random.default_rng(seed)
    steps = np.repeat(np.arange(len(chances)), PER_STEP)
    return Steps(steps), (dice.random(len(steps)) < np.repeat(chances, PER_STEP)).astype(np.float64)


@pytest.mark.parametrize("seed", range(12))
@pytest.mark.parametrize("chance", [0.002, 0.01, 0.3])
def test_what_is_rare_is_no_turn(seed: int, chance: float) -> None:
    """A few marked rollouts here and there are their own noise, though most steps have none and a standard error of 0."""
    steps, marks = shares([chance] * 40, seed)

    found = turn(series(steps, marks, clusters(steps, np.arange(len(marks)))))

    assert found is None or found.z < CLEAR


@pytest.mark.parametrize("seed", range(6))
def test_what_was_rare_and_spreads_is_found_where_it_begins(seed: int) -> None:
    """A share of 1 % that becomes 20 % turns at its step."""
    steps, marks = shares([0.01] * 25 + [0.2] * 15, seed)

    found = turn(series(steps, marks, clusters(steps, np.arange(len(marks)))))

    assert found is not None
    assert found.z > CLEAR
    assert abs(found.step - 25) <= 1


def test_noise_is_no_less_than_the_errors_say() -> None:
    """The root mean square of the errors that are known, the differences' deviation where that is more."""
    values = np.array([0.0, 0.0, 0.1, 0.0, 0.0])

    assert noise(values, np.array([0.0, np.nan, 0.2, 0.0, 0.0])) == pytest.approx(0.1)
    assert noise(np.tile([0.0, 1.0], 30)[1:], np.zeros(59)) == pytest.approx(1.4826 / np.sqrt(2))


def test_curve_that_never_changes_does_not_turn() -> None:
    """There is nothing to tell, and no number is divided by zero."""
    assert turn(Series(np.arange(10), np.full(10, 3.0), np.zeros(10), np.ones(10))) is None
