"""Names of one curve over steps: a column of the frame, and metrics that are its mean."""

from functools import cache

from board.analysis.steps.step_metrics.own_means import key_of_column
from board.metrics.declared import METRICS
from board.metrics.declared.computation import Computation, Statistic


@cache
def alike(name: str) -> frozenset[str]:
    """A column or a metric's key, and all that show the same by step: the mean over tokens of a quantity counts as that of its column."""
    columns = {name, _column_of(METRICS[name].computation) if name in METRICS else ""} - {""}
    keys = {key for key, metric in METRICS.items() if _column_of(metric.computation) in columns}
    return frozenset({*columns, *keys, *(key_of_column(column) for column in columns if column not in METRICS)})


def _column_of(computation: Computation | None) -> str:
    """The column of the frame whose mean it is; empty where it is more than a mean."""
    if not isinstance(computation, Statistic) or computation.name != "mean" or not isinstance(computation.of, str):
        return ""
    if computation.over == "tokens":
        return f"{computation.of}_mean"
    return computation.of.replace("/", "_") if computation.over == "rollouts" else ""
