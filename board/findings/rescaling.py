"""Whether numbers are earlier ones multiplied or shifted. Arrays in, the rescaling out; knows no run and no reward.

Where there are few values, such as 0 and 1, the values tell: old ones vanish, and new ones are where a factor or a shift puts the old. Else
the distributions do: after and before differ, and after one factor, or one shift, do not (two-sample Kolmogorov-Smirnov).
"""

from dataclasses import dataclass, replace
from typing import Final

import numpy as np

from board.metrics.formulas import Float64Array
from board.metrics.step_sums import Steps
from board.text.format_number import fmt

MOST_VALUES: Final = 12
"""Numbers of so many values, or fewer, are told by their values."""
_COVERED: Final = 0.9
"""Share of the later numbers that must lie where the rescaling puts the earlier values."""
_LEFT: Final = 0.05
"""Share of the later numbers that may still have an old value which the rescaling moves elsewhere."""
_DIFFERENT: Final = 0.2
"""Kolmogorov-Smirnov distance, beyond what chance allows, from which on two distributions are others."""

_LARGE: Final = 1.6
"""Kolmogorov-Smirnov statistic that chance exceeds in one of a hundred."""
_LEAST_SEEN: Final = 40
"""So many numbers show which values there are."""


@dataclass(frozen=True)
class Rescaling:
    """after = factor × before + shift."""

    factor: float
    shift: float
    in_spreads: float
    """The shift in standard deviations of the numbers before."""
    z: float
    is_certain: bool = False
    """Told by values: what was there is there no more."""

    def undone(self, after: Float64Array) -> Float64Array:
        """What the numbers would have been before, shape as given."""
        return (after - self.shift) / self.factor

    def told(self) -> str:
        """In words: "are multiplied by 5"."""
        multiplied = f"are multiplied by {fmt(self.factor)}" if self.factor != 1 else ""
        shifted = f"are shifted by {fmt(self.shift)}" if self.shift else ""
        return " and ".join(filter(None, (multiplied, shifted)))


def rescaling(before: Float64Array, after: Float64Array, least_factor: float, least_shift: float) -> Rescaling | None:
    """How `after` (m,) is a rescaled `before` (n,), finite both; None where it is not, or by less than the least factor and shift.

    `least_shift` is in standard deviations of `before`.
    """
    if len(before) < 2 or len(after) < 2:
        return None
    old, new = (np.unique(_rounded(one)) for one in (before, after))
    if len(old) <= MOST_VALUES and len(new) <= MOST_VALUES:
        found = _of_values(_rounded(before), _rounded(after))
    else:
        found = _of_distributions(before, after)
    if found is None:
        return None
    large = max(found.factor, 1 / found.factor) >= least_factor if found.factor > 0 else True
    return found if large or abs(found.in_spreads) >= least_shift else None


def _rounded(values: Float64Array) -> Float64Array:
    """Six significant digits of the largest: float32, and sums in another order, make no other values."""
    size = float(np.abs(values).max(initial=0.0))
    digits = 5 - int(np.floor(np.log10(size))) if size > 0 else 0
    return np.round(values, digits) + 0.0


def _of_values(before: Float64Array, after: Float64Array) -> Rescaling | None:
    """As `rescaling`, by the few values that numbers have, whatever the size of the factor and the shift."""
    gone = float((~np.isin(before, after)).mean())
    come = float((~np.isin(after, before)).mean())
    # by chance none of m is of a share p with exp(-m p)
    z = float(np.sqrt(2 * min(gone * len(after), come * len(before))))
    old = np.unique(before)
    spread = float(before.std())
    for factor, shift in _maps(old, np.unique(after)):
        where = factor * old + shift
        near = np.abs(after[:, np.newaxis] - where).min(axis=1) <= 1e-4 * max(1e-12, float(np.abs(where).max()))
        if near.mean() < _COVERED:
            continue
        # 0 multiplied stays 0; any other old value that is still there leaves it open
        left = np.isin(after, before) & ~np.isin(after, old[np.isclose(where, old)])
        is_certain = bool(left.mean() <= _LEFT)
        if is_certain or distance(where[np.searchsorted(old, before)], after) <= _chance(before, after):
            in_spreads = shift / spread if spread > 0 else np.inf * np.sign(shift)
            return Rescaling(factor, shift, in_spreads, z, is_certain)
    return None


def _chance(one: Float64Array, other: Float64Array) -> float:
    """The distance that two samples of one distribution hardly reach."""
    return _LARGE * float(np.sqrt(1 / len(one) + 1 / len(other)))


