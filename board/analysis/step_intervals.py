"""How sure a number of a step is: its mean over rollouts, or over tokens, with its 95 % interval by bootstrap over prompts.

A run in, small frames by step out, columns BY_STEP. Medians, extremes, spreads and statistics of groups are no means: they have no
interval here. Knows no second run and draws nothing.
"""

from collections.abc import Sequence
from typing import Final

import numpy as np
import pandas as pd

from board.analysis.bootstrap import mean_intervals, units_of
from board.analysis.step_metrics import COLUMN
from board.analysis.step_metrics.data import StepData
from board.analysis.step_stats import finite_values
from board.metrics.declared import METRICS
from board.metrics.declared.computation import Statistic
from board.metrics.expressions import evaluated
from board.metrics.formulas import Float64Array
from board.metrics.step_sums import Steps
from board.runs.prompt_keys import NO_PROMPT
from board.runs.run import Run

BY_STEP: Final = ("step", "value", "low", "high")


def of_values(run: Run, values: Float64Array, *, band: bool) -> pd.DataFrame:
    """The mean of a number of each rollout by step, columns BY_STEP, steps without any left out; `low` and `high` are NaN without a band."""
    steps = Steps(run.frame["step"].to_numpy(np.int64))
    low, high = _interval(run, steps, values, None) if band else _none(steps)
    found = pd.DataFrame({"step": steps.numbers, "value": steps.mean(values), "low": low, "high": high})
    return found.dropna(subset=["value"]).reset_index(drop=True)


def of_column(run: Run, column: str, *, band: bool) -> pd.DataFrame:
    """The same of a column of the frame. Raises FieldMissing as `finite_values`."""
    return of_values(run, finite_values(run.frame, column), band=band)


def of_metrics(run: Run, values: pd.DataFrame, keys: Sequence[str]) -> dict[str, pd.DataFrame]:
    """The same of metrics of the catalogue by key: `values` are those of the run (`per_step_values`), of which `keys` are columns.

    The interval is that of the rollouts of training, or of whatever `run` has alone; NaN for what is no mean.
    """
    trained = run.trained
    data = StepData(trained)
    found = {}
    for key in keys:
        frame = pd.DataFrame({"step": values.index.to_numpy(np.int64), "value": values[key].to_numpy(np.float64)})
        low, high = _of_metric(key, trained, data)
        ends = pd.DataFrame({"step": data.steps.numbers, "low": low, "high": high})
        joined = frame.merge(ends, on="step", how="left")
        found[key] = joined.dropna(subset=["value"]).reset_index(drop=True)
    return found


def without_band(values: "pd.Series[float]") -> pd.DataFrame:
    """A number by step (index step) as the frame it is with a band, columns BY_STEP."""
    found = pd.DataFrame({"step": values.index.to_numpy(np.int64), "value": values.to_numpy(np.float64)})
    return found.assign(low=np.nan, high=np.nan).dropna(subset=["value"]).reset_index(drop=True)


def _of_metric(key: str, run: Run, data: StepData) -> tuple[Float64Array, Float64Array]:
    before, after = COLUMN.split("{}")
    if key not in METRICS:
        return _interval(run, data.steps, data.column(key.removeprefix(before).removesuffix(after)), None)
    computation = METRICS[key].computation
    if not isinstance(computation, Statistic) or computation.name != "mean" or computation.over == "groups":
        return _none(data.steps)
    if computation.over == "rollouts":
        return _interval(run, data.steps, evaluated(computation.of, data.number), None)
    return _interval(run, data.steps, *data.token_means(str(computation.of)))


def _interval(run: Run, steps: Steps, values: Float64Array, weights: Float64Array | None) -> tuple[Float64Array, Float64Array]:
    return mean_intervals(steps, values, units_of(run.prompt_keys, NO_PROMPT), weights=weights)


def _none(steps: Steps) -> tuple[Float64Array, Float64Array]:
    return np.full(len(steps.numbers), np.nan), np.full(len(steps.numbers), np.nan)
