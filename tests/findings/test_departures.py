"""Where a curve leaves its level, and whether it comes back."""

from typing import Final

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from board.findings.change_points import Series
from board.findings.departures import departures, squares_left
from board.metrics.formulas import Float64Array

NOISE = 0.05


def curve(*levels: tuple[int, float], seed: int = 0, noise: float = NOISE) -> Series:
    """A curve of so many steps at each level, with noise."""
    dice = np.random.default_rng(seed)
    means = np.concatenate([np.full(count, level) for count, level in levels])
    return Series(
        np.arange(len(means)), means + dice.normal(0, noise, len(means)), np.full(len(means), noise), np.full(len(means), 32.0)
    )


@pytest.mark.parametrize(
    ("levels", "at", "end"),
    [
        pytest.param([(20, 0.2), (20, 0.8)], 20, 40, id="stays"),
        pytest.param([(20, 0.2), (8, 0.8), (12, 0.2)], 20, 28, id="comes back"),
        pytest.param([(20, 0.2), (1, 0.8), (19, 0.2)], 20, 21, id="one step"),
        pytest.param([(1, 0.2), (39, 0.8)], 1, 40, id="from the second step on"),
        pytest.param([(39, 0.2), (1, 0.8)], 39, 40, id="the last step"),
        pytest.param([(1, 0.2), (1, 0.8)], 1, 2, id="two steps"),
    ],
)
def test_where_it_is_off(levels: list[tuple[int, float]], at: int, end: int) -> None:
    """A level that is left is dated to the step, with the step at which it is back."""
    (found,) = departures(curve(*levels), 1, 0.3)

    assert (found.at, found.end, found.stays) == (at, end, end == sum(count for count, _ in levels))
    assert found.change == pytest.approx(0.6, abs=0.15)


@pytest.mark.parametrize("seed", range(3))
def test_one_step_before_is_trusted_where_later_ones_are_as_it_was(seed: int) -> None:
    """A dip after the first step is found once the curve is back; what never is back has to be farther off, as one step may be an odd one."""
    (found,) = departures(curve((1, 0.7), (5, 0.1), (14, 0.7), seed=seed, noise=0.11), -1, 0.3)

    assert (found.at, found.end) == (1, 6)
    assert departures(curve((1, 0.7), (19, 0.1), seed=seed, noise=0.14), -1, 0.3) == []
    assert len(departures(curve((1, 0.7), (19, 0.1), seed=seed, noise=0.1), -1, 0.3)) == 1


@pytest.mark.parametrize("gap", [4, 6, 8, 12, 20])
@pytest.mark.parametrize("length", [1, 2, 4, 8])
def test_every_episode_of_several_is_found(length: int, gap: int) -> None:
    """Each has its own first and last step, however long the others are and however near."""
    found = departures(curve(*[(gap, 0.2), (length, 0.8)] * 5, (gap, 0.2), noise=0.02), 1, 0.3)

    begins = [gap + episode * (gap + length) for episode in range(5)]
    assert [(one.at, one.end) for one in found] == [(begin, begin + length) for begin in begins]


@pytest.mark.parametrize("seed", range(3))
def test_a_way_back_is_no_departure(seed: int) -> None:
    """A curve that falls for some steps and returns to where it began has fallen, and not risen; what settled for long has risen."""
    fell = curve((8, 0.9), (6, 0.15), (22, 0.9), seed=seed, noise=0.02)

    assert departures(fell, 1, 0.15) == []
    assert [(one.at, one.end) for one in departures(fell, -1, 0.15)] == [(8, 14)]
    assert [one.at for one in departures(curve((5, 0.9), (60, 0.4), (10, 0.9), seed=seed, noise=0.02), 1, 0.15)] == [65]


SLOWLY: Final = {
    "to where it began": (np.r_[np.linspace(0.2, 0.8, 40), np.full(10, 0.2)], (40, 50)),
    "for the last steps": (np.r_[np.linspace(0.2, 0.8, 40), np.full(3, 0.2)], (40, 43)),
    "for a while": (np.r_[np.linspace(0.2, 0.8, 40), np.full(5, 0.3), np.full(15, 0.8)], (40, 45)),
    "behind a curve that levels off": (np.r_[0.8 - 0.6 * np.exp(-np.arange(40) / 8), np.full(8, 0.25)], (40, 48)),
}


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("name", SLOWLY)
def test_what_was_climbed_slowly_is_a_level_to_fall_from(name: str, seed: int) -> None:
    """A reward that rose all the while and collapses falls from its best, though it was there for a few steps alone."""
    means, where = SLOWLY[name]
    size = len(means)
    noisy = means + np.random.default_rng(seed).normal(0, 0.03, size)
    found = departures(Series(np.arange(size), noisy, np.full(size, 0.03), np.full(size, 32.0)), -1, 0.15)

    assert [(one.at, one.end) for one in found] == [where]


