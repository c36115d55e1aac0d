"""Statistics of a column per step; smoothed and shifted curves.

Frame or array in, frame or array out. Only finite values are computed with: NaN is a missing value, and infinities are counted as missing
rather than allowed to swallow a mean. What comes in is never changed, and nothing warns.
"""

from dataclasses import dataclass
from typing import Final

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from board.errors import BoardError, FieldMissing
from board.metrics.formulas import Float64Array, FloatArray
from board.runs.run import Run

IntArray = NDArray[np.int64]

STATS: Final = ("count", "missing", "mean", "std", "min", "q10", "median", "q90", "max")
"""Columns of `per_step`, in order."""


def finite_values(frame: pd.DataFrame, column: str) -> Float64Array:
    """A column as float64 (rows,), NaN where it has no finite number. Raises FieldMissing if it is absent or holds no numbers."""
    if column not in frame.columns:
        raise FieldMissing(f"This needs {column}, which no rollout of this run has.")
    series = frame[column]
    if not pd.api.types.is_numeric_dtype(series.dtype):
        raise FieldMissing(f"This needs {column} as a number, and in this run it is not one.")
    values: Float64Array = series.to_numpy(dtype=np.float64, na_value=np.nan, copy=True)
    values[~np.isfinite(values)] = np.nan
    return values


def per_step(frame: pd.DataFrame, column: str) -> pd.DataFrame:
    """Statistics of a column by step: index `step` (ascending), columns STATS.

    count = finite values, missing = rows without one, std = of the population (ddof 0), quantiles interpolated linearly.
    A step without any finite value stays as a row: count 0, the rest NaN. Raises FieldMissing as `finite_values`.
    """
    by_step = pd.Series(finite_values(frame, column), name=column).groupby(_steps(frame))
    with np.errstate(all="ignore"):
        stats = by_step.agg(["count", "mean", "min", "median", "max"]).assign(
            missing=by_step.size() - by_step.count(),
            std=by_step.std(ddof=0),
            q10=by_step.quantile(0.1),
            q90=by_step.quantile(0.9),
        )
    return stats[list(STATS)].rename_axis("step")


def stats_of(run: Run, column: str) -> pd.DataFrame:
    """`per_step` of a run's frame, or of all rollouts where the frame is a sample of them. Raises FieldMissing as `per_step`."""
    of_all = {name: run.slice.of_steps(f"stat/{column}/{name}") for name in STATS} if run.slice else {}
    known = {name: one for name, one in of_all.items() if one is not None}
    if column not in run.frame.columns or len(known) < len(STATS):
        return per_step(run.frame, column)
    return pd.DataFrame(known).reindex(run.steps).rename_axis("step")


def share_below(frame: pd.DataFrame, column: str, threshold: float = 0.0) -> "pd.Series[float]":
    """Share (0 to 1) of a step's finite values that lie below the threshold, by step (ascending); NaN where there is none."""
    values = finite_values(frame, column)
    below = np.where(np.isnan(values), np.nan, values < threshold)
    return pd.Series(below, name=column).groupby(_steps(frame)).mean().rename_axis("step")


@dataclass(frozen=True)
class LengthChange:
    """Mean response length of a step, in tokens, against the nearest earlier step of the run. NaN where it cannot be computed."""

    mean: float
    previous_mean: float
    change: float
    previous_step: int | None
    """None for the first step."""


def length_change(frame: pd.DataFrame, step: int) -> LengthChange:
    """How the mean `response_length` of a step differs from the step before. Raises FieldMissing if the run has no tokens."""
    lengths, steps = finite_values(frame, "response_length"), _steps(frame)
    earlier = steps[steps < step]
    previous = int(earlier.max()) if earlier.size else None
    mean, previous_mean = (_mean(lengths[steps == at]) if at is not None else np.nan for at in (step, previous))
    return LengthChange(mean=mean, previous_mean=previous_mean, change=mean - previous_mean, previous_step=previous)


def nearest_step(steps: IntArray, number: float) -> int:
    """The step nearest to a finite number, exactly where that is whole; of two as near the lower one. `steps` (n,) rising, n >= 1."""
    inside = min(max(number, int(steps[0])), int(steps[-1]))
    at = int(np.searchsorted(steps, inside))
    neighbours: list[int] = steps[max(0, at - 1) : at + 1].tolist()
    return min(neighbours, key=lambda step: abs(step - inside))


def _mean(values: Float64Array) -> float:
    known = values[~np.isnan(values)]
    return float(known.mean()) if known.size else np.nan


def _steps(frame: pd.DataFrame) -> IntArray:
    return frame["step"].to_numpy(np.int64)


def smooth(values: FloatArray, weight: float) -> Float64Array:
    """Debiased exponential moving average, as TensorBoard's smoothing slider. Shape (n,); weight in [0, 1), 0 changes nothing.

    y_t = Σ w^(t-i) x_i / Σ w^(t-i) over the finite x_i so far, i counting only those; the others become NaN and change nothing.
    Raises BoardError for another weight.
    """
    if not 0 <= weight < 1:
        raise BoardError(f"Smoothing is a weight from 0 to below 1, not {weight}.")
    known = _finite_or_nan(values)
    averaged: Float64Array = pd.Series(known).ewm(alpha=1 - weight, adjust=True, ignore_na=True).mean().to_numpy(copy=True)
    averaged[np.isnan(known)] = np.nan
    return averaged


def first_finite(values: FloatArray) -> float:
    """First finite value; NaN if there is none."""
    known = np.asarray(values, np.float64)[np.isfinite(values)]
    return float(known[0]) if known.size else np.nan


def _finite_or_nan(values: FloatArray) -> Float64Array:
    wide = np.array(values, np.float64)
    wide[~np.isfinite(wide)] = np.nan
    return wide
