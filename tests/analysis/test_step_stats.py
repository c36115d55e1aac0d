"""board.analysis.steps.step_stats: per-step statistics against a slow reader, and what becomes of steps that have nothing to give."""

import math
import re
import statistics
from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from board.analysis.steps import step_stats
from board.errors import BoardError, FieldMissing

NOT_FINITE = st.sampled_from([math.nan, math.inf, -math.inf])
ROWS = st.lists(st.tuples(st.integers(-3, 3) | st.just(2**60), st.floats(-1e6, 1e6) | NOT_FINITE), min_size=1, max_size=30)

pytestmark = pytest.mark.filterwarnings("error")  # no statistic may warn, whatever it is given


def frame_of(rows: Sequence[tuple[int, float]], column: str = "reward") -> pd.DataFrame:
    """A frame as a run has it: step and one number."""
    return pd.DataFrame(
        {"step": np.array([step for step, _ in rows], np.int64), column: np.array([value for _, value in rows], float)}
    )


def quantile(ordered: Sequence[float], share: float) -> float:
    """Linear interpolation between the two nearest of the ordered values."""
    place = share * (len(ordered) - 1)
    low, high = ordered[math.floor(place)], ordered[math.ceil(place)]
    return low + (high - low) * (place - math.floor(place))


def slow_statistics(values: Sequence[float]) -> dict[str, float]:
    """What per_step promises, of one step, in plain Python."""
    finite = sorted(value for value in values if math.isfinite(value))
    counted = {"count": len(finite), "missing": len(values) - len(finite)}
    if not finite:
        return counted | dict.fromkeys(step_stats.STATS[2:], math.nan)
    return counted | {
        "mean": statistics.fmean(finite),
        "std": statistics.pstdev(finite),
        "min": finite[0],
        "q10": quantile(finite, 0.1),
        "median": statistics.median(finite),
        "q90": quantile(finite, 0.9),
        "max": finite[-1],
    }


@settings(deadline=None)
@given(ROWS)
def test_per_step_agrees_with_a_slow_reader(rows: list[tuple[int, float]]) -> None:
    """Every statistic of every step, steps ascending, those without a finite value kept."""
    frame = frame_of(rows)

    result = step_stats.per_step(frame, "reward")

    expected = {step: slow_statistics([value for at, value in rows if at == step]) for step in sorted({step for step, _ in rows})}
    assert result.index.tolist() == list(expected)
    assert list(result.columns) == list(step_stats.STATS)
    np.testing.assert_allclose(
        result.to_numpy(float), [[one[name] for name in step_stats.STATS] for one in expected.values()], rtol=1e-9, atol=1e-6
    )


def test_per_step_of_one_row() -> None:
    """One value is its own mean and every quantile, with no spread."""
    result = step_stats.per_step(frame_of([(7, 0.25)]), "reward")

    assert list(result.loc[7]) == [1, 0, 0.25, 0, 0.25, 0.25, 0.25, 0.25, 0.25]
    assert result.index.name == "step"


def test_a_step_without_a_finite_value_is_a_row_without_numbers() -> None:
    """It is not dropped, so the curve has a gap there, and the rollouts are counted as missing."""
    result = step_stats.per_step(frame_of([(1, 1.0), (2, math.nan), (2, -math.inf), (3, 3.0)]), "reward")

    assert result["count"].tolist() == [1, 0, 1]
    assert result["missing"].tolist() == [0, 2, 0]
    assert result.loc[2, step_stats.STATS[2] :].isna().all()


def test_exact_zeros_are_values() -> None:
    """A step whose KL is exactly zero has a point at zero (the policy is still the reference there)."""
    assert step_stats.per_step(frame_of([(0, 0.0), (0, 0.0), (1, 0.5)]), "reward")["mean"].tolist() == [0, 0.5]


def test_steps_written_twice_are_taken_together() -> None:
    """Rows of one step need not be neighbours."""
    assert step_stats.per_step(frame_of([(2, 1.0), (1, 5.0), (2, 3.0)]), "reward")["mean"].tolist() == [5, 2]


COLUMNS: dict[str, tuple[Any, list[float]]] = {
    "integers": (np.array([1, 3]), [2]),
    "booleans": (np.array([True, False]), [0.5]),
    "nullable floats": (pd.array([1.0, None], "Float64"), [1]),
    "float32": (np.array([0.5, np.nan], np.float32), [0.5]),
}


@pytest.mark.parametrize(("values", "means"), COLUMNS.values(), ids=COLUMNS)
def test_any_numeric_column_has_statistics(values: Any, means: list[float]) -> None:
    """Whatever kind of number the frame holds."""
    assert step_stats.per_step(pd.DataFrame({"step": [1, 1], "x": values}), "x")["mean"].tolist() == means


NOT_NUMBERS = {
    "absent": ("ref_reward", "This needs ref_reward, which no rollout of this run has."),
    "text": ("prompt", "This needs prompt as a number, and in this run it is not one."),
    "ids": ("rank", "This needs rank as a number, and in this run it is not one."),
}


@pytest.mark.parametrize(("column", "message"), NOT_NUMBERS.values(), ids=NOT_NUMBERS)
def test_a_column_without_numbers_is_named(column: str, message: str) -> None:
    """One line says which field a chart needs."""
    frame = pd.DataFrame({"step": [1], "prompt": ["2"], "rank": pd.Categorical(["0"])})

    with pytest.raises(FieldMissing, match=re.escape(message)):
        step_stats.per_step(frame, column)


