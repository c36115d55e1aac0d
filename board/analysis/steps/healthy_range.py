"""Where a curve first leaves its healthy range or shows an unhealthy pattern."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Final

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from board.metrics.declared.contract import Interpretation, Pattern, Words
from board.metrics.formulas import Float64Array

NEGATIVE_STEPS: Final = 12
"""Logged steps in a row below 0: an estimate whose mean is 0 has so many by chance in one of 4,096 places."""

STOPPED_STEPS: Final = 5
"""Logged steps of exactly 0 that end a curve which was above 0 before."""

SPIKE: Final = 5.0
"""A spike is more than so many times the median of the values before, and beyond it by as many times their usual distance from it."""

BEFORE_SPIKE: Final = (5, 20)
"""How many values before it are needed to recognize a spike, and how many are used."""

Indices = NDArray[np.intp]


@dataclass(frozen=True)
class Departure:
    """The first step whose value is not healthy, and how many steps' are not."""

    step: int
    value: float
    steps: int
    pattern: Pattern | None = None
    """Of what the step is the beginning; None for a value outside the range."""


def first_departure(reading: Interpretation, steps: NDArray[np.int64], values: Float64Array) -> Departure | None:
    """Where a curve first leaves what is healthy; None where it never does. Only finite values can leave it."""
    known = np.flatnonzero(np.isfinite(values))
    steps, values = steps[known], values[known]
    outside = np.flatnonzero([not reading.healthy(value) for value in values.tolist()])
    found: list[tuple[Indices, Pattern | None]] = [(outside, None), *((_FIND[name](values), name) for name in reading.never)]
    left = [
        Departure(int(steps[places[0]]), float(values[places[0]]), len(places), pattern)
        for places, pattern in found
        if len(places)
    ]
    return min(left, key=lambda one: one.step, default=None)


def _negative(values: Float64Array) -> Indices:
    """Places in stretches of at least NEGATIVE_STEPS values below 0."""
    edges = np.flatnonzero(np.diff(np.concatenate([[False], values < 0, [False]]).astype(np.int8)))
    stretches = [np.arange(start, stop) for start, stop in edges.reshape(-1, 2) if stop - start >= NEGATIVE_STEPS]
    return np.concatenate([np.empty(0, np.intp), *stretches])


def _stopped(values: Float64Array) -> Indices:
    """Places of the zeros at the end, where there are at least STOPPED_STEPS and something above 0 before them."""
    others = np.flatnonzero(values != 0)
    zeros = np.arange(others[-1] + 1 if len(others) else 0, len(values))
    return zeros if len(zeros) >= STOPPED_STEPS and (values > 0).any() else zeros[:0]


def _spiked(values: Float64Array) -> Indices:
    """Places of values far above the median of those before them, which is above 0."""
    least, most = BEFORE_SPIKE
    curve = pd.Series(values)
    middle = curve.rolling(most, min_periods=least).median().shift()
    spread = (curve - middle).abs().rolling(most, min_periods=1).median().shift()
    return np.flatnonzero((middle > 0) & (curve > SPIKE * middle) & ~(curve <= middle + SPIKE * spread))


_FIND: Final[Mapping[Pattern, Callable[[Float64Array], Indices]]] = {
    "negative": _negative,
    "stopped": _stopped,
    "spiked": _spiked,
}

PATTERNS: Final[Mapping[Pattern, Words]] = {
    "negative": Words(f"below 0 for {NEGATIVE_STEPS} steps in a row or more", f"连续 {NEGATIVE_STEPS} 步或更久小于 0"),
    "stopped": Words("exactly 0 from here to the end, after values above 0", "此前大于 0，从这里起一直恰为 0"),
    "spiked": Words(f"more than {SPIKE:g} times the median of the steps before", f"超过此前各步中位数的 {SPIKE:g} 倍"),
}
"""What each pattern is called on the screen."""
