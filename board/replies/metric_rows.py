"""What of a run can be drawn over its steps: a row a metric, and what trackers logged; curves where asked for. A run in, a reply out."""

from collections.abc import Sequence
from pathlib import Path

import pandas as pd

from board.analysis.logged_curves import CurveReader, find
from board.analysis.step_metrics import computable, per_step_values
from board.metrics.declared import METRICS
from board.replies.contract import MetricReply, MetricsReply
from board.replies.logged_rows import logged
from board.replies.steps import metric_keys
from board.runs.run import Run


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
