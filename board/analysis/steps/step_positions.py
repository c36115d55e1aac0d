"""Positions of a run's steps on an axis of steps, rollouts, tokens or time, for overlays.

Frame in, an array out.
"""

from typing import Final, Literal

import numpy as np
import pandas as pd

from board.analysis.steps.step_stats import finite_values
from board.errors import FieldMissing
from board.metrics.formulas import Float64Array
from board.metrics.step_sums import Steps

Axis = Literal["step", "rollouts", "tokens", "time"]

CLOCKS: Final = ("timestamp", "time", "created_at", "timestamp_ms", "wall_time", "ts", "logged_at")
"""Names under which trainers note when a row was written, as a number that grows."""

_EPOCHS: Final = ((1e17, 1e9), (1e14, 1e6), (1e11, 1e3))
"""A clock beyond so much counts since 1970 in so many parts of a second; 1e11 s would be the year 5138."""


def clock(frame: pd.DataFrame) -> str | None:
    """The column of when a rollout was written, as a number; None where there is none."""
    return next((name for name in CLOCKS if name in frame.columns and frame[name].dtype.kind == "f"), None)


def positions(frame: pd.DataFrame, steps: Steps, axis: Axis) -> Float64Array:
    """Where each step ends, (steps,), not falling: its number, rollouts or tokens sampled by then, or seconds since the first step.

    `steps` are the frame's. Tokens are those trained on (`response_length`), a rollout without a length counted as the mean of its step;
    a step's time is the median of its rollouts', NaN where none has one. Raises FieldMissing where the run does not tell.
    """
    if axis == "step":
        return steps.numbers.astype(np.float64)
    if axis == "rollouts":
        return np.cumsum(steps.sizes).astype(np.float64)
    if axis == "tokens":
        return np.cumsum(np.nan_to_num(steps.mean(finite_values(frame, "response_length"))) * steps.sizes)
    name = clock(frame)
    if name is None:
        raise FieldMissing(f"This needs the time at which rollouts were written as a number: {', '.join(CLOCKS)}.")
    times = pd.Series(finite_values(frame, name)).groupby(steps.row).median().to_numpy(np.float64)
    parts = next((of for beyond, of in _EPOCHS if np.nanmax(np.abs(times), initial=0.0) > beyond), 1.0)
    known = times[np.isfinite(times)]
    since = pd.Series((times - (known[0] if known.size else np.nan)) / parts)
    return np.asarray(since.cummax(), np.float64)
