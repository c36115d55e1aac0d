"""Where a curve turns: against a slow search, closed forms, and curves of pure noise."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from board.findings.change_points import CLEAR, CLEAR_AT_EDGE, LEAST_AFTER, LEAST_BEFORE, Series, Turn, noise, turn
from board.metrics.formulas import Float64Array

STEPS = np.arange(0, 200, 5)


def curve(values: Float64Array, errors: Float64Array | None = None) -> Series:
    """Of STEPS, or of as many steps as it has."""
    steps = STEPS[: len(values)] if len(values) <= len(STEPS) else np.arange(len(values))
    return Series(steps, values, np.full(len(values), np.nan) if errors is None else errors, np.ones(len(values)))


def found(values: Float64Array, errors: Float64Array | None = None, floor: float = 0.0) -> Turn:
    """The turn of a curve that has one."""
    one = turn(curve(values, errors), floor)
    assert one is not None
    return one


def left_by(values: Float64Array, at: int, *, jump: bool) -> float:
    """What is left of the squares when a model that turns at `at` is fitted by a solver of equations."""
    numbers = np.arange(len(values))
    since = (numbers >= at).astype(float) if jump else np.maximum(numbers - (at - 1), 0.0)
    design = np.stack([np.ones(len(values)), since], axis=1)
    return float(np.square(values - design @ np.linalg.lstsq(design, values, rcond=None)[0]).sum())


@settings(deadline=None, max_examples=60)
@given(arrays(np.float64, st.integers(5, 14), elements=st.floats(-100, 100).map(lambda one: round(one, 2))))
def test_no_other_step_fits_better(values: Float64Array) -> None:
    """Of both models at all steps the one is taken that leaves the least, and its z is the root of what it gains over a level."""
    one = turn(curve(values))
    places = range(LEAST_BEFORE, len(values) - LEAST_AFTER + 1)
    least = min(left_by(values, at, jump=jump) for at in places for jump in (True, False))
    if one is None:
        assert np.ptp(values) == 0
        return
    own = left_by(values, one.at, jump=one.is_jump)
    if one.at in places:
        assert own == pytest.approx(least, abs=1e-6)
    else:  # nearer to an end, where it must be very clear
        assert own < least
        assert one.is_jump
        assert one.z >= CLEAR_AT_EDGE
    gain = np.square(values - values.mean()).sum() - own
    assert one.z == pytest.approx(np.sqrt(max(0, gain)) / noise(values), rel=1e-4, abs=1e-2)


def test_a_jump_is_found_where_it_is() -> None:
    """A level that jumps is said to jump at the first step of the new level, by how much."""
    wave = 0.1 * np.tile([1.0, -1.0], 20)
    one = found(wave + np.where(STEPS >= 100, 3.0, 0.0))

    assert (one.is_jump, one.step, one.at) == (True, 100, 20)
    assert one.change == pytest.approx(3, abs=0.05)
    assert one.z > CLEAR


def test_a_bend_is_found_where_it_begins() -> None:
    """A level that begins to rise in a line is said to turn at the first step that is higher, up to where the line ends."""
    wave = 0.01 * np.tile([1.0, -1.0], 20)
    one = found(wave + np.maximum(STEPS - 95, 0) / 50)

    assert (one.is_jump, one.step) == (False, 100)
    assert one.after == pytest.approx(2, abs=0.05)


@pytest.mark.parametrize(("before", "after"), [(1, 39), (39, 1), (1, 1), (2, 1)])
def test_few_steps_are_enough_where_it_is_far_off(before: int, after: int) -> None:
    """A level that is left after the first step, or at the last, is dated there, by the errors of the steps."""
    dice = np.random.default_rng(3)
    values = np.concatenate([np.zeros(before), np.ones(after)]) + dice.normal(0, 0.02, before + after)
    one = turn(curve(values, np.full(len(values), 0.02)), 0.02)

    assert one is not None
    assert (one.at, one.is_jump) == (before, True)
    assert one.z > CLEAR_AT_EDGE


def test_noise_alone_is_rarely_clear() -> None:
    """Of 300 curves of 40 independent normal values fewer than one in fifty turns so clearly."""
    random = np.random.default_rng(0)
    clear = sum(found(random.normal(size=40)).z > CLEAR for _ in range(300))

    assert clear < 6


def test_one_odd_step_is_no_turn_of_note() -> None:
    """A single outlier in the middle neither makes a clear turn nor spoils the noise."""
    values = np.random.default_rng(1).normal(size=400)
    before = noise(values)
    values[200] += 8

    assert noise(values) == pytest.approx(before, rel=0.05)
    one = turn(curve(values))
    assert one is not None
    assert one.z < CLEAR


def test_missing_steps_are_passed_over() -> None:
    """NaN is a step without a value: the turn is named by the step it is of, and infinities are missing too."""
    values = np.where(STEPS >= 100, 3.0, 0.0) + 0.1 * np.tile([1.0, -1.0], 20)
    values[[3, 18, 19]] = [np.nan, np.inf, np.nan]

    assert found(values).step == 100


@pytest.mark.parametrize("values", [[], [1.0], [1, 2, 3, 4], [1.0] * 9, [np.nan] * 9])
def test_nothing_to_tell(values: list[float]) -> None:
    """Too few steps, or a curve that never changes, has no turn."""
    assert turn(curve(np.array(values, np.float64))) is None


def test_the_steps_own_errors_are_noise() -> None:
    """A jump that the standard errors of its points explain is not clear, though the points lie smoothly."""
    smooth = np.where(STEPS >= 100, 1.0, 0.0) + 0.001 * np.tile([1.0, -1.0], 20)

    assert found(smooth).z > 100
    assert found(smooth, np.full(40, 2.0)).z < CLEAR
    assert found(smooth, None, floor=2.0).z < CLEAR


def test_noise_of_a_slope_is_not_its_slope() -> None:
    """A straight line has no noise; normal values have theirs, within a quarter."""
    assert noise(np.arange(30.0)) == pytest.approx(0, abs=1e-6)
    assert noise(np.random.default_rng(2).normal(size=3000)) == pytest.approx(1, rel=0.25)
