"""A fixed sample of a run's rollouts, evenly over its steps, whole groups at a time."""

from typing import Final

import numpy as np
import pandas as pd
from numpy.typing import NDArray

_SEED: Final = 15


def group_codes(frame: pd.DataFrame) -> NDArray[np.int64]:
    """A number from 0 for the group of each rollout, equal within one step and group alone; -1 where it is of none. (rows,)"""
    if "group" not in frame.columns:
        return np.full(len(frame), -1)
    numbers = frame["group"].to_numpy(np.float64)
    known = np.isfinite(numbers)
    codes = np.full(len(frame), -1)
    pairs = pd.MultiIndex.from_arrays([frame["step"].to_numpy()[known], numbers[known]])
    codes[known] = pd.factorize(pairs)[0]
    return codes


def even_sample(frame: pd.DataFrame, most: int) -> NDArray[np.int64]:
    """Rows of at most so many rollouts, rising: of each step about as many, chosen by lot with the same seed; all where there are no more.

    Groups are taken whole. One that is larger than `most` is cut, so that there is always something.
    """
    rows = len(frame)
    if rows <= most:
        return np.arange(rows)
    groups = group_codes(frame)
    alone = groups.max(initial=-1) + 1 + np.arange(rows)
    _, firsts, unit, sizes = np.unique(
        np.where(groups >= 0, groups, alone), return_index=True, return_inverse=True, return_counts=True
    )
    steps = frame["step"].to_numpy()[firsts]
    order = np.lexsort([np.random.default_rng(_SEED).permutation(len(sizes)), steps])
    upto = np.cumsum(sizes[order])
    begins = np.flatnonzero(np.append(True, steps[order][1:] != steps[order][:-1]))
    before = np.repeat((upto - sizes[order])[begins], np.diff(np.append(begins, len(order))))
    taken = order[np.argsort(upto - before, kind="stable")]  # the first units of all steps, then the second ones, and so on
    held = taken[np.cumsum(sizes[taken]) <= most]
    return np.flatnonzero(np.isin(unit, held if len(held) else taken[:1]))[:most]
