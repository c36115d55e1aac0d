"""Downsampling of long curves that loses no peak, dip or gap. Arrays in, positions out."""

from collections.abc import Sequence
from typing import Final

import numpy as np
from numpy.typing import NDArray

from board.metrics.formulas import Float64Array

LIMIT: Final = 2_000
"""A curve of more points is thinned to about this many: browsers draw SVG lines of this length at once."""

Positions = NDArray[np.intp]


def drawn_points(curves: Sequence[Float64Array], limit: int = LIMIT) -> Positions:
    """Positions (ascending) to draw of curves that share their n points; all of them up to `limit`.

    Beyond it the points are cut into equal runs, and of each run the highest, the lowest and the first missing point of every
    curve are drawn, and so are the first and last of all.
    """
    n = curves[0].size
    if n <= limit:
        return np.arange(n)
    run = np.arange(n) * (limit // (3 * len(curves))) // n
    picks = [np.array([0, n - 1], np.intp)]
    for curve in curves:
        missing = np.isnan(curve)
        first_missing = _first_of_run(run, ~missing)
        picks += [_first_of_run(run, curve), _first_of_run(run, -curve), first_missing[missing[first_missing]]]
    return np.unique(np.concatenate(picks))


def standing_alone(curve: Float64Array) -> NDArray[np.bool_]:
    """Which points have a missing one, or none, on both sides: a line without markers does not show them. Shape (n,)."""
    known = np.concatenate([[False], ~np.isnan(curve), [False]]).astype(np.bool_)
    alone: NDArray[np.bool_] = known[1:-1] & ~(known[:-2] | known[2:])
    return alone


def _first_of_run(run: NDArray[np.integer], key: NDArray[np.float64] | NDArray[np.bool_]) -> Positions:
    """Position of the smallest key in each run; NaN is the largest of all."""
    order = np.lexsort((key, run))
    return order[np.flatnonzero(np.diff(run[order], prepend=-1))]
