"""The steps at which a run's metrics first leave their healthy range."""

import pandas as pd

from board.analysis.rollouts.unhealthy import PATTERNS, first_departure
from board.analysis.steps import step_metrics
from board.analysis.steps.highlights import Highlight
from board.analysis.steps.metric_list import points
from board.metrics.declared import METRICS
from board.metrics.declared.contract import Interpretation
from board.runs.run import Run
from board.text.counting import plural
from board.text.format_number import fmt


def ranged(run: Run) -> list[str]:
    """Keys of the metrics that the run's rollouts give and that have a healthy range, in the catalogue's order."""
    return [key for key in step_metrics.computable(run) if key in METRICS and METRICS[key].reading.ranged]


def departures(values: pd.DataFrame) -> list[Highlight]:
    """The first step of each metric at which it is not healthy, in the order of the steps. `values` has a column per key, index step."""
    found: list[Highlight] = []
    for key in values.columns:
        reading = METRICS[key].reading if key in METRICS else None
        left = first_departure(reading, *points(values[key])) if reading is not None else None
        if reading is not None and left is not None:
            more = f", as in {plural(left.steps - 1, 'other step')}" if left.steps > 1 else ""
            what = PATTERNS[left.pattern].en if left.pattern else f"{_bounds(reading)} is healthy"
            text = f"{key} is {fmt(left.value)} at step {left.step}, {what}{more}"
            found.append(Highlight(left.step, text, "warning"))
    return sorted(found, key=lambda one: one.step)


def _bounds(reading: Interpretation) -> str:
    """The healthy range in words; empty where there is none."""
    if reading.low is not None and reading.high is not None:
        return f"{'between ' * reading.open}{fmt(reading.low)} {'and' if reading.open else 'to'} {fmt(reading.high)}"
    if reading.high is not None:
        return f"{fmt(reading.high)} at most"
    return f"{fmt(reading.low)} at least" if reading.low is not None else ""
