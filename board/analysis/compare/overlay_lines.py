"""Lines of a panel of several runs: per run or per setting, minus a baseline.

Small frames in and out; how they are computed of a run is others' business, and so is how they are drawn.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import pandas as pd

from board.analysis.compare.run_overlay import CURVE, less, seeds
from board.analysis.steps.step_positions import Axis, positions
from board.analysis.steps.step_stats import first_finite
from board.metrics.step_sums import Steps
from board.runs.run import Run


@dataclass(frozen=True)
class OverlayLine:
    """One line: what it is called, how it is coloured, and its points."""

    name: str
    color: str
    """ "#rrggbb"."""
    curve: pd.DataFrame
    """Columns CURVE, `at` rising."""
    runs: tuple[int, ...]
    """Which of the runs it is of, by their places among all."""
    counted: int = 0
    """How many runs' mean it is, where it is of seeds; 0 of a run by itself."""


def places(run: Run, axis: Axis) -> "pd.Series[float]":
    """Where on an axis each step of the run ends, by step. Raises FieldMissing where the run has no such column."""
    steps = Steps(run.frame["step"].to_numpy(np.int64))
    return pd.Series(positions(run.frame, steps, axis), index=steps.numbers)


def placed(by_step: pd.DataFrame, places: "pd.Series[float]", *, from_first: bool = False) -> pd.DataFrame:
    """A run's number by step (columns `step_intervals.BY_STEP`) at its places on an axis, columns CURVE; what has no place is left out.

    A step without a number stays, as a gap. Of steps that end at one place, as where no token was sampled, the last with a number is left:
    a line goes on from there. With `from_first` the first number is taken off all.
    """
    at = places.reindex(by_step["step"]).to_numpy(np.float64)
    value, low, high = (by_step[name].to_numpy(np.float64) for name in ("value", "low", "high"))
    order = np.lexsort(
        (np.isfinite(value), at)
    )  # of equal places those with a number behind the others, those without a place last
    order = order[: np.isfinite(at).sum()]
    drawn = order[np.diff(at[order], append=np.inf) > 0]
    origin = first_finite(value[drawn]) if from_first else 0.0
    columns = (at[drawn], by_step["step"].to_numpy()[drawn], *(column[drawn] - origin for column in (value, low, high)))
    return pd.DataFrame(dict(zip(CURVE, columns, strict=True)))


def with_seeds_joined(lines: Sequence[OverlayLine], settings: Sequence[tuple[str, list[int]]]) -> list[OverlayLine]:
    """The lines with those of one setting's runs as their mean and its interval, in the colour of the first; `settings` as `seed_groups.groups`.

    A setting of which one run alone has the number is that run by itself.
    """
    joined = []
    for name, runs in settings:
        own = [line for line in lines if set(line.runs) <= {*runs}]
        if len(own) < 2:
            joined += own
            continue
        of_runs = tuple(at for line in own for at in line.runs)
        mean = seeds([line.curve for line in own])
        joined.append(OverlayLine(name, own[0].color, mean, of_runs, len(own)))
    return joined


def less_baseline(lines: Sequence[OverlayLine], baseline: int) -> list[OverlayLine]:
    """The others minus the line that is of the run at `baseline`; none where that has no such number."""
    below = next((line for line in lines if baseline in line.runs), None)
    if below is None:
        return []
    return [replace(line, curve=less(below.curve, line.curve)) for line in lines if line is not below]