@pytest.mark.parametrize("seed", range(5))
def test_the_direction_that_does_no_harm_is_none(seed: int) -> None:
    """Nothing is found where a curve moves the other way, or hardly."""
    rises = curve((20, 0.2), (20, 0.8), seed=seed)

    assert departures(rises, -1, 0.1) == []
    assert departures(rises, 1, 0.7) == []
    assert departures(curve((40, 0.2), seed=seed), 1, 0.0) == []


def test_a_slow_fall_is_one_departure_unless_it_must_be_sudden() -> None:
    """Stairs are one way down, dated where it begins; a row may ask for a jump."""
    slow = curve(*[(5, 0.9 - 0.08 * stair) for stair in range(10)], noise=0.02)
    (found,) = departures(slow, -1, 0.3)

    assert found.stays
    assert found.before == pytest.approx(0.9, abs=0.05)
    assert found.at <= 10
    assert departures(slow, -1, 0.3, within=4) == []


def test_noise_just_before_a_fall_does_not_date_it() -> None:
    """Steps before it that are no more than noise below their level are no way down."""
    before = np.array([121, 115, 121, 121, 121, 128, 115, 128, 137, 115, 115, 128, 115, 157, 128, 137, 157, 137, 115, 128]) / 100
    since = [1.1, 1.21, 1.1, 1.21, 0.66, 0.57, 0.57, 0.57, 0.21, 0.52, 0.57, 0.36, 0.47, 0.29, 0.29, 0.42, 0.42, 0.42, 0.29, 0.42]
    means = np.array([*before, *since])
    (found,) = departures(Series(np.arange(40), means, np.full(40, 0.09), np.full(40, 24.0)), -1, 0.2)
    assert found.at == 24


def test_what_moves_slowly_all_the_while_does_not_date_it() -> None:
    """A curve that crept before it leapt left where it leapt."""
    means = curve((30, 0.0)).mean + np.interp(np.arange(30), [0, 14, 19, 29], [0.0, 0.5, 2.0, 2.0])
    (found,) = departures(Series(np.arange(30), means, np.full(30, NOISE), np.full(30, 32.0)), 1, 0.5)
    assert abs(found.at - 15) <= 1


def test_what_was_found_stays_found_however_long_the_run_becomes() -> None:
    """A jump of one step is found at every length of the run from that step on, at that step."""
    whole = curve((6, 0.03), (1, 0.4), (53, 0.03), noise=0.01)
    for length in range(7, 61):
        part = Series(whole.steps[:length], whole.mean[:length], whole.error[:length], whole.count[:length])
        (found,) = departures(part, 1, 0.08)
        assert (found.at, found.stays) == (6, length == 7), length


def test_long_curves_are_looked_at_in_means_of_steps() -> None:
    """5,000 steps are dated to a few."""
    (found,) = departures(curve((3_000, 0.2), (2_000, 0.4), noise=0.02), 1, 0.1)

    assert abs(found.at - 3_000) <= 13
    assert found.stays


@given(st.lists(st.floats(-1e300, 1e300) | st.just(float("nan")), max_size=40), st.sampled_from([1, -1]))
def test_any_numbers_have_an_answer(values: list[float], direction: int) -> None:
    """What is found lies inside the curve and goes the asked way, whatever the numbers."""
    means = np.array(values, np.float64)
    with np.errstate(all="ignore"):
        found = departures(Series(np.arange(len(means)), means, np.full(len(means), np.nan), np.ones(len(means))), direction, 0.0)

    assert all(0 < one.at < one.end <= len(means) and one.change * direction > 0 for one in found)


@given(st.integers(0, 1000), st.integers(3, 12), st.sampled_from([0.05, np.inf]))
def test_the_squares_left_are_those_of_a_solver(seed: int, n: int, most: float) -> None:
    """With and without what moves slowly, whose multiple is left out where it is too large."""
    dice = np.random.default_rng(seed)
    y, ways, slow = dice.normal(0, 1, n), dice.normal(0, 1, (4, n)), np.linspace(0, 1, n)

    def solved(*columns: Float64Array) -> tuple[float, float]:
        design = np.stack([np.ones(n), *columns], axis=1)
        by = np.linalg.lstsq(design, y, rcond=None)[0]
        return float(np.square(y - design @ by).sum()), abs(by[-1])

    alone = [solved(way)[0] for way in ways]
    assert squares_left(y, ways).tolist() == pytest.approx(alone, abs=1e-9)
    both = [solved(way, slow) for way in ways]
    expected = [left if by <= most else other for (left, by), other in zip(both, alone, strict=True)]
    assert squares_left(y, ways, slow, most).tolist() == pytest.approx(expected, abs=1e-9)
