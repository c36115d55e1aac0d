"""What of a run can be drawn over its steps: a row a metric, and what trackers logged; curves where asked for. A run in, a reply out."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pandas as pd

from board.analysis.logged_curves import CurveReader, Logged, Scalars, find
from board.analysis.step_metrics import computable, per_step_values
from board.metrics.declared import METRICS
from board.replies.contract import LoggedReply, LoggedScalarReply, MetricReply, MetricsReply
from board.replies.steps import metric_keys
from board.runs.run import Run
from board.text.path_names import shown


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
    sound = np.flatnonzero(np.isfinite(values))
    low, high = (int(sound[pick(values[sound])]) if len(sound) else None for pick in (np.argmin, np.argmax))
    return LoggedScalarReply(
        name=one.name,
        key=one.key,
        tracker=one.source.tracker,
        source=shown(one.source.path.name),
        meaning=one.metric.meaning.en if one.metric else "",
        steps=len(steps),
        first=float(values[0]),
        last=float(values[-1]),
        lowest=float("nan") if low is None else float(values[low]),
        lowest_step=None if low is None else int(steps[low]),
        highest=float("nan") if high is None else float(values[high]),
        highest_step=None if high is None else int(steps[high]),
        curve=list(zip(steps.tolist(), values.tolist(), strict=True)) if with_curve else [],
    )


def metrics(
    run: Run, name: str, curves_of: Sequence[str] = (), *, given: Path | None = None, within: Path | None = None
) -> MetricsReply:
    """Every metric the run can give, and what trackers logged beside it; with `curves_of` these alone, with all their values.

    `curves_of` are keys, or names as they were logged. Trackers' files lie where `board.analysis.logged_curves.find` looks, which takes
    `given` and `within`. Raises ArgumentRefused for a metric that is neither.
    """
    scalars = CurveReader().read(find(run.location, given, within))
    there = {name for one in scalars.logged for name in (one.name, one.key)}
    asked = [key for key in curves_of if key not in there or key in computable(run)]
    keys = metric_keys(run, asked) if curves_of else computable(run)
    values = per_step_values(run, keys)
    rows = [_row(key, values[key].dropna(), with_curve=bool(curves_of)) for key in keys if values[key].notna().any()]
    return MetricsReply(name, rows, logged(scalars, curves_of))


def _row(key: str, curve: "pd.Series[float]", *, with_curve: bool) -> MetricReply:
    """`curve` is the metric by step, rising, without the steps that lack it; it is not empty."""
    metric = METRICS.get(key)
    numbers = curve.to_numpy(float)
    lowest, highest = int(numbers.argmin()), int(numbers.argmax())
    points = [(int(step), float(value)) for step, value in curve.items()] if with_curve else []  # type: ignore[call-overload]
    return MetricReply(
        key=key,
        meaning=metric.meaning.en if metric else "the mean of this column of the rollouts",
        unit=metric.unit if metric else "",
        formula=metric.formula if metric else "",
        steps=len(curve),
        first=float(numbers[0]),
        last=float(numbers[-1]),
        lowest=float(numbers[lowest]),
        lowest_step=int(curve.index[lowest]),
        highest=float(numbers[highest]),
        highest_step=int(curve.index[highest]),
        curve=points,
    )