@settings(deadline=None)
@given(ROWS, st.floats(-10, 10))
def test_share_below_agrees_with_counting(rows: list[tuple[int, float]], threshold: float) -> None:
    """Of a step's finite values, those strictly below the threshold; NaN for a step that has none."""
    result = step_stats.share_below(frame_of(rows), "reward", threshold)

    for step in {step for step, _ in rows}:
        finite = [value for at, value in rows if at == step and math.isfinite(value)]
        expected = sum(value < threshold for value in finite) / len(finite) if finite else math.nan
        assert result[step] == pytest.approx(expected, nan_ok=True)
    assert result.index.is_monotonic_increasing


def test_a_value_on_the_threshold_is_not_below() -> None:
    """A tie with the reference is not worse than the reference."""
    assert step_stats.share_below(frame_of([(1, 0.0), (1, -0.1)]), "reward").tolist() == [0.5]


LENGTHS = frame_of([(0, 10), (0, 20), (5, 30), (9, math.nan), (12, 8)], "response_length")
CHANGES = {
    "against the nearest earlier step": (5, (30, 15, 15, 0)),
    "the first step has none before": (0, (15, math.nan, math.nan, None)),
    "a step without lengths": (9, (math.nan, 30, math.nan, 5)),
    "the step before has no lengths": (12, (8, math.nan, math.nan, 9)),
    "a step that is not in the run": (7, (math.nan, 30, math.nan, 5)),
}


@pytest.mark.parametrize(("step", "expected"), CHANGES.values(), ids=CHANGES)
def test_length_change(step: int, expected: tuple[float, float, float, int | None]) -> None:
    """Mean tokens of a step, of the step before, and the difference; nothing is invented where one is missing."""
    change = step_stats.length_change(LENGTHS, step)

    assert (change.mean, change.previous_mean, change.change) == pytest.approx(expected[:3], nan_ok=True)
    assert change.previous_step == expected[3]


def test_length_change_needs_lengths() -> None:
    """A run without tokens says which column is missing."""
    with pytest.raises(FieldMissing, match="response_length"):
        step_stats.length_change(frame_of([(1, 1.0)]), 1)


def tensorboard_smooth(values: Sequence[float], weight: float) -> list[float]:
    """TensorBoard's own loop (vz_line_chart2/line-chart.ts, resmoothDataset): an average started at zero, then debiased."""
    last, seen, smoothed = 0.0, 0, []
    for value in values:
        if math.isfinite(value):
            last, seen = last * weight + (1 - weight) * value, seen + 1
            smoothed.append(last / (1 - weight**seen))
        else:
            smoothed.append(math.nan)
    return smoothed


@settings(deadline=None)
@given(st.lists(st.floats(-1e6, 1e6) | NOT_FINITE, max_size=30), st.floats(0, 0.99))
def test_smoothing_agrees_with_tensorboard(values: list[float], weight: float) -> None:
    """The slider means what it means there."""
    np.testing.assert_allclose(
        step_stats.smooth(np.array(values), weight), tensorboard_smooth(values, weight), rtol=1e-6, atol=1e-6
    )


def test_smoothing_in_closed_form() -> None:
    """With weight 1/2 the second of two values weighs twice the first; a gap stays a gap and takes no weight."""
    assert step_stats.smooth(np.array([3.0, np.nan, 6.0]), 0.5) == pytest.approx([3, math.nan, 5], nan_ok=True)


@pytest.mark.parametrize("weight", [-0.1, 1.0, 2.0, math.nan])
def test_smoothing_weight_out_of_range_is_refused(weight: float) -> None:
    """A weight of one would never move."""
    with pytest.raises(BoardError, match="Smoothing is a weight from 0 to below 1"):
        step_stats.smooth(np.array([1.0]), weight)


def test_nothing_given_is_changed() -> None:
    """Frames and arrays are shared between readers of a run."""
    frame = frame_of([(2, 1.0), (1, math.inf), (1, math.nan)], "response_length")
    before, values = frame.copy(deep=True), np.array([1.0, np.inf, np.nan])
    values.flags.writeable = False

    step_stats.per_step(frame, "response_length")
    step_stats.share_below(frame, "response_length")
    step_stats.length_change(frame, 2)
    step_stats.finite_values(frame, "response_length")[:] = 0
    step_stats.smooth(values, 0.5)

    pd.testing.assert_frame_equal(frame, before)


@settings(deadline=None)
@given(st.lists(st.tuples(st.integers(0, 2), st.floats()), min_size=1, max_size=10))
def test_no_float_makes_a_statistic_warn(rows: list[tuple[int, float]]) -> None:
    """Neither the largest floats nor the smallest, nor what is none."""
    frame = frame_of(rows)
    values = frame["reward"].to_numpy()

    assert step_stats.per_step(frame, "reward")["count"].sum() == np.isfinite(values).sum()
    step_stats.share_below(frame, "reward")
    step_stats.smooth(values, 0.9)


FAR = (-(2**63), -1, 0, 1, 2**53, 2**53 + 1, 2**63 - 1)

NEAREST: dict[str, tuple[float, int]] = {
    "there": (1, 1),
    "between, the nearer": (2**52 + 1, 2**53),
    "between, as near": (-0.5, -1),
    "beyond float64": (2**53 + 1, 2**53 + 1),
    "before all": (-(2**70), -(2**63)),
    "after all": (2**64, 2**63 - 1),
    "far after all": (1e308, 2**63 - 1),
}


@pytest.mark.parametrize("case", NEAREST)
def test_nearest_step_of_steps_far_apart(case: str) -> None:
    """The nearest step is found exactly, however large the steps are and however far away the number."""
    wanted, nearest = NEAREST[case]
    assert step_stats.nearest_step(np.array(FAR, np.int64), wanted) == nearest
