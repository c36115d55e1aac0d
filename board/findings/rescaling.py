"""Whether numbers are earlier ones multiplied or shifted. Arrays in, the rescaling out.

Where there are few values, such as 0 and 1, the values tell: old ones vanish, and new ones are where a factor or a shift puts the old. Else
the distributions do: after and before differ, and after one factor, or one shift, do not (two-sample Kolmogorov-Smirnov).
"""

from dataclasses import dataclass
from typing import Final

import numpy as np

from board.findings.change_points import CLEAR
from board.metrics.formulas import Float64Array
from board.text.format_number import fmt

LEAST: Final = 20
"""With fewer numbers on either side nothing is found."""
_MANY: Final = 200
_MIXED: Final = 0.15
"""Least von Neumann ratio: 1 for a sample, less where groups are alike, near 0 for a line."""
MOST_VALUES: Final = 12
"""Numbers of at most so many distinct values are compared value by value."""
_COVERED: Final = 0.9
"""Share of the later numbers that must lie where the rescaling puts the earlier values."""
_LEFT: Final = 0.05
"""Share of the later numbers that may still have an old value which the rescaling moves elsewhere."""
_DIFFERENT: Final = 0.2
"""Kolmogorov-Smirnov distance, beyond what chance allows, from which on two distributions are others."""

_BOTH: Final = 5.0
"""Minus the logarithm of the chance that an old value is gone, and that a new one was not there, from which on each counts."""
_OF_VALUES: Final = 0.2
_LARGE: Final = 1.6
"""Kolmogorov-Smirnov statistic that chance exceeds in one of a hundred."""


@dataclass(frozen=True)
class Rescaling:
    """after = factor × before + shift."""

    factor: float
    shift: float
    in_spreads: float
    """The shift in standard deviations of the numbers before."""
    z: float
    is_certain: bool = False
    """Found by distinct values: the old ones are gone."""

    def undone(self, after: Float64Array) -> Float64Array:
        """What the numbers would have been before, shape as given."""
        return (after - self.shift) / self.factor

    def is_large(self, least_factor: float, least_shift: float) -> bool:
        """Whether the factor or the shift is as large as that; a fifth of the way is enough where the values themselves tell."""
        share = _OF_VALUES if self.is_certain else 1.0
        factor = max(abs(self.factor), 1 / abs(self.factor)) if self.factor else np.inf
        return bool(self.factor < 0 or factor >= least_factor**share or abs(self.in_spreads) >= least_shift * share)

    def wording(self) -> str:
        """In words: "are multiplied by 5"."""
        multiplied = f"are multiplied by {fmt(self.factor)}" if self.factor != 1 else ""
        shifted = f"are shifted by {fmt(self.shift)}" if self.shift else ""
        return " and ".join(filter(None, (multiplied, shifted)))


def rescaling(before: Float64Array, after: Float64Array, least_factor: float, least_shift: float) -> Rescaling | None:
    """How `after` (m,) is a rescaled `before` (n,), finite both; None where it is not, or by less than the least factor and shift.

    `least_shift` is in standard deviations of `before`.
    """
    if min(len(before), len(after)) < LEAST or not (_is_mixed(before) and _is_mixed(after)):
        return None
    old, new = (np.unique(_rounded(one)) for one in (before, after))
    if len(old) <= MOST_VALUES and len(new) <= MOST_VALUES:
        found = _of_values(_rounded(before), _rounded(after))
    else:
        found = _of_distributions(before, after)
    if found is None:
        return None
    return found if found.is_large(least_factor, least_shift) else None


def _is_mixed(values: Float64Array) -> bool:
    """Whether numbers in the order of time are a sample rather than a course: neighbours differ as any two do (von Neumann's ratio)."""
    variance = float(values.var())
    return variance == 0 or float(np.square(np.diff(values)).mean()) / (2 * variance) > _MIXED


def _rounded(values: Float64Array) -> Float64Array:
    """Six significant digits of the largest: float32, and sums in another order, make no other values."""
    size = float(np.abs(values).max(initial=0.0))
    digits = 5 - int(np.floor(np.log10(size))) if size > 0 else 0
    return np.round(values, digits) + 0.0


def _of_values(before: Float64Array, after: Float64Array) -> Rescaling | None:
    """As `rescaling`, by the few values that numbers have, whatever the size of the factor and the shift.

    Where old values and new ones overlap, the shares of the values must be as before.
    """
    gone = float((~np.isin(before, after)).mean())
    come = float((~np.isin(after, before)).mean())
    # by chance none of m is of a share p with exp(-m p); each must be clear by itself, and both together say how clearly
    exponents = gone * len(after), come * len(before)
    z = float(np.sqrt(2 * sum(exponents))) if min(exponents) >= _BOTH else 0.0
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
    """The factor where spreads differ clearly, else the shift where levels do, if that lays the one sample on the other."""
    spreads = float(before.std()), float(after.std())
    if not min(spreads) > 0:
        return None
    chance = _chance(before, after)
    factor, shift = spreads[1] / spreads[0], float(np.median(after) - np.median(before))
    z = abs(np.log(factor)) / float(np.sqrt(0.5 / len(before) + 0.5 / len(after)))
    level = float(after.mean() - factor * before.mean())
    # a factor and a shift at once fit many samples that are neither: only many numbers can tell
    others = (0.0, level) if min(len(before), len(after)) >= _MANY else (0.0,)
    if z > CLEAR and _widens_both_ways(before, after, factor):
        for other in others:
            mapped = factor * before + other
            if distance(mapped, after) <= chance and _has_same_flanks(mapped, after):
                return Rescaling(factor, other, other / spreads[0], float(z))
    apart = distance(before, after)
    if apart < chance + _DIFFERENT or distance(before + shift, after) > chance or not _has_same_ends(before + shift, after):
        return None
    return Rescaling(1.0, shift, shift / spreads[0], float(2 * apart / chance * _LARGE))


def _widens_both_ways(before: Float64Array, after: Float64Array, factor: float) -> bool:
    """Whether both halves of a sample are spread by about the factor: a bonus for some rollouts spreads one of them."""
    ratios = []
    for low, high in ((0.15, 0.5), (0.5, 0.85)):
        old, new = (float(np.subtract(*np.quantile(one, (high, low)))) for one in (before, after))
        ratios.append(np.log(new / old) / np.log(factor) if min(old, new) > 0 else 0.0)
    return bool(min(ratios) > 0.4)


def _has_same_flanks(one: Float64Array, other: Float64Array) -> bool:
    """Whether the 15th and the 85th percentile of two samples are nearer to each other than chance and a little learning put them apart."""
    off = np.abs(np.subtract(*(np.quantile(some, (0.15, 0.85)) for some in (one, other))))
    return bool(off.max() <= (0.3 + 1.5 / np.sqrt(min(len(one), len(other)))) * other.std())


def _has_same_ends(one: Float64Array, other: Float64Array) -> bool:
    """Whether two samples end about where the other does: what is shifted leaves no value where the best ones were before."""
    off = max(abs(float(one.min() - other.min())), abs(float(one.max() - other.max())))
    return off <= float(max(one.std(), other.std()))


def distance(one: Float64Array, other: Float64Array) -> float:
    """The largest difference of two samples' distribution functions, 0 to 1 (Kolmogorov-Smirnov)."""
    one, other = np.sort(one), np.sort(other)
    places = np.concatenate([one, other])
    shares = [np.searchsorted(some, places, side="right") / len(some) for some in (one, other)]
    return float(np.abs(shares[0] - shares[1]).max())
