"""Where a curve over steps leaves its level in the direction that harms, and whether it comes back. Arrays in, departures out.

The curve is cut into stretches of one level each: the cut that leaves the least squares, in units of the noise, when every further stretch costs
`_COST` (optimal partitioning, Jackson et al. 2005). The levels are then walked through: the best of them so far is what a later one is held
against, so that a slow fall is one departure, however many stretches it makes.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Final

import numpy as np

from board.findings.change_points import Series, Turn, noise
from board.metrics.formulas import Float64Array

CLEAR: Final = 4.5
"""Standard errors between two levels from which on they are two, unless a kind says another number."""
_ALONE: Final = 1.5
"""So many more for a stretch of one step, half of it for one of two: of hundreds of steps one is off by chance, as noise is not quite normal."""
OWN: Final = 3.0
"""Its own standard errors that a level is off by: where something is rare a step that has it is less sure than all that have not."""
_COST: Final = 16.0
"""Squares, in units of the noise, that one more stretch must save."""
_MOST: Final = 400
"""Longer curves are averaged over neighbouring steps to at most so many points."""
_AROUND: Final = 10
"""Steps before its first stretch at which a departure may have begun, each of which is tried,"""
_PLACES: Final = 24
"""and so many before them."""
_ROUNDING: Final = 1e-12
_LENGTHS: Final = np.array([1, 2, 3, 4, 6, 8, 11, 16, 23, 32, 45, 64, 90, 128, 181, 256])
"""Steps that it may take."""
_TREND: Final = 4
"""So many steps before it tell whether a curve moved slowly all the while."""
_SEEN: Final = 0.15
"""A way that begins without being seen, by such a share of the change, begins later."""
_SHORT: Final = 0.3
"""A level of a smaller share of the steps so far is no level to be held to, where it was elsewhere just before,"""
_HALF: Final = 0.5
"""or of less than this share, where it began elsewhere;"""
_NOT_BACK: Final = 0.3
"""elsewhere is within such a share of the way."""
_BACK: Final = 0.5
"""A curve is back when it lost so much of what it departed by."""


@dataclass(frozen=True)
class Excursion:
    """A curve that leaves its level."""

    at: int
    """Index of the first step that is off."""
    end: int
    """Index behind the last step that is off."""
    stays: bool
    """Whether it is off to the end of the curve."""
    before: float
    """The level it left: the best before it."""
    after: float
    """The level it stays at, or the farthest one where it comes back."""
    z: float
    """How far the levels are apart, in standard errors."""

    @property
    def change(self) -> float:
        """After minus before."""
        return self.after - self.before


@dataclass(frozen=True)
class _Noise:
    of_steps: float
    """Standard deviation of a step around its level."""
    errors: Float64Array
    """(n,) what each step must be off by for its own standard error, NaN where that is not known."""
    clear: float

    def own(self, stretch: "_Stretch") -> float:
        """Standard error of a level's mean by its steps' own errors: a mean that one rollout makes is no level."""
        known = self.errors[stretch.start : stretch.stop]
        known = known[np.isfinite(known)]
        return float(np.sqrt(np.square(known).sum())) / len(known) if len(known) else 0.0


@dataclass(frozen=True)
class _Stretch:
    start: int
    stop: int
    level: float


def departures(
    curve: Series,
    direction: int,
    least: float,
    floor: float = 0.0,
    within: int | None = None,
    share: float = 0.0,
    own: float = OWN,
    clear: float = CLEAR,
) -> list[Excursion]:
    """The departures of a curve in a direction (1: up, -1: down), of `least` and `share` of the level before or more, in order.

    `floor`: the noise is taken for no less. `within`: it must get so far off within so many steps, else any time will do. `own`: by so many
    standard errors of its own steps a level must be off, `clear`: and by so many of the noise.
    """
    known = np.flatnonzero(np.isfinite(curve.mean))
    # in units of the largest, so that no square is beyond what a float holds
    unit = direction * float(np.abs(curve.mean[known]).max(initial=0.0))
    if len(known) < 2 or not unit:
        return []
    per = -(-len(known) // _MOST)
    starts = np.arange(0, len(known), per)
    counts = np.diff(np.append(starts, len(known)))
    y = np.add.reduceat(curve.mean[known] / unit, starts) / counts
    errors = np.sqrt(np.add.reduceat(np.square(curve.error[known] / unit), starts)) / counts
    spread = noise(y, errors, floor / abs(unit) / np.sqrt(per))
    if not spread > 0:
        return []
    reach = len(y) if within is None else -(-within // per)
    found = []
    for one in _walk(_stretches(y, spread), y, _Noise(spread, errors * own, clear), least / abs(unit), share, reach):
        end = int(known[-1]) + 1 if one.end == len(starts) else int(known[starts[one.end]])
        found.append(replace(one, at=int(known[starts[one.at]]), end=end, before=unit * one.before, after=unit * one.after))
    return found


def dated(curve: Series, found: Turn) -> int:
    """Index of the first step that is clearly off the early level of a curve that turns: the fitted jump or bend may begin elsewhere."""
    at, known = found.at, np.flatnonzero(np.isfinite(curve.mean[: found.at]))
    early = known[: len(known) // 2]
    if len(early) < 2:
        return at
    off = np.sign(found.change) * (curve.mean - np.median(curve.mean[early]))
    clear = OWN * noise(curve.mean[known], curve.error[known])
    while at > early[-1] + 1 and off[at - 1] > clear:
        at -= 1
    seen = np.flatnonzero(off[at:] > min(clear, _SEEN * abs(found.change)))
    return at + int(seen[0]) if len(seen) and not found.is_jump else at


def _stretches(y: Float64Array, spread: float) -> list[_Stretch]:
    """The cut into levels that leaves the least, each stretch at its cost."""
    n = len(y)
    centred = (y - y.mean()) / spread
    sums = np.concatenate([[0.0], np.cumsum(centred)])
    squares = np.concatenate([[0.0], np.cumsum(np.square(centred))])
    best, last = np.zeros(n + 1), np.zeros(n + 1, np.int64)
    lengths = np.arange(n, 0, -1)
    for stop in range(1, n + 1):
        left = squares[stop] - squares[:stop] - np.square(sums[stop] - sums[:stop]) / lengths[-stop:]
        total = best[:stop] + left + _COST
        last[stop] = int(total.argmin())
        best[stop] = total[last[stop]]
    cuts = [n]
    while cuts[-1]:
        cuts.append(int(last[cuts[-1]]))
    edges = cuts[::-1]
    return [_Stretch(a, b, float(y[a:b].mean())) for a, b in pairwise(edges)]


def _walk(
    stretches: list[_Stretch], y: Float64Array, noisy: _Noise, least: float, share: float, reach: int
) -> Iterator[Excursion]:
    """Departures upwards: from the lowest level of the last `reach` steps, until half of the way is gone back."""
    number = 1
    while number < len(stretches):
        base = min((one for one in stretches[:number] if one.stop > stretches[number].start - reach), key=lambda one: one.level)
        off = stretches[number]
        needed = max(least, share * abs(base.level))
        alike = [one for one in stretches[number + 1 :] if one.level <= base.level + _NOT_BACK * (off.level - base.level)]
        clear = _is_clear(base, off, noisy, sum(map(_size, alike)))
        if off.level - base.level < needed or not clear or _is_return(stretches[:number], base, off):
            number += 1
            continue
        here = _level_left(stretches[:number], base, off)
        # a climb in stairs began with the first stair above the base
        first = number
        while first - 1 > 0 and stretches[first - 1].start >= here.stop and stretches[first - 1].level > base.level:
            first -= 1
        last, farthest, limit = number, off, stretches[number].start + reach
        while last + 1 < len(stretches) and stretches[last + 1].level > base.level + (1 - _BACK) * (farthest.level - base.level):
            last += 1
            if stretches[last].start < limit:
                farthest = max(farthest, stretches[last], key=lambda one: one.level)
        stays = last + 1 == len(stretches)
        starts = stretches[first].start, stretches[number].start
        at = _dated(y, starts, stretches[last] if stays else farthest, here, noisy.of_steps, reach)
        end = stretches[last].stop
        after = stretches[last].level if stays and reach >= len(y) else farthest.level
        z = _z(base, farthest, noisy)
        yield Excursion(at, end, stays, base.level, after, z)
        number = last + 1


def _size(stretch: _Stretch) -> int:
    return stretch.stop - stretch.start


def _is_return(before: list[_Stretch], base: _Stretch, off: _Stretch) -> bool:
    """Whether the level it left was the exception: reached at once from about where it is now, and seldom held."""
    worse, better = off.level - _NOT_BACK * (off.level - base.level), base.level + _NOT_BACK * (off.level - base.level)
    there = [one.stop for one in before if one.level >= worse and one.stop <= base.start]
    if not there or any(better < one.level < worse for one in before if there[-1] <= one.start < base.start):
        return False
    held = sum(_size(one) for one in before if one.level <= better)
    return held < (_HALF if before[0].level >= worse else _SHORT) * off.start


def _level_left(before: list[_Stretch], base: _Stretch, off: _Stretch) -> _Stretch:
    """The base, or the lowest stretch since it was as far off last: each episode is dated by what was just before."""
    worse = off.level - _NOT_BACK * (off.level - base.level)
    off_last = [one.stop for one in before if one.start >= base.stop and one.level >= worse]
    since = [one for one in before if off_last and one.start >= off_last[-1] and one.level < worse]
    return min(since, key=lambda one: one.level, default=base)


def _is_clear(base: _Stretch, off: _Stretch, noisy: _Noise, again: int) -> bool:
    """Whether two levels are apart; where the base is one step, `again` is how many steps behind are as it was: then it is no odd one."""
    far = off.level - base.level >= noisy.own(off)
    if min(_size(off), _size(base)) > 1:
        return far and _z(base, off, noisy) >= noisy.clear + (_size(off) == 2) * _ALONE / 2
    # there is but one first step, which is not the odd one of hundreds
    alone = _ALONE / 3 if base.start == 0 and _size(off) > 2 else _ALONE
    sure = _z(base, off, noisy, again if _size(off) > 1 else 0) >= noisy.clear + alone
    return far and sure and (again >= _size(off) > 1 or _z(base, off, noisy) >= noisy.clear)


def _z(base: _Stretch, off: _Stretch, noisy: _Noise, again: int = 0) -> float:
    return float((off.level - base.level) / (noisy.of_steps * np.sqrt(1 / _size(off) + 1 / (_size(base) + again))))


def _dated(y: Float64Array, starts: tuple[int, int], last: _Stretch, base: _Stretch, spread: float, reach: int) -> int:
    """The step at which it leaves: of all straight ways from one level to another, the one that leaves the least squares.

    `starts`: where its first stretch begins, and the first that is far enough off. A way of one step is a jump.
    """
    part, here, far = y[base.start : last.stop], starts[0] - base.start, starts[1] - base.start
    places = np.arange(len(part))
    left: dict[int, float] = {}
    near = np.arange(here - min(_AROUND, reach), min(len(part) - 1, min(far, here + _AROUND) + 2) + 1)
    for begin in np.unique(
        np.concatenate([near, np.linspace(max(1, here - reach), here, _PLACES).astype(np.int64)]).clip(1)
    ).tolist():
        lengths = _LENGTHS[(begin + _LENGTHS <= max(len(part), begin + 1)) & (max(reach, 1) >= _LENGTHS)]
        # what moved slowly all the while before does not date it
        slow = np.minimum(places / (begin - 1), 1.0) if begin >= _TREND else None
        ways = np.clip((places - begin + 1) / lengths[:, np.newaxis], 0.0, 1.0)
        left[begin] = float(squares_left(part, ways, slow, _BACK * (last.level - base.level)).min())
    # of those that fit as well, the earliest: who looks for the cause must not begin behind it
    best = min(left.values()) + spread**2
    begin = min(begin for begin, squares in left.items() if squares <= best)
    # noise just before is no way: the steps up to its stretch are off together, or it begins later
    while begin < here and (part[begin:here] - base.level).mean() < OWN * spread / np.sqrt(here - begin):
        begin += 1
    return base.start + begin


def squares_left(y: Float64Array, ways: Float64Array, slow: Float64Array | None = None, most: float = np.inf) -> Float64Array:
    """(l,) what a level and a multiple of each of `ways` (l, n), and one of `slow` (n,) if no more than `most`, leave of a curve (n,)."""
    y, ways = y - y.mean(), ways - ways.mean(axis=1, keepdims=True)
    left = y @ y - _share(ways, y) * (ways @ y)
    if slow is None:
        return left
    slow = slow - slow.mean()
    along, of_y = _share(slow, ways.T), float(_share(slow, y))
    others, rest = ways - along[:, np.newaxis] * slow, y - of_y * slow
    by = _share(others, rest)
    return np.where(np.abs(of_y - by * along) <= most, rest @ rest - by * (others @ rest), left)


def _share(of: Float64Array, y: Float64Array) -> Float64Array:
    """How often each of some arrays (l, n), or the only one (n,), is in others, by least squares; 0 where it is no more than rounding."""
    squares = np.square(of).sum(axis=-1)
    return np.asarray(np.where(squares > _ROUNDING, of @ y, 0.0) / np.maximum(squares, _ROUNDING), np.float64)
