"""Where a curve over steps turns: one jump or one bend, against the curve's own noise. Arrays in, a turn out.

Two models are fitted to the curve at every possible step: a level that jumps to another, and a level that begins to rise or fall in a line.
The one that leaves the least is taken, and its gain over a level that never changes is counted in units of the noise, as a z. The noise is
robust: the median absolute deviation of what neighbouring steps differ by (Rousseeuw and Croux 1993, scaled by 1.4826 for a normal curve and
by the square root of 2 for a difference), never less than what the steps' own standard errors make of it.
"""

from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from board.metrics.formulas import Float64Array
from board.metrics.step_sums import Steps

LEAST_BEFORE: Final = 3
"""So many steps make a level to depart from, unless what comes is far off."""
LEAST_AFTER: Final = 2
"""One odd step is no turn, unless it is far off."""
CLEAR_AT_EDGE: Final = 8.0
"""z from which on fewer steps before or after are enough."""
FEW: Final = 5
"""Fewer steps do not tell their noise by what neighbours differ by, if they have errors."""
_ERRORS: Final = 8
"""So many differences of neighbours tell as much of the noise as the steps' own errors do."""
_MANY: Final = 50
"""Of so many steps what neighbours differ by tells the noise for sure."""
CLEAR: Final = 4.5
"""z from which on a turn is no chance: among 2 models at 100 steps each, 200 chances, one in 700 curves of pure noise goes so far."""


@dataclass(frozen=True)
class Turn:
    """Where a curve turns, and how clearly."""

    at: int
    """Index of the first step that departs."""
    step: int
    before: float
    """Mean level of the steps before."""
    after: float
    """Level at the end: of a jump the mean since, of a bend where its line ends."""
    z: float
    """How much better the turned curve fits than a level: the square root of the gain in squared noise."""
    is_jump: bool

    @property
    def change(self) -> float:
        """After minus before."""
        return self.after - self.before


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


@dataclass(frozen=True)
class Clusters:
    """The rollouts of a prompt in a step, which are alike: c of them."""

    of_rows: NDArray[np.int64]
    """(n,) the cluster of each rollout."""
    steps: NDArray[np.int64]
    """(c,) which step each is of."""
    sizes: NDArray[np.int64]
    """(c,) rollouts of each."""


