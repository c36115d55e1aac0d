"""Curves of several runs on one axis: bands, differences to a baseline, seed means.

Runs in, small frames out, columns CURVE. A band is the 95 % interval of a step's mean by bootstrap over prompts. Draws nothing.
"""

from collections.abc import Sequence
from typing import Final

import numpy as np
import pandas as pd

from board.analysis.compare.compared_run import ComparedRun
from board.analysis.stats.bootstrap import mean_intervals, units_of
from board.analysis.steps.step_positions import Axis, positions
from board.errors import BoardError
from board.metrics.formulas import Float64Array
from board.metrics.step_sums import Steps
from board.runs.prompt_keys import NO_PROMPT

MOST_RUNS: Final = 8

CURVE: Final = ("at", "step", "value", "low", "high")
"""Columns of a curve: where on the axis a step lies, its number, the mean over its rollouts, and the ends of the interval."""

_T: Final = (12.7062, 4.3027, 3.1824, 2.7764, 2.5706, 2.4469, 2.3646)
"""The 97.5 % quantile of Student's t with 1, 2, ... degrees of freedom, as many as there may be runs less one."""


def curve(side: ComparedRun, axis: Axis = "step", *, band: bool = True) -> pd.DataFrame:
    """The run's number by step, columns CURVE, steps without any left out; `low` and `high` are NaN without a band, or of one prompt.

    Raises FieldMissing where the run lacks the column of the axis.
    """
    frame = side.run.frame
    steps = Steps(frame["step"].to_numpy(np.int64))
    low, high = (np.full(len(steps.numbers), np.nan) for _ in range(2))
    if band:
        low, high = mean_intervals(steps, side.values, units_of(side.run.prompt_keys, NO_PROMPT))
    found = {
        "at": positions(frame, steps, axis),
        "step": steps.numbers,
        "value": steps.mean(side.values),
        "low": low,
        "high": high,
    }
    return pd.DataFrame(found).dropna(subset=["at", "value"]).reset_index(drop=True)[list(CURVE)]


def less(baseline: pd.DataFrame, other: pd.DataFrame) -> pd.DataFrame:
    """A curve minus a baseline's, columns CURVE, at the places of `other` that lie within the baseline's; between its steps linearly.

    The interval is made of the two bands' by squares, as of runs that were sampled apart: where prompts are shared a paired difference
    (`board.analysis.compare.run_pair`) is surer. (MOVER; Zou & Donner 2008, doi 10.1002/sim.3095.)
    """
    inside = other[other["at"].between(baseline["at"].min(), baseline["at"].max())].reset_index(drop=True)
    value, low, high = (_read_off(baseline, name, inside["at"].to_numpy(np.float64)) for name in ("value", "low", "high"))
    above, below = inside["high"] - inside["value"], inside["value"] - inside["low"]
    difference = inside["value"] - value
    return inside.assign(
        value=difference, low=difference - np.hypot(below, high - value), high=difference + np.hypot(above, value - low)
    )


def seeds(curves: Sequence[pd.DataFrame]) -> pd.DataFrame:
    """The mean of runs that differ by their seeds alone, columns CURVE, at the places of the first that lie within all; 2 to MOST_RUNS runs.

    The interval is Student's of the mean of so many runs: how far another seed's mean may lie off, which no band of one run shows.
    Raises BoardError for another number of runs.
    """
    if not 2 <= len(curves) <= MOST_RUNS:
        raise BoardError(f"A mean over seeds is of 2 to {MOST_RUNS} runs, not of {len(curves)}.")
    first = curves[0]
    at = first["at"]
    shared = (at >= max(one["at"].min() for one in curves)) & (at <= min(one["at"].max() for one in curves))
    common = first[shared].reset_index(drop=True)
    values = np.array([_read_off(one, "value", common["at"].to_numpy(np.float64)) for one in curves])
    mean = values.mean(axis=0)
    half = _T[len(curves) - 2] * values.std(axis=0, ddof=1) / np.sqrt(len(curves))
    found: pd.DataFrame = common.assign(value=mean, low=mean - half, high=mean + half)
    return found


def _read_off(of: pd.DataFrame, name: str, at: Float64Array) -> Float64Array:
    """A column of a curve at places on its axis, which lie within it: between two steps linearly, NaN where one of these has none."""
    if of.empty:
        return np.full(len(at), np.nan)
    read: Float64Array = np.interp(at, of["at"].to_numpy(np.float64), of[name].to_numpy(np.float64))
    return read
