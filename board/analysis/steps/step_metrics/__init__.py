"""Every metric of the catalogue that rollouts can give, per step.

A metric whose columns a run lacks is not there; nothing is estimated in its place. How each is computed is declared with it.
"""

from collections.abc import Callable, Sequence
from itertools import count
from typing import Any, Final

import numpy as np
import pandas as pd

from board.analysis.rollouts.reward_parts import is_part
from board.analysis.rollouts.selection import numeric_columns
from board.analysis.steps.failed_rollouts import FAILED, failed
from board.analysis.steps.step_metrics.data import TOKEN_COLUMNS, StepData
from board.analysis.steps.step_metrics.interpreter import OF_ALL_STEPS, per_step
from board.analysis.steps.step_metrics.own_means import EVALUATED, SOURCE, is_evaluated, key_of_column, made_of
from board.errors import BoardError
from board.metrics.declared import METRICS
from board.metrics.declared.computation import OfColumns, OfEvaluation
from board.metrics.formulas import Float64Array
from board.runs.run import Run
from board.schema import EVALUATION, LEFT_OUT, TOKEN_METRICS, TOKENS, title

__all__ = ["available", "computable", "further_sources", "known_at", "of_step_alone", "per_step_values", "rollouts_of", "sources"]

MOST_SOURCES: Final = 12
"""At most this many data sources have a curve of their own, the largest."""

_EVALUATED: Final = frozenset(key for key, metric in METRICS.items() if isinstance(metric.computation, OfEvaluation))
"""Metrics of the rollouts of evaluations; all others are of those of training."""

_USED: Final = ("step", "line", "group", "nonfinite_tokens")
"""Numeric columns of where a rollout is from or how it was read: their mean has no meaning."""


def available(run: Run) -> set[str]:
    """What a metric may need of the run: columns, texts and token arrays its rollouts have, and `split` where there are evaluations.

    The recorder keeps some arrays' means where it left the arrays out, and rows with `truncated` need no `finish_reason`.
    """
    averaged = {name for name in TOKEN_METRICS if f"{title(name)}_mean" in run.frame}
    there = {*run.frame.columns, *run.token_metrics, *run.text_columns, *averaged} - {"split", FAILED}
    conditions = {
        "split": EVALUATION in run.splits,
        "finish_reason": "truncated" in run.frame,
        FAILED: bool(failed(run.trained).any()),
        TOKENS: run.has_tokens and LEFT_OUT not in run.frame,
    }
    return there | {name for name, holds in conditions.items() if holds}


def computable(run: Run) -> list[str]:
    """Keys of what the run's columns allow, in the catalogue's order, then the means of all other numeric columns."""
    there = available(run)
    listed = [key for key, metric in METRICS.items() if metric.needs and there.issuperset(metric.needs)]
    used = {*_USED, *(need for key in listed for need in METRICS[key].needs), *TOKEN_COLUMNS, "reward_gap"}
    own = [name for name in numeric_columns(run.frame) if name not in used]
    parts = [key_of_column(name) for name in own if is_part(name)] if EVALUATION in run.splits[1:] else []
    return [*listed, *sources(run), *map(key_of_column, own), *(f"{EVALUATED}{key}" for key in parts)]


def sources(run: Run) -> list[str]:
    """Keys of the mean reward by data source, those of training first, the largest first; none where there is one source alone."""
    if not {"reward", "data_source"} <= {*run.frame.columns}:
        return []
    found = list[str]()
    held = [run.of_split(EVALUATION)] if EVALUATION in run.splits[1:] else []
    for begin, rows in ((SOURCE, run.trained), *((f"{EVALUATED}{SOURCE}", one) for one in held)):
        counts = rows.frame["data_source"].value_counts()
        names = counts.index[counts > 0][:MOST_SOURCES]
        found += [f"{begin}{name}" for name in names] if len(names) > 1 else []
    return found


