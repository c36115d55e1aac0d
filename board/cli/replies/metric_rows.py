"""The metrics of a run over its steps, a row each, and what trackers logged; curves where requested. A run in, a reply out."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from board.analysis.steps.logged_curves import CurveReader, Logged, Scalars, find
from board.analysis.steps.step_metrics import computable, per_step_values
from board.analysis.steps.step_metrics.own_means import OwnMean, made_of
from board.cli.replies.contract import LoggedReply, LoggedScalarReply, MetricReply, MetricsReply
from board.cli.replies.steps import metric_keys
from board.metrics.declared import METRICS
from board.metrics.formulas import Float64Array
from board.runs.run import Run
from board.text.path_names import shown

_OF_OWN: Final[Mapping[OwnMean, str]] = {
    "column": "the mean of this column of the rollouts",
    "part": "the mean of this part of the reward",
    "source": "the mean reward of the rollouts of this data source",
}
"""What is meant by a key that the catalogue of metrics does not have."""


def logged(scalars: Scalars, curves_of: Sequence[str] = ()) -> LoggedReply | None:
    """All of it; with `curves_of` the scalars of these names or keys alone, with all their values. None where there is nothing to say."""
    if not (scalars.sources or scalars.problems):
        return None
    chosen = [one for one in scalars.logged if not curves_of or one.name in curves_of or one.key in curves_of]
    texts = {} if curves_of else {one.name: list(one.texts.values())[-1] for one in scalars.texts}
    others = [] if curves_of else list(scalars.others)
    return LoggedReply([_logged_row(one, with_curve=bool(curves_of)) for one in chosen], texts, others, list(scalars.problems))


def _logged_row(one: Logged, *, with_curve: bool) -> LoggedScalarReply:
    steps, values = one.curve.steps, one.curve.values
    return LoggedScalarReply(
        name=one.name,
        key=one.key,
        tracker=one.source.tracker,
        source=shown(one.source.path.name),
        meaning=one.metric.meaning.en if one.metric else "",
        **_course(steps, values, np.flatnonzero(np.isfinite(values)), with_curve=with_curve),
    )


def _course(steps: NDArray[np.int64], values: Float64Array, sound: NDArray[np.intp], *, with_curve: bool) -> dict[str, Any]:
    """How a number goes over the steps; its extremes are those at the `sound` places."""
    found: dict[str, Any] = {"steps": len(steps), "first": float(values[0]), "last": float(values[-1])}
    for name, pick in (("lowest", np.argmin), ("highest", np.argmax)):
        at = int(sound[pick(values[sound])]) if len(sound) else None
        found |= {name: float("nan") if at is None else float(values[at]), f"{name}_step": None if at is None else int(steps[at])}
    return found | {"curve": list(zip(steps.tolist(), values.tolist(), strict=True)) if with_curve else []}


def metrics(
    run: Run, name: str, curves_of: Sequence[str] = (), *, given: Path | None = None, within: Path | None = None
) -> MetricsReply:
    """Every metric the run can give, and what trackers logged in addition; with `curves_of` these alone, with all their values.

    `curves_of` are keys, or names as they were logged. Trackers' files lie where `board.analysis.steps.logged_curves.find` looks, which takes
    `given` and `within`. Raises ArgumentRefused for a metric that is neither.
    """
    scalars = CurveReader().read(find(run.location, given, within))
    there = {name for one in scalars.logged for name in (one.name, one.key)}
    computed = [key for key in curves_of if key not in there or key in computable(run)]
    keys = metric_keys(run, computed) if curves_of else computable(run)
    values = per_step_values(run, keys)
    rows = [_row(key, values[key].dropna(), with_curve=bool(curves_of)) for key in keys if values[key].notna().any()]
    return MetricsReply(name, rows, logged(scalars, curves_of))


def _row(key: str, curve: "pd.Series[float]", *, with_curve: bool) -> MetricReply:
    """`curve` is the metric by step, rising, without the steps that lack it; it is not empty."""
    metric, steps = METRICS.get(key), curve.index.to_numpy(np.int64)
    return MetricReply(
        key=key,
        meaning=metric.meaning.en if metric else _OF_OWN[(made_of(key) or ("column",))[0]],
        unit=metric.unit if metric else "",
        formula=metric.formula if metric else "",
        **_course(steps, np.asarray(curve, np.float64), np.arange(len(steps)), with_curve=with_curve),
    )
