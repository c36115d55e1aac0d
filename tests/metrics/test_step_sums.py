"""board.metrics.step_sums: sums over steps against numpy on each step's numbers, and tokens of rollouts against one array of all."""

import math
import warnings
from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from board.metrics.step_sums import Steps, pool, token_mean

NAN = math.nan

STATS: dict[str, Callable[[list[float]], float]] = {
    "sum": np.sum,
    "mean": np.mean,
    "std": np.std,
    "variance": np.var,
    "max": np.max,
    "min": np.min,
    "median": np.median,
    "count": np.size,
}

VALUES = st.one_of(st.floats(-1e6, 1e6), st.sampled_from([NAN, math.inf, -math.inf]))


@given(st.lists(st.tuples(st.integers(0, 4), VALUES), max_size=30), st.sampled_from(sorted(STATS)))
def test_statistics_are_numpys_on_each_step(rows: list[tuple[int, float]], stat: str) -> None:
    """Every statistic is that of the step's finite numbers; without one it is NaN, and the count 0."""
    rows.sort(key=lambda row: row[0])
    steps = Steps(np.array([step for step, _ in rows], np.int64))
    values = np.array([value for _, value in rows], np.float64)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found = getattr(steps, stat)(values)

    assert steps.numbers.tolist() == sorted({step for step, _ in rows})
    for step, one in zip(steps.numbers, found, strict=True):
        known = [value for at, value in rows if at == step and math.isfinite(value)]
        expected = STATS[stat](known) if known else (0 if stat == "count" else NAN)
        assert one == pytest.approx(expected, rel=1e-9, abs=1e-6, nan_ok=True)


def test_skewness_of_rollouts_leans_where_the_few_are() -> None:
    """One large value among small ones leans upwards by the definition's amount; equal values have no shape."""
    steps = Steps(np.array([0, 0, 0, 0, 1, 1]))

    found = steps.skewness(np.array([0.0, 0.0, 0.0, 4.0, 2.0, 2.0]))

    assert found[0] == pytest.approx(2 / math.sqrt(3))
    assert np.isnan(found[1])


def test_powers_that_overflow_are_no_missing_values() -> None:
    """A spread is that of all finite values also where their squares are not finite; what no float holds is infinite; other steps stay exact."""
    steps = Steps(np.array([0, 0, 0, 0, 1, 1, 2]))
    values = np.array([1e308, -1e308, 0.0, 0.0, 1.0, 4.0, math.inf])

    with warnings.catch_warnings():
        warnings.simplefilter("error")
        std, square = steps.std(values), steps.mean_square(values)
        leaning = steps.skewness(np.array([0.0, 0.0, 0.0, 4e200, 0.0, 1.0, NAN]))

    assert std == pytest.approx([1e308 / math.sqrt(2), 1.5, NAN], nan_ok=True)
    assert std[1] == 1.5
    assert square == pytest.approx([math.inf, 8.5, NAN], nan_ok=True)
    assert leaning == pytest.approx([2 / math.sqrt(3), 0.0, NAN], nan_ok=True)


TOKENS = st.lists(st.tuples(st.integers(0, 2), st.lists(st.floats(-100, 100), max_size=6)), min_size=1, max_size=8)


