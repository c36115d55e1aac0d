"""What the rollouts are asked changes too: steps at which another mix of data sources begins, and numbers freed from the mix.

A curriculum explains a jump and is no fault. Arrays in, arrays and named steps out; knows no run and no metric.
"""

from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from board.findings.change_points import LEAST_AFTER
from board.metrics.formulas import Float64Array
from board.metrics.step_sums import Steps

LEAST_SHIFT: Final = 0.2
"""Half the sum of what the shares of all sources change by, from which on a mix is another one: a fifth of the batch."""

WINDOW: Final = 4
"""So many steps on either side make a mix."""
CLEAR: Final = 4.0
"""So many times what chance moves a mix by is no chance, among all the steps that are looked at."""

_ROUNDS: Final = 20

_VISITS: Final = 3
"""A prompt that so many steps have comes again."""
_MOST: Final = 0.9
"""Share of the rollouts whose prompt must come again for prompts to be compared with themselves."""


@dataclass(frozen=True)
class MixChange:
    """A step from which on the prompts are of another mix of data sources."""

    step: int
    moved: float
    """Share of the batch that is of another source than before, 0 to 1: the total variation distance."""
    source: int
    """The source whose share changed most."""
    before: float
    after: float
    """Its shares before and since."""


def mix_changes(steps: Steps, sources: NDArray[np.int64], prompts: NDArray[np.int64]) -> list[MixChange]:
    """The steps at which the mix of sources changes by LEAST_SHIFT for good.

    `sources` (n,): a number for each data source, -1 for none; `prompts` (n,): equal numbers are equal prompts, which are drawn together. The
    mix of the next WINDOW steps is held against that of as many before, and against what so many prompts differ by from chance.
    """
    count = int(sources.max(initial=-1)) + 1
    if count < 2:
        return []
    known = sources >= 0
    drawn = np.unique(np.stack([steps.row[known], sources[known], prompts[known]]), axis=1)
    table = np.zeros((len(steps.numbers), count))
    np.add.at(table, (drawn[0], drawn[1]), 1)
    found: list[MixChange] = []
    last = -WINDOW
    for at in range(LEAST_AFTER, len(table) - LEAST_AFTER + 1):
        before, after = table[max(0, at - WINDOW) : at].sum(axis=0), table[at : at + WINDOW].sum(axis=0)
        change = _mix_change(int(steps.numbers[at]), before, after)
        if change is None:
            continue
        if at - last < WINDOW and found:
            found[-1] = max(found[-1], change, key=lambda one: one.moved)
        else:
            found.append(change)
        last = at
    return found


def _mix_change(step: int, before: Float64Array, after: Float64Array) -> MixChange | None:
    if not (before.sum() and after.sum()):
        return None
    old, new = before / before.sum(), after / after.sum()
    moved = float(np.abs(new - old).sum() / 2)
    both = (before + after) / (before + after).sum()
    by_chance = float(np.sqrt(both * (1 - both) * (1 / before.sum() + 1 / after.sum())).sum() / 2)
    if moved < max(LEAST_SHIFT, CLEAR * by_chance):
        return None
    most = int(np.abs(new - old).argmax())
    return MixChange(step, moved, most, float(old[most]), float(new[most]))


def like_for_like(steps: Steps, sources: NDArray[np.int64], values: Float64Array) -> Float64Array:
    """Values freed from the mix of sources: what is left of each after its source's own level, plus the mean level. (n,), NaN stays NaN.

    Levels of sources and of steps are fitted together by least squares (two-way means, alternating), so that a source which comes late is
    not taken for a change of the steps, as far as another source was there before and after.
    """
    known = np.flatnonzero(np.isfinite(values) & (sources >= 0))
    count = int(sources.max(initial=-1)) + 1
    if count < 2 or not len(known):
        return values
    rows, of, y = steps.row[known], sources[known], values[known]
    in_rows, in_sources = np.bincount(rows, minlength=len(steps.numbers)), np.bincount(of, minlength=count)
    levels = np.zeros(count)
    for _ in range(_ROUNDS):
        by_step = np.bincount(rows, y - levels[of], len(steps.numbers)) / np.maximum(in_rows, 1)
        levels = np.bincount(of, y - by_step[rows], count) / np.maximum(in_sources, 1)
    mean_level = float((levels * in_sources).sum() / in_sources.sum())
    freed = np.array(values)
    freed[known] = y - levels[of] + mean_level
    return freed


def prompt_for_prompt(steps: Steps, prompts: NDArray[np.int64], sources: NDArray[np.int64], values: Float64Array) -> Float64Array:
    """Values freed from which prompts a step has, where nearly all come again, else `like_for_like`. All (n,), prompts numbered from 0."""
    visits = np.unique(np.stack([prompts, steps.row]), axis=1)[0]
    often = np.bincount(visits, minlength=int(prompts.max(initial=-1)) + 1)[prompts] >= _VISITS
    return like_for_like(steps, prompts if len(often) and often.mean() >= _MOST else sources, values)
