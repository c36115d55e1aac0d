"""Distributions counted in bins: of an array, and of a column by step.

Every finite value is counted, the maximum included; others are missing values. What comes in is never changed, and nothing warns.
"""

from typing import Final

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from board.analysis.steps.step_stats import finite_values
from board.metrics.formulas import Float64Array, FloatArray

Counts = NDArray[np.int64]

MAX_BINS: Final = 100
"""However wide the range and however many the values, a histogram has no more bins."""

_GRID_POINTS: Final = 25
"""Scores on a grid of up to so many points get one bar per point, however few the values."""

_SAME: Final = 6
"""Values that agree to so many decimals of the range are one grid point: 0.1 + 0.2 and 0.3."""


def bin_edges(values: FloatArray, bins: int | None = None, anchor: float | None = None) -> Float64Array:
    """Edges (b + 1,) of equal bins over the finite values, b <= MAX_BINS; empty if there is no finite value.

    Values on a grid (0/1 rewards, scores in steps of 0.5) get one bin per grid point, around it; all values equal, one bin.
    Else `bins` bins; by default as many as Freedman and Diaconis (1981) advise, at least Sturges' number.
    `anchor`: bins that are not around grid points are shifted so that one edge is the anchor, e.g. 0 for gaps.
    """
    known = np.asarray(values, np.float64)
    known = known[np.isfinite(known)]
    if not known.size:
        return np.empty(0)
    with np.errstate(all="ignore"):
        edges = _edges(known, bins, anchor)
    largest = np.finfo(np.float64).max
    return np.unique(np.clip(edges, -largest, largest).astype(np.float64))


def _edges(known: Float64Array, bins: int | None, anchor: float | None) -> Float64Array:
    low, high = float(known.min()), float(known.max())
    if low == high:
        return low + np.array([-0.5, 0.5]) * (abs(low) * 0.1 or 1.0)
    count = min(bins or _advised_bins(known), MAX_BINS)
    points = _grid_points(known, count if bins else max(count, _GRID_POINTS))
    if points:
        return low + (np.arange(points + 1, dtype=np.float64) - 0.5) * ((high - low) / (points - 1))
    if anchor is not None and low < anchor < high:
        width = (high - low) / min(count, MAX_BINS - 2)  # the shift may need a bin more on either side
        return anchor + np.arange(np.floor((low - anchor) / width), np.ceil((high - anchor) / width) + 1) * width
    share = np.arange(count + 1, dtype=np.float64) / count
    return low * (1 - share) + high * share  # unlike linspace, no overflow where high - low is beyond the largest float


def bin_counts(values: FloatArray, edges: Float64Array) -> Counts:
    """How many finite values lie in each bin, (b,). Bins are [edge, next edge), the last one closed.

    Values beyond the edges count in the first or last bin: none is lost.
    """
    wide = np.asarray(values, np.float64)
    return np.bincount(_bin_of(wide[np.isfinite(wide)], edges), minlength=max(edges.size - 1, 0)).astype(np.int64)


def histogram_by_step(frame: pd.DataFrame, column: str, bins: int | None = None) -> tuple[Float64Array, Counts, Counts]:
    """Edges (b + 1,) over all steps, steps (S,) ascending, and counts (S, b) of the column's finite values; b <= `bins`.

    Bins are those of `bin_edges`: a single value gets one bin around it, the maximum is counted. By default so many that a step
    fills them: twice the root of the rollouts per step, 12 to 60. A step without a finite value
    is a row of zeros. No finite value at all: edges (0,) and counts (S, 0). Raises FieldMissing as `finite_values`.
    """
    values = finite_values(frame, column)
    steps, step_code = np.unique(frame["step"].to_numpy(np.int64), return_inverse=True)
    edges = bin_edges(values, bins or int(np.clip(2 * np.sqrt(values.size / max(steps.size, 1)), 12, 60)))
    width = max(edges.size - 1, 0)
    known = ~np.isnan(values)
    cell = step_code[known] * width + _bin_of(values[known], edges)
    return edges, steps, np.bincount(cell, minlength=steps.size * width).reshape(steps.size, width).astype(np.int64)


def _bin_of(values: Float64Array, edges: Float64Array) -> NDArray[np.intp]:
    return np.clip(np.searchsorted(edges, values, side="right") - 1, 0, max(edges.size - 2, 0))


def _grid_points(known: Float64Array, limit: int) -> int:
    """Points of the coarsest grid from the lowest value to the highest that holds all values; 0 if it has more than `limit`."""
    low, high = known.min(), known.max()
    distinct = np.unique(np.round((known - low) / (high - low), _SAME))
    if not 2 <= distinct.size <= limit:
        return 0
    gap = np.diff(distinct).min()
    places = distinct / gap
    points = int(np.round(places[-1])) + 1
    return points if points <= limit and np.all(np.abs(places - np.round(places)) < 1e-3) else 0


def _advised_bins(known: Float64Array) -> int:
    sturges = np.ceil(np.log2(known.size)) + 1
    q25, q75 = np.quantile(known, [0.25, 0.75])
    advised = np.ceil((known.max() - known.min()) / (2 * (q75 - q25) / np.cbrt(known.size)))
    return int(np.clip(advised if np.isfinite(advised) else 0, sturges, MAX_BINS))
