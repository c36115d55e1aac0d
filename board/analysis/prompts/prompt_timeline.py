"""One prompt over training: its rollouts as points over its visits, thinned for drawing."""

from dataclasses import dataclass
from typing import Final

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from board.analysis.steps.step_stats import finite_values
from board.metrics.formulas import Float64Array

MOST_POINTS: Final = 3_000
"""At most this many rollouts are drawn; of more, a choice that shows each visit's range."""

MOST_VISITS: Final = 600
"""Beyond so many visits neighbours are taken together when points are chosen."""

IntArray = NDArray[np.int64]


@dataclass(frozen=True)
class Timeline:
    """What is drawn of one prompt. n points, v visits."""

    keys: IntArray
    """(n,) of the rollouts, by visit and within it as the frame has them."""
    visit: IntArray
    """(n,) the number of each one's visit, from 0."""
    height: Float64Array
    """(n,) the number that is drawn over steps."""
    color: Float64Array
    """(n,) NaN where it is not known."""
    size: Float64Array
    """(n,) NaN where it is not known."""
    steps: IntArray
    """(v,) rising."""
    counts: IntArray
    """(v,) rollouts of each visit."""
    means: Float64Array
    """(v,) of all finite heights of the visit; NaN where it has none."""
    highest: Float64Array
    """(v,) likewise."""
    total: int
    """Rollouts with a height, drawn or not."""


def timeline(
    frame: pd.DataFrame, by: str, color: str | None, size: str | None, always: IntArray, most: int = MOST_POINTS
) -> Timeline:
    """The points of the rows of one prompt, in the order of the run's frame: the column `by` over steps, coloured and sized by two others.

    Rows without a finite height are no points. Of more than `most` points those with the keys `always` are drawn, of each visit (or few
    neighbouring ones) the highest and the lowest, and of the rest as many as there is room for, evenly. Raises FieldMissing without `by`.
    """
    heights = finite_values(frame, by)
    colors, sizes = (_or_missing(frame, name) for name in (color, size))
    steps, visit, counts = np.unique(frame["step"].to_numpy(np.int64), return_inverse=True, return_counts=True)
    known = np.flatnonzero(~np.isnan(heights))
    by_visit = pd.Series(heights).groupby(visit)
    means: Float64Array = by_visit.mean().to_numpy(np.float64).astype(np.float64)
    highest: Float64Array = by_visit.max().to_numpy(np.float64).astype(np.float64)
    keys = frame.index.to_numpy(np.int64)
    drawn = known[_thinned(heights[known], visit[known], np.isin(keys[known], always), most)]
    return Timeline(
        keys=keys[drawn],
        visit=visit[drawn].astype(np.int64),
        height=heights[drawn],
        color=colors[drawn],
        size=sizes[drawn],
        steps=steps,
        counts=counts.astype(np.int64),
        means=means,
        highest=highest,
        total=len(known),
    )


def _or_missing(frame: pd.DataFrame, column: str | None) -> Float64Array:
    return np.full(len(frame), np.nan) if column is None or column not in frame.columns else finite_values(frame, column)


def _thinned(heights: Float64Array, visit: IntArray, always: NDArray[np.bool_], most: int) -> NDArray[np.intp]:
    """Places of the points to draw, rising."""
    if len(heights) <= most:
        return np.arange(len(heights))
    stretch = visit if visit[-1] < MOST_VISITS else visit * MOST_VISITS // (visit[-1] + 1)
    order = np.lexsort((heights, stretch))
    ends = np.flatnonzero(np.diff(stretch[order], append=-1))
    extremes = np.concatenate([order[ends], order[np.concatenate([[0], ends[:-1] + 1])]])
    chosen = np.zeros(len(heights), bool)
    chosen[extremes] = True
    chosen |= always
    rest = np.flatnonzero(~chosen)
    room = max(0, most - int(chosen.sum()))
    chosen[rest[np.linspace(0, len(rest) - 1, min(room, len(rest)), dtype=np.int64)]] = True
    return np.flatnonzero(chosen)


def usual_pair(frame: pd.DataFrame, by: str) -> tuple[int, int] | None:
    """The keys of the rollout with the highest `by` in the first visit and of that in the last; of one visit the lowest and the highest.

    None where there are no two with a number; of equals the first.
    """
    if by not in frame.columns:
        return None
    heights = pd.Series(finite_values(frame, by), frame.index).dropna()
    steps = frame["step"].loc[heights.index]
    if len(heights) < 2:
        return None
    if steps.iloc[0] == steps.iloc[-1]:
        lowest, highest = int(np.argmin(heights)), int(np.argmax(heights))
        keys = heights.index.to_numpy(np.int64)
        return int(keys[lowest]), int(keys[highest if highest != lowest else 1])
    first, last = (heights[steps.to_numpy() == at].idxmax() for at in (steps.iloc[0], steps.iloc[-1]))
    return int(first), int(last)
