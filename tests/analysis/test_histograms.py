"""board.analysis.steps.histograms: every finite value is counted, in bins a reader can make sense of."""

import math

import numpy as np
import pandas as pd
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from board.analysis.steps import histograms
from board.errors import FieldMissing


def histogram(values: NDArray[np.float64], bins: int | None = None) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """Edges and counts."""
    edges = histograms.bin_edges(values, bins)
    return edges, histograms.bin_counts(values, edges)


ANY_VALUES = st.lists(st.floats() | st.sampled_from([0.0, 1.0, 0.5, -1.0]), max_size=40)

pytestmark = pytest.mark.filterwarnings("error")  # no binning may warn, whatever it is given


@settings(deadline=None)
@given(ANY_VALUES, st.none() | st.integers(1, 300))
@example([0.0, 0.0, 0.0, 1.0, 0.02, -1.0], None)
def test_every_finite_value_is_counted(values: list[float], number: int | None) -> None:
    """The maximum included; edges ascend and are never too many."""
    array = np.array(values, float)

    edges, counts = histogram(array, number)

    assert counts.sum() == np.isfinite(array).sum()
    assert counts.size == max(edges.size - 1, 0) <= histograms.MAX_BINS
    assert np.isfinite(edges).all()
    assert (edges[1:] > edges[:-1]).all()


@settings(deadline=None)
@given(st.lists(st.floats(-1e3, 1e3), min_size=1, max_size=40))
def test_counts_agree_with_counting(values: list[float]) -> None:
    """Each bin holds the values from its left edge to below its right edge, the last one its right edge too."""
    array = np.array(values)

    edges, counts = histogram(array)

    inside = [
        sum(low <= value < high or (last and value == high) for value in values)
        for low, high, last in zip(edges[:-1], edges[1:], [False] * (counts.size - 1) + [True], strict=True)
    ]
    below, above = int((array < edges[0]).sum()), int((array > edges[-1]).sum())  # by a rounding of the outer edges at most
    inside[0] += below
    inside[-1] += above
    assert counts.tolist() == inside
    assert edges[0] - 1e-9 <= array.min() <= array.max() <= edges[-1] + 1e-9


GRIDS = {
    "0/1 rewards": ([0, 1, 1, 0, 1], [0, 1], [2, 3]),
    "six ones in ten": ([1] * 6 + [0] * 4, [0, 1], [4, 6]),
    "right or wrong by sign": ([-1, 1, 1], [-1, 1], [1, 2]),
    "tenths with float noise": ([0, 0.1, 0.1 + 0.2, 0.3, 0.5], [0, 0.1, 0.2, 0.3, 0.4, 0.5], [1, 1, 0, 2, 0, 1]),
    "all equal": ([0.5] * 7, [0.5], [7]),
    "all zero": ([0.0, 0.0], [0], [2]),
    "one value": ([-3.0], [-3], [1]),
    "one value among none": ([math.nan, 2.0, math.inf], [2], [1]),
}


@pytest.mark.parametrize(("values", "centres", "expected"), GRIDS.values(), ids=GRIDS)
def test_scores_on_a_grid_get_a_bar_per_score(values: list[float], centres: list[float], expected: list[int]) -> None:
    """Bars stand on the scores, so 0/1 rewards are exactly two bars and equal rewards one."""
    edges, counts = histogram(np.array(values))

    assert (edges[1:] + edges[:-1]) / 2 == pytest.approx(centres)
    assert counts.tolist() == expected


def test_no_finite_value_has_no_bins() -> None:
    """Nothing is counted and nothing is invented."""
    edges, counts = histogram(np.array([math.nan, math.inf]))

    assert edges.size == counts.size == 0


def test_a_wide_range_stays_bounded() -> None:
    """Rewards between -2e5 and 2e5 beside ordinary ones: at most a hundred bins, the outliers still counted."""
    rewards = np.concatenate([np.random.default_rng(0).normal(size=500), [-2e5, 2e5]])

    edges, counts = histogram(rewards)

    assert counts.size <= histograms.MAX_BINS
    assert (counts[0], counts[-1], counts.sum()) == (1, 1, 502)
    assert (edges[0], edges[-1]) == (-2e5, 2e5)


def test_bins_follow_the_number_of_values() -> None:
    """Freedman and Diaconis: twice the interquartile range over the cube root of n, as numpy's "fd"."""
    values = np.random.default_rng(1).normal(size=2_000)

    assert histograms.bin_edges(values).size == np.histogram_bin_edges(values, "fd").size


def test_an_anchor_becomes_an_edge() -> None:
    """No bin mixes gaps below zero with gaps above it."""
    values = np.random.default_rng(2).normal(0.3, 1, size=300)

    edges = histograms.bin_edges(values, anchor=0.0)

    assert 0.0 in edges
    assert edges[0] <= values.min() < values.max() <= edges[-1]
    assert np.allclose(np.diff(edges), edges[1] - edges[0])
    assert histograms.bin_edges(values + 100, anchor=0.0).tolist() == histograms.bin_edges(values + 100).tolist()


def test_values_beyond_given_edges_count_in_the_outer_bins() -> None:
    """The reference is counted in the policy's bins without losing a value."""
    assert histograms.bin_counts(np.array([-5.0, 0.0, 0.5, 1.0, 9.0, np.nan]), np.array([0.0, 0.5, 1.0])).tolist() == [2, 3]


ROWS = st.lists(
    st.tuples(st.integers(-2, 4), st.floats(-1e3, 1e3) | st.sampled_from([math.nan, math.inf, 0.0, 1.0])), min_size=1, max_size=30
)


@settings(deadline=None)
@given(ROWS, st.integers(1, 60))
def test_histogram_by_step_agrees_with_one_step_at_a_time(rows: list[tuple[int, float]], number: int) -> None:
    """Every step has a row, in ascending order, and its finite values are all in it."""
    frame = pd.DataFrame({"step": [step for step, _ in rows], "reward": [value for _, value in rows]})

    edges, steps, counts = histograms.histogram_by_step(frame, "reward", number)

    assert steps.tolist() == sorted({step for step, _ in rows})
    assert counts.shape == (steps.size, max(edges.size - 1, 0))
    assert edges.size - 1 <= number
    for step, row in zip(steps, counts, strict=True):
        values = np.array([value for at, value in rows if at == step])
        assert row.tolist() == histograms.bin_counts(values, edges).tolist()
        assert row.sum() == np.isfinite(values).sum()


def test_histogram_by_step_of_a_single_value() -> None:
    """One bin around it, in every step that has it."""
    frame = pd.DataFrame({"step": [1, 2, 3], "reward": [0.5, math.nan, 0.5]})

    edges, _, counts = histograms.histogram_by_step(frame, "reward")

    assert edges[0] < 0.5 < edges[1]
    assert counts.tolist() == [[1], [0], [1]]


def test_histogram_by_step_needs_the_column() -> None:
    """A run without the field says so."""
    with pytest.raises(FieldMissing, match="ref_reward"):
        histograms.histogram_by_step(pd.DataFrame({"step": [1]}), "ref_reward")


def test_nothing_given_is_changed() -> None:
    """Frames and arrays are shared between readers of a run."""
    frame = pd.DataFrame({"step": [2, 1, 1], "reward": [1.0, np.inf, np.nan]})
    before, values = frame.copy(deep=True), np.array([1.0, np.inf, np.nan])
    values.flags.writeable = False

    histograms.histogram_by_step(frame, "reward")
    histogram(values)

    pd.testing.assert_frame_equal(frame, before)