def clusters(steps: Steps, prompts: NDArray[np.int64]) -> Clusters:
    """The clusters of (n,) rollouts; equal numbers are equal prompts."""
    span = np.int64(prompts.max(initial=0)) - np.int64(prompts.min(initial=0)) + 1
    codes = steps.row * span + (prompts - prompts.min(initial=0))
    found, of_rows, sizes = np.unique(codes, return_inverse=True, return_counts=True)
    return Clusters(of_rows.ravel().astype(np.int64), found // span, sizes)


def series(steps: Steps, values: Float64Array, clustered: Clusters) -> Series:
    """The mean of (n,) `values` by step, NaN ones left out; its error is clustered by prompt (Miller, arXiv 2411.00640, equation 4)."""
    mean, count = steps.mean(values), steps.count(values)
    known = np.flatnonzero(np.isfinite(values))
    units, size = clustered.of_rows[known], len(clustered.steps)
    sums = np.bincount(units, values[known] - mean[steps.row[known]], size)
    there = np.bincount(units, minlength=size) > 0
    number = np.bincount(clustered.steps[there], minlength=len(steps.numbers)).astype(np.float64)
    squares = np.bincount(clustered.steps, np.square(sums), len(steps.numbers))
    with np.errstate(invalid="ignore", divide="ignore"):
        # number / (number - 1): few prompts spread less around their own mean than around the true one
        error = np.sqrt(squares * number / (number - 1)) / count
    return Series(steps.numbers, mean, np.where(number > 1, error, np.nan), count)


def turn(curve: Series, floor: float = 0.0) -> Turn | None:
    """The clearest turn of a curve; None where fewer than two steps have a value, or none differs, or none could be clear.

    The noise is never taken for less than `floor`. A turn is returned however faint it is: ask its z.
    """
    known = np.flatnonzero(np.isfinite(curve.mean))
    if len(known) < 2:
        return None
    y, own = curve.mean[known], curve.error[known]
    if len(y) < FEW and not np.isfinite(own).any():
        return None
    spread = noise(y, own, floor)
    rest = float(np.square(y - y.mean()).sum())
    if rest == 0 or not np.isfinite(rest):
        return None
    best = _best(y, float(np.square(CLEAR_AT_EDGE * spread)))
    if best is None:
        return None
    at, is_jump, gain = best
    before, after = _levels(y, at, is_jump=is_jump)
    z = float(np.sqrt(gain) / spread) if spread > 0 else np.inf
    return Turn(int(known[at]), int(curve.steps[known[at]]), before, after, z, is_jump)


def noise(values: Float64Array, errors: Float64Array | None = None, floor: float = 0.0) -> float:
    """Standard deviation of a curve's values around its course, (n,) finite values, n >= 2; not less than the root mean square of their errors.

    Where there are few, neighbours hardly tell, as one jump is among two or three differences: the errors count as `_ERRORS` of these, and
    where there are fewer than FEW it is that of the errors alone. Neighbours that swing to and fro by chance differ by more than they spread:
    it is no more than what the best jump leaves.

    Not their median: where something is rare, most steps have none of it and an error of 0, and the few that have it are its noise.
    """
    if len(values) < FEW and errors is not None and np.isfinite(errors).any():
        known = errors[np.isfinite(errors)]
        return float(max(np.sqrt(np.square(known).mean()), floor, 1e-9 * float(np.abs(values).max(initial=0.0))))
    differences = np.diff(values)
    robust = 1.4826 * float(np.median(np.abs(differences - np.median(differences)))) / np.sqrt(2)
    of_errors = 0.0
    if errors is not None and np.isfinite(errors).any():
        of_errors = float(np.sqrt(np.square(errors[np.isfinite(errors)]).mean()))
        if of_errors > 0:
            robust = float(np.sqrt((len(differences) * robust**2 + _ERRORS * of_errors**2) / (len(differences) + _ERRORS)))
    if FEW <= len(values) < _MANY:
        centred = values - values.mean()
        left = float(np.square(centred).sum() - _jumps(centred)[1:-1].max())
        robust = min(robust, float(np.sqrt(max(left, 0.0) / (len(values) - 3))))
    return float(max(robust, of_errors, floor, 1e-9 * float(np.abs(values).max(initial=0.0))))


def _best(y: Float64Array, at_edge: float) -> tuple[int, bool, float] | None:
    """Where the better model turns, whether that is the jump, and by how much it lowers the squares that a level leaves.

    Both add one regressor x to the level, so that the gain is cov(x, y)² / var(x) in sums; these come from sums over the curve's tail.
    Nearer to an end than LEAST_BEFORE and LEAST_AFTER a jump counts that gains `at_edge`, and no bend.
    """
    n, centred = len(y), y - y.mean()
    tails = np.cumsum(centred[::-1])[::-1]  # sums of what is behind each step, itself included
    places = np.arange(1, n)
    m = (n - places).astype(np.float64)
    jumps = _jumps(centred)
    inner = (places >= LEAST_BEFORE) & (places <= n - LEAST_AFTER)
    jumps = np.where(inner | (jumps >= at_edge), jumps, 0.0)
    ramp, ramp_squares = m * (m + 1) / 2, m * (m + 1) * (2 * m + 1) / 6
    with np.errstate(divide="ignore", invalid="ignore"):
        bends = np.square(np.cumsum(tails[::-1])[::-1][places]) / (ramp_squares - ramp * ramp / n)
    bends = np.where(inner, bends, 0.0)
    is_jump = bool(jumps.max() >= bends.max())
    gains = jumps if is_jump else bends
    return (int(places[gains.argmax()]), is_jump, float(gains.max())) if inner.any() or gains.max() > 0 else None


def _jumps(centred: Float64Array) -> Float64Array:
    """(n - 1,) squares that a jump saves at each place but the first of (n,) values around their mean."""
    after = np.arange(len(centred) - 1.0, 0.0, -1.0)
    return np.square(np.cumsum(centred[::-1])[-2::-1]) * len(centred) / (after * (len(centred) - after))


def _levels(y: Float64Array, at: int, *, is_jump: bool) -> tuple[float, float]:
    """The level before the turn and at the end, by least squares."""
    if is_jump:
        return float(y[:at].mean()), float(y[at:].mean())
    line = np.maximum(np.arange(len(y), dtype=np.float64) - (at - 1), 0.0)
    x = line - line.mean()
    slope = float(x @ (y - y.mean()) / (x @ x))
    level = float(y.mean() - slope * line.mean())
    return level, level + slope * float(line[-1])
