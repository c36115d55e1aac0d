"""A number of the rollouts as a curve over steps, with how sure each point is. Arrays in, a curve out; knows no run and no metric.

Rollouts of one prompt are alike, so the standard error is clustered by prompt (Miller, arXiv 2411.00640, equation 4): the sum over prompts of
the squared sum of their deviations. It costs a pass where a bootstrap would cost a thousand.
"""

from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from board.findings.change_points import Turn, noise, turn
from board.metrics.formulas import Float64Array
from board.metrics.step_sums import Steps

DEPARTED: Final = 3.0
"""So many times its noise a curve is off its level when that can be seen."""

OF_CHANGE: Final = 0.15
"""Or by such a share of all that it changes: where the noise is large, waiting for more would date it late."""


@dataclass(frozen=True)
class Series:
    """A curve over the k steps of a run."""

    steps: NDArray[np.int64]
    """(k,) rising."""
    mean: Float64Array
    """(k,) NaN where no rollout has the number."""
    error: Float64Array
    """(k,) standard error of the mean; NaN where fewer than two prompts tell."""
    count: Float64Array
    """(k,) rollouts that have the number."""

    def turn(self, floor: float = 0.0) -> Turn | None:
        """Where it turns; see `change_points.turn`."""
        return turn(self.steps, self.mean, self.error, floor)

    def departure(self, found: Turn) -> int:
        """Index of the first step that is clearly off the level before a turn: a bend's line begins before it can be seen, or within a curve."""
        known = np.isfinite(self.mean[: found.at])
        before = self.mean[: found.at][known]
        if found.is_jump or len(before) < 2:
            return found.at
        early = before[: max(2, len(before) // 2)]
        off = np.sign(found.change) * (self.mean - np.median(early))
        spread = DEPARTED * noise(early, self.error[: found.at][known][: len(early)])
        at = found.at
        while at > len(early) and off[at - 1] > spread:
            at -= 1
        if at < found.at:
            return at
        seen = np.flatnonzero(off[at:] > min(spread, OF_CHANGE * abs(found.change)))
        return at + int(seen[0]) if len(seen) else at


def series(steps: Steps, values: Float64Array, prompts: NDArray[np.int64]) -> Series:
    """The mean of (n,) `values` by step, NaN ones left out. `prompts` (n,): equal numbers are equal prompts."""
    mean, count = steps.mean(values), steps.count(values)
    known = np.flatnonzero(np.isfinite(values))
    rows = steps.row[known]
    deviations = values[known] - mean[rows]
    unit = np.unique(np.stack([rows, prompts[known]]), axis=1, return_inverse=True)[1].ravel()
    sums = np.bincount(unit, deviations)
    of_unit = np.zeros(len(sums), np.int64)
    of_unit[unit] = rows
    units = np.bincount(of_unit, minlength=len(steps.numbers)).astype(np.float64)
    squares = np.bincount(of_unit, np.square(sums), len(steps.numbers))
    with np.errstate(invalid="ignore", divide="ignore"):
        # units / (units - 1): few prompts spread less around their own mean than around the true one
        error = np.sqrt(squares * units / (units - 1)) / count
    return Series(steps.numbers, mean, np.where(units > 1, error, np.nan), count)