def _maps(old: Float64Array, new: Float64Array) -> list[tuple[float, float]]:
    """Factors and shifts that lay the ends of the old values on the ends of the new: a factor alone, a shift alone, then both."""
    largest, now = old[np.abs(old).argmax()], new[np.abs(new).argmax()]
    found = [(float(now / largest), 0.0)] if largest and now else []
    found += [(1.0, float(new[0] - old[0])), (1.0, float(new[-1] - old[-1]))]
    if len(old) > 1 and len(new) > 1:
        factor = float((new[-1] - new[0]) / (old[-1] - old[0]))
        found.append((factor, float(new[0] - factor * old[0])))
    return [(factor, shift) for factor, shift in found if (factor, shift) != (1.0, 0.0)]


def _of_distributions(before: Float64Array, after: Float64Array) -> Rescaling | None:
    spreads = float(before.std()), float(after.std())
    if not min(spreads) > 0:
        return None
    chance, apart = _chance(before, after), distance(before, after)
    if apart < chance + _DIFFERENT:
        return None
    factor, shift = spreads[1] / spreads[0], float(np.median(after) - np.median(before))
    level = float(after.mean() - factor * before.mean())
    z = max(2 * apart / chance * _LARGE, abs(np.log(factor)) / float(np.sqrt(0.5 / len(before) + 0.5 / len(after))))
    for one, other in ((factor, 0.0), (1.0, shift), (factor, level)):
        if distance(one * before + other, after) <= chance:
            return Rescaling(float(one), other, other / spreads[0], float(z))
    return None


def creep(steps: Steps, values: Float64Array) -> tuple[int, Rescaling] | None:
    """From which step on (its index) each step's few values are another rescaling of the old ones, and the last of these; None if there is none.

    `values` (n,), finite, in the order of `steps`. What must hold: at least _LEAST_SEEN numbers before, of at most MOST_VALUES values, no
    more values in any step since, and hardly a step since of old values alone.
    """
    rounded = _rounded(values)
    bounds = np.searchsorted(steps.row, np.arange(len(steps.numbers) + 1))
    seen = np.unique(rounded[: bounds[np.searchsorted(bounds, _LEAST_SEEN)]]) if len(values) > _LEAST_SEEN else rounded
    is_new = ~np.isin(rounded, seen)
    if len(seen) > MOST_VALUES or not is_new.any():
        return None
    at = int(steps.row[is_new.argmax()])
    before, after = rounded[: bounds[at]], rounded[bounds[at] :]
    # a step with any new value is of the new scale, a step of zeros of either
    has_new = np.bincount(steps.row, is_new, len(steps.numbers)) > 0
    as_before = (after != 0) & ~has_new[steps.row[bounds[at] :]]
    few = max(len(np.unique(rounded[low:high])) for low, high in zip(bounds[at:-1], bounds[at + 1 :], strict=True)) <= len(seen)
    if len(before) < _LEAST_SEEN or not few or as_before.mean() > _LEFT:
        return None
    last = int(np.flatnonzero(has_new)[-1])
    found = _of_values(before, rounded[bounds[last] : bounds[last + 1]])
    gone = float((before != 0).mean()) * len(after)
    return None if found is None else (at, replace(found, z=float(np.sqrt(2 * min(gone, is_new.sum())))))


def drift(before: Float64Array, after: Float64Array) -> Rescaling | None:
    """By which factor `after` (m,) is spread wider or less than `before` (n,), many values each; None where their shapes differ otherwise.

    For a scale that creeps: levels may have moved on by learning, so that the shapes are allowed to differ by a little more than chance.
    """
    spreads = float(before.std()), float(after.std())
    if not min(spreads) > 0 or min(len(np.unique(before)), len(np.unique(after))) <= MOST_VALUES:
        return None
    factor = spreads[1] / spreads[0]
    if distance(factor * (before - before.mean()), after - after.mean()) > _chance(before, after):
        return None
    return Rescaling(factor, 0.0, 0.0, abs(np.log(factor)) / float(np.sqrt(0.5 / len(before) + 0.5 / len(after))))


def distance(one: Float64Array, other: Float64Array) -> float:
    """The largest difference of two samples' distribution functions, 0 to 1 (Kolmogorov-Smirnov)."""
    one, other = np.sort(one), np.sort(other)
    places = np.concatenate([one, other])
    shares = [np.searchsorted(some, places, side="right") / len(some) for some in (one, other)]
    return float(np.abs(shares[0] - shares[1]).max())
