"""A number of a step with its 95 % interval by bootstrap over prompts.

A run in, small frames by step out, columns BY_STEP. Medians, extremes, spreads and statistics of groups are no means: they have no interval
here.
"""

from collections.abc import Sequence
from typing import Final

import numpy as np
import pandas as pd

from board.analysis.stats.bootstrap import PromptUnits, prompt_units, unit_intervals, units_of
from board.analysis.steps.step_metrics import rollouts_of
from board.analysis.steps.step_metrics.data import StepData
from board.metrics.declared import METRICS
from board.metrics.declared.computation import Statistic
from board.metrics.expressions import evaluated
from board.metrics.formulas import Float64Array
from board.metrics.step_sums import Steps
from board.runs.prompt_keys import NO_PROMPT
from board.runs.run import Run

BY_STEP: Final = ("step", "value", "low", "high")


def units(run: Run) -> PromptUnits:
    """The run's prompts by step, found once for all its numbers."""
    return prompt_units(Steps(run.frame["step"].to_numpy(np.int64)), units_of(run.prompt_keys, NO_PROMPT))


def of_values(of: PromptUnits, values: Float64Array, *, band: bool) -> pd.DataFrame:
    """The mean of a number of each rollout (rollouts,) by step, columns BY_STEP: from the first step that has any to the last, NaN between
    them where a step has none. Without a band the ends are NaN."""
    low, high = unit_intervals(of, values) if band else _none(of)
    found = pd.DataFrame({"step": of.steps.numbers, "value": of.steps.mean(values), "low": low, "high": high})
    return _from_first_to_last(found)


def of_metrics(run: Run, values: pd.DataFrame, keys: Sequence[str]) -> dict[str, pd.DataFrame]:
    """Intervals of metrics of the catalogue by key: `values` are those of the run (`per_step_values`), of which `keys` are columns.

    The interval is that of the rollouts of training, or of whatever `run` has alone; NaN for what is no mean.
    """
    trained = run.trained
    data, of = StepData(trained), units(trained)
    found = {}
    for key in keys:
        frame = pd.DataFrame({"step": values.index.to_numpy(np.int64), "value": values[key].to_numpy(np.float64)})
        low, high = _of_metric(key, data, of)
        ends = pd.DataFrame({"step": of.steps.numbers, "low": low, "high": high})
        found[key] = _from_first_to_last(frame.merge(ends, on="step", how="left"))
    return found


def without_band(values: "pd.Series[float]") -> pd.DataFrame:
    """A number by step (index step) as the frame it is with a band, columns BY_STEP."""
    found = pd.DataFrame({"step": values.index.to_numpy(np.int64), "value": values.to_numpy(np.float64)})
    return _from_first_to_last(found.assign(low=np.nan, high=np.nan))


def _from_first_to_last(by_step: pd.DataFrame) -> pd.DataFrame:
    """The rows between the first and the last with a number, and these: a step without one that lies between is a gap of the curve."""
    known = np.flatnonzero(np.isfinite(by_step["value"].to_numpy(np.float64)))
    ends = slice(int(known[0]), int(known[-1]) + 1) if known.size else slice(0)
    return by_step.iloc[ends].reset_index(drop=True)


def _of_metric(key: str, data: StepData, of: PromptUnits) -> tuple[Float64Array, Float64Array]:
    if key not in METRICS:
        return unit_intervals(of, rollouts_of(key, data))
    computation = METRICS[key].computation
    if not isinstance(computation, Statistic) or computation.name != "mean" or computation.over == "groups":
        return _none(of)
    if computation.over == "rollouts":
        return unit_intervals(of, evaluated(computation.of, data.number))
    means, counts = data.token_means(str(computation.of))
    return unit_intervals(of, means, weights=counts)


def _none(of: PromptUnits) -> tuple[Float64Array, Float64Array]:
    return np.full(len(of.steps.numbers), np.nan), np.full(len(of.steps.numbers), np.nan)
