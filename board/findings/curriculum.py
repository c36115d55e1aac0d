"""What the rollouts are asked changes too: numbers freed from the mix of data sources, or from which prompts a step has.

A curriculum explains a jump and is no fault. Arrays in, arrays out; knows no run and no metric.
"""

from typing import Final

import numpy as np
from numpy.typing import NDArray

from board.metrics.formulas import Float64Array
from board.metrics.step_sums import Steps

_ROUNDS: Final = 20

_VISITS: Final = 3
"""A prompt that so many steps have comes again."""
_MOST: Final = 0.9
"""Share of the rollouts whose prompt must come again for prompts to be compared with themselves."""


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
