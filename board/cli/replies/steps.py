"""A run's steps as rows: the usual metrics or the requested ones, and how sure the mean reward is. A run in, a reply out."""

from collections.abc import Sequence

from board.analysis.steps.step_metrics import computable, per_step_values
from board.analysis.steps.step_table import explained, reward_intervals, shown_keys
from board.cli.replies.contract import StepReply, StepsReply
from board.errors import ArgumentRefused
from board.runs.run import Run


def steps(run: Run, name: str, metrics: Sequence[str] = ()) -> StepsReply:
    """The steps, rising, with these metrics by key; those of the page Steps unless given. Raises ArgumentRefused for one it cannot give."""
    keys = metric_keys(run, metrics) if metrics else shown_keys(run)
    values = per_step_values(run, keys)
    low, high = reward_intervals(run.trained, run.trained.steps)
    lows, highs = (dict(zip(run.trained.steps.tolist(), ends.tolist(), strict=True)) for ends in (low, high))
    rows = [
        StepReply(step, lows.get(step), highs.get(step), dict(zip(keys, row, strict=True)))
        for step, row in zip(values.index.tolist(), values.to_numpy().tolist(), strict=True)
    ]
    return StepsReply(name, {key: explained(key) for key in keys}, rows)


def metric_keys(run: Run, keys: Sequence[str]) -> list[str]:
    """The keys, each once, and each of a metric the run can give. Raises ArgumentRefused for another, and says which there are."""
    there = computable(run)
    if unknown := next((key for key in keys if key not in there), None):
        raise ArgumentRefused(f"The run cannot give the metric {unknown!r}. It can give {', '.join(there)}.")
    return list(dict.fromkeys(keys))