def further_sources(run: Run) -> pd.DataFrame:
    """Data sources of training that have no curve of their own, a row each, the largest first; none where all have.

    Columns: `data source`, `rollouts`, and the mean reward in the first and in the last step that has some.
    """
    rows = run.trained.frame
    if not {"reward", "data_source"} <= {*rows.columns}:
        return pd.DataFrame()
    counts = rows["data_source"].value_counts()[MOST_SOURCES:]
    counts = counts[counts > 0]
    rows = rows[rows["data_source"].isin(counts.index)]
    names = rows["data_source"].astype(str)
    means = rows.groupby([names, rows["step"]])["reward"].mean().groupby(level=0).agg(["first", "last"])
    course = means.reindex(counts.index.astype(str)).set_axis(["first mean reward", "last mean reward"], axis=1)
    return course.assign(rollouts=counts.to_numpy()).rename_axis("data source").reset_index()


def rollouts_of(key: str, data: StepData) -> Float64Array:
    """(rollouts,) what the key is the mean of that no metric of the catalogue has: a column, or the reward of a data source."""
    made, name = made_of(key) or ("column", key)
    if made != "source":
        return data.column(name)
    named = data.once("data_source", lambda: data.run.frame["data_source"].astype(str).to_numpy(object))
    return np.where(named == name, data.column("reward"), np.nan)


def of_step_alone(key: str) -> bool:
    """Whether the metric of a step needs that step's rollouts alone, but for sums and maxima of steps so far."""
    computation = METRICS[key].computation if key in METRICS else None
    return not (isinstance(computation, OfColumns) and computation.function in OF_ALL_STEPS)


def per_step_values(
    run: Run, keys: Sequence[str] | None = None, progress: Callable[[float], None] = lambda share: None
) -> pd.DataFrame:
    """The metrics per step: index `step` (rising), a float64 column per key, NaN where a step lacks the numbers; never an infinity.

    A run with rollouts of training and of evaluations gives both: `evaluation/...` are of the latter, everything else of training.
    `keys` are some of `computable` (all of them unless given; then those without a single number are left out). `progress` is called with the
    share of the metrics that is done. Raises BoardError for another key.
    """
    possible = computable(run)
    chosen = possible if keys is None else list(keys)
    if unknown := [key for key in chosen if key not in possible]:
        raise BoardError(f"This run cannot give {', '.join(unknown)}.")
    evaluated = [key for key in chosen if key in _EVALUATED or is_evaluated(key)]
    done = count()

    def report() -> None:
        progress((next(done) + 1) / len(chosen))

    columns = [_columns(run.trained, [key for key in chosen if key not in evaluated], report)]
    if evaluated:
        columns.append(_columns(run.of_split(EVALUATION), evaluated, report))
    frame = pd.concat(columns, axis="columns").sort_index().rename_axis("step")[chosen]
    return frame if keys is not None else frame.dropna(axis="columns", how="all")


def known_at(values: pd.DataFrame, step: int) -> dict[str, float]:
    """Of `per_step_values` the numbers of a step by key; none where it is not there, as where all its rollouts were discarded."""
    return {str(key): float(value) for key, value in values.reindex([step]).iloc[0].dropna().items()}


def _columns(run: Run, keys: Sequence[str], report: Callable[[], None]) -> pd.DataFrame:
    data = StepData(run)
    values: dict[str, Any] = {}
    for key in keys:
        of_all = run.slice.of_steps(f"value/{key}") if run.slice else None
        values[key] = _finite(_compute(key, data)) if of_all is None else of_all.reindex(data.steps.numbers).to_numpy()
        report()
    return pd.DataFrame(values, index=pd.Index(data.steps.numbers, name="step"), columns=list(keys), dtype=np.float64)


def _compute(key: str, data: StepData) -> Float64Array:
    if key in METRICS and (computation := METRICS[key].computation) is not None:
        return per_step(computation, data)
    return data.steps.mean(rollouts_of(key, data))


def _finite(values: Float64Array) -> Float64Array:
    return np.where(np.isfinite(values), values, np.nan)