@given(TOKENS)
def test_pooled_tokens_are_those_of_one_long_array(rows: list[tuple[int, list[float]]]) -> None:
    """Count, mean, variance and skewness over a step's tokens come out of the rollouts' moments as out of all tokens at once."""
    rows.sort(key=lambda row: row[0])
    steps = Steps(np.array([step for step, _ in rows]))
    means = np.array([np.mean(tokens) if tokens else NAN for _, tokens in rows])
    counts = np.array([len(tokens) for _, tokens in rows], np.float64)
    m2, m3 = (
        np.array(
            [np.sum((np.array(tokens) - mean) ** power) if tokens else NAN for (_, tokens), mean in zip(rows, means, strict=True)]
        )
        for power in (2, 3)
    )

    found = pool(steps, counts, means, m2, m3)

    for at, step in enumerate(steps.numbers):
        tokens = np.array([one for of, some in rows if of == step for one in some])
        if not len(tokens):
            assert np.isnan([found.count[at], found.mean[at], found.variance[at]]).all()
            continue
        assert found.count[at] == len(tokens)
        assert found.mean[at] == pytest.approx(tokens.mean(), abs=1e-9)
        assert token_mean(steps, counts, means)[at] == found.mean[at]
        assert found.variance[at] == pytest.approx(tokens.var(), abs=1e-6, rel=1e-6)
        if tokens.std() > 1e-3:
            assert found.skewness[at] == pytest.approx(
                np.mean((tokens - tokens.mean()) ** 3) / tokens.std() ** 3, abs=1e-4, rel=1e-4
            )


def test_variance_survives_a_large_mean() -> None:
    """Numbers of a thousandth around a million keep their spread, which a sum of squares would lose."""
    near = np.array([1e6, 1e6 + 1e-3])
    steps = Steps(np.array([0, 0]))

    found = pool(steps, np.array([1.0, 1.0]), near, np.zeros(2), np.zeros(2))

    assert found.variance[0] == pytest.approx(0.25e-6, rel=1e-3)


def test_skewness_of_equal_numbers_is_unknown() -> None:
    """What does not vary has no shape."""
    steps = Steps(np.array([0, 0]))

    assert np.isnan(pool(steps, np.ones(2), np.ones(2), np.zeros(2), np.zeros(2)).skewness[0])


def test_a_rollout_without_the_quantity_weighs_nothing() -> None:
    """Its count is 0 and its mean unknown: the step's mean is that of the others."""
    steps = Steps(np.array([0, 0]))

    assert token_mean(steps, np.array([4.0, 0.0]), np.array([2.0, NAN]))[0] == 2


PARTS = st.lists(st.lists(st.integers(-1000, 1000).map(lambda tenths: tenths / 10), max_size=5), min_size=1, max_size=5)


def one_step(parts: int) -> Steps:
    """So many rollouts of one step."""
    return Steps(np.zeros(parts, np.int64))


def described(parts: list[list[float]]) -> tuple[np.ndarray, ...]:
    """What numpy says of each part, (parts,): count, mean, sum of squares and of cubes around it."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        means = np.array([np.mean(part) for part in parts])
        powers = [
            np.array([sum((one - mean) ** by for one in part) for part, mean in zip(parts, means, strict=True)]) for by in (2, 3)
        ]
    return np.array([float(len(part)) for part in parts]), means, *powers


@given(PARTS)
def test_the_whole_is_what_its_parts_say(parts: list[list[float]]) -> None:
    """However values are cut into parts, empty ones among them, the whole's mean and moments are numpy's over all; NaN without any."""
    values = np.array([one for part in parts for one in part])
    found = pool(one_step(len(parts)), *described(parts))

    if not values.size:
        assert math.isnan(found.mean[0])
        assert math.isnan(found.variance[0])
        return
    assert found.count == values.size
    assert found.mean == pytest.approx(values.mean(), abs=1e-9)
    assert found.sum == pytest.approx(values.sum(), abs=1e-9)
    assert found.variance == pytest.approx(values.var(), abs=1e-9)
    assert found.std == pytest.approx(values.std(), abs=1e-6)
    assert found.mean_square == pytest.approx(np.square(values).mean(), abs=1e-9)
    assert found.m3 == pytest.approx(((values - values.mean()) ** 3).sum(), rel=1e-9, abs=1e-6)


def test_a_part_without_a_mean_weighs_nothing() -> None:
    """What is not known of one part changes nothing of the whole."""
    assert token_mean(one_step(3), np.array([1.0, 5.0, 1.0]), np.array([2.0, math.nan, 4.0])) == 3
