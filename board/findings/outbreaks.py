"""Rollouts with a fault: from which step on there are some, and how far beyond chance. Arrays in, an outbreak out.

For faults that a sound run does not have at all, such as an advantage of the wrong sign: their share by step has no noise to
be compared with: it is 0, and then it is not.
"""

from dataclasses import dataclass
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from board.findings.context import Context
from board.findings.contract import Found, Limits
from board.metrics.formulas import Float64Array
from board.metrics.step_sums import Steps

CLEAR: Final = 5.0
"""Log-likelihood that two shares must gain over one: with a hundred places to divide at, one run in fifty gains so much by chance."""

_GAP: Final = 2
"""Marked steps so far apart, or less, are one stretch: what grows begins with little."""


@dataclass(frozen=True)
class Outbreak:
    """Where marked rollouts begin, and how many there are since."""

    at: int
    """Index of the first step with one, of those since their share is another."""
    step: int
    last_step: int
    """The last step with one."""
    before: float
    """Share of the rollouts before that are marked, 0 to 1; 0 where there are none before."""
    share: float
    """Of those from there to the last step with one."""
    count: int
    """Marked rollouts since."""
    z: float
    """The square root of twice the log-likelihood ratio of that share against the usual one; 0 where it is no larger."""

    def found(self, effect: str, rollouts: NDArray[np.int64], **more: Any) -> Found:
        """What a kind says of it whose threshold is that of the share."""
        return Found(effect, self.step, self.last_step, "share", self.share, self.z, rollouts, **more)


def judged(
    context: Context, marks: NDArray[np.bool_], known: NDArray[np.bool_], limits: Limits, **usual: float
) -> Outbreak | None:
    """The outbreak of `marks` among `known` rows where it is as large, and as clear, as a kind's thresholds say."""
    found = outbreak(context.steps, marks, known, **({"usual": limits["share"]} | usual))
    return None if found is None or found.share < limits["share"] or found.z < limits["z"] else found


def outbreak(steps: Steps, marks: NDArray[np.bool_], known: NDArray[np.bool_], usual: float = 0.01) -> Outbreak | None:
    """Where the share of `marks` among the `known` rows, (rows,) each, begins to be larger; None where no known row is marked.

    `usual` is the share that is no fault, or the share before where that is larger. The step is the one that divides the run into two
    binomial shares best, if the later one is larger; else the first with a mark.
    """
    size = len(steps.numbers)
    n = np.bincount(steps.row[known], minlength=size).astype(np.float64)
    k = np.bincount(steps.row[known & marks], minlength=size).astype(np.float64)
    marked = np.flatnonzero(k)
    if not len(marked):
        return None
    at, last = _first_of_stretch(marked, divided(k, n)[0]), int(marked[-1])
    before = float(k[:at].sum() / n[:at].sum()) if n[:at].sum() else 0.0
    count, rows = float(k[at : last + 1].sum()), float(n[at : last + 1].sum())
    z = beyond(count, rows, max(usual, before))
    return Outbreak(at, int(steps.numbers[at]), int(steps.numbers[last]), before, count / rows, int(count), z)


def beyond(count: float, rows: float, expected: float) -> float:
    """How clearly `count` of `rows` is more than an expected share: root of twice the log-likelihood ratio; 0 where it is no more."""
    if not rows or count / rows <= expected:
        return 0.0
    against = count * np.log(expected) + (rows - count) * np.log1p(-expected) if expected < 1 else 0.0
    gain = float(_fit(np.array(count), np.array(rows)) - against)
    return float(np.sqrt(2 * max(0.0, gain)))


def divided(k: Float64Array, n: Float64Array) -> tuple[int, float]:
    """The place at which two shares, a smaller and then a larger one, fit `k` of `n` best, (steps,) each, and the log-likelihood they gain.

    0 where one share fits about as well, or it falls.
    """
    k_before, n_before = np.cumsum(k)[:-1], np.cumsum(n)[:-1]
    k_after, n_after = k.sum() - k_before, n.sum() - n_before
    if not len(k_before):
        return 0, 0.0
    rises = k_after * n_before > k_before * n_after
    whole = float(_fit(k.sum(keepdims=True), n.sum(keepdims=True))[0])
    fits = np.where(rises, _fit(k_before, n_before) + _fit(k_after, n_after), -np.inf)
    best = int(fits.argmax())
    gain = float(fits[best]) - whole
    return (best + 1, gain) if gain > CLEAR else (0, 0.0)


def _first_of_stretch(marked: NDArray[np.int64], at: int) -> int:
    """The first marked step from `at` on, or before it where it grows out of earlier ones with no more than a step between."""
    place = min(int(np.searchsorted(marked, at)), len(marked) - 1)
    while place and marked[place] - marked[place - 1] <= _GAP:
        place -= 1
    return int(marked[place])


def _fit(k: Float64Array, n: Float64Array) -> Float64Array:
    """Log-likelihood of k of n at their own share."""
    share = k / np.maximum(n, 1)
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(k > 0, k * np.log(share), 0.0) + np.where(n > k, (n - k) * np.log1p(-share), 0.0)
