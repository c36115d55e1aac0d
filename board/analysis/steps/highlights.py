"""The steps a reader should look at first, from per-step aggregates alone."""

from dataclasses import dataclass
from typing import Final, Literal, get_args

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from board.analysis.steps import step_metrics
from board.analysis.steps.healthy_range import PATTERNS, first_departure
from board.analysis.steps.metric_list import points
from board.metrics.declared import METRICS
from board.metrics.declared.contract import Interpretation
from board.runs.run import Run
from board.text.counting import plural
from board.text.format_number import fmt

HighlightKind = Literal["error", "finding", "warning", "note"]
"""What was found by looking through the whole run, an error or not; what a rule of thumb warns of; and what is only worth a look."""

HIGHLIGHT_KINDS: Final[tuple[HighlightKind, ...]] = get_args(HighlightKind)
"""Worst first."""


@dataclass(frozen=True)
class Highlight:
    """A step that stands out, and why in a few words. Where something breaks, it is the step where it is broken, not the last good one."""

    step: int
    text: str
    kind: HighlightKind = "note"
    shown_by: str = ""
    """The column whose extremes in that step show it, if one does."""
    most: bool = True
    """Whether the largest of them do, else the smallest."""


def largest_fall(stats: pd.DataFrame, what: str, column: str) -> Highlight | None:
    """The step whose mean fell most against the step before; None when no step fell. `stats` is per_step's frame of the column."""
    steps, means = _known(stats)
    if len(means) < 2 or not (np.diff(means) < 0).any():
        return None
    at = int(np.diff(means).argmin()) + 1
    return Highlight(
        int(steps[at]), f"{what} falls most: by {fmt(means[at - 1] - means[at])} at step {steps[at]}", shown_by=column, most=False
    )


def highest(stats: pd.DataFrame, what: str, column: str) -> Highlight | None:
    """The step with the highest mean; None when no step has one or all are equal. `stats` is per_step's frame."""
    steps, means = _known(stats)
    if not len(means) or means.min() == means.max():
        return None
    at = int(means.argmax())
    return Highlight(int(steps[at]), f"{what} is highest: {fmt(means[at])} at step {steps[at]}", shown_by=column)


def parting(proxy: pd.DataFrame, gold: pd.DataFrame) -> Highlight | None:
    """Where the validation reward breaks while the reward rises: the sign of a reward that is being exploited, and a warning.

    None unless, from the validation reward's peak to the last step, the reward's mean rose and the validation reward's fell, each by more
    than its own noise (std of the differences between neighbouring steps). It breaks at the first step of the lower of the two levels that
    its course since the peak is best split into. Both are per_step's frames; Gao et al. 2022 (arXiv 2210.10760) describe the course.
    """
    both = pd.DataFrame({"proxy": proxy["mean"], "gold": gold["mean"]}).dropna()
    steps, values = both.index.to_numpy(), both.to_numpy(np.float64)
    if len(steps) < 3:
        return None
    at = int(values[:, 1].argmax())
    rise, fall = values[-1, 0] - values[at, 0], values[at, 1] - values[-1, 1]
    noise = np.diff(values, axis=0).std(axis=0)
    if rise <= noise[0] or fall <= noise[1]:
        return None
    broken = at + _fall(values[at:, 1])
    text = (
        f"validation reward breaks at step {steps[broken]}: since its peak at step {steps[at]} it falls by {fmt(fall)} "
        f"while the reward rises by {fmt(rise)}"
    )
    return Highlight(int(steps[broken]), text, "warning")


def _fall(course: NDArray[np.float64]) -> int:
    """Where the lower level begins, if two levels are fitted to the course (two values or more) by least squares; at 1 or later."""
    before = np.arange(1, course.size)
    sums = np.cumsum(course)[:-1]
    above = sums / before - (course.sum() - sums) / (course.size - before)
    return int((above * np.sqrt(before * (course.size - before))).argmax()) + 1


def _known(stats: pd.DataFrame) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """Steps that have a mean, and the means."""
    known = stats["mean"].dropna()
    return known.index.to_numpy(np.int64), known.to_numpy(np.float64)


def highlights(stats: dict[str, pd.DataFrame], kl: str) -> list[Highlight]:
    """What stands out in a run, the strongest evidence first. `stats` maps columns to per_step's frames; `kl` is the KL column in use."""
    found: list[Highlight | None] = []
    if "reward" in stats and "valid_reward" in stats:
        found.append(parting(stats["reward"], stats["valid_reward"]))
    if "reward" in stats:
        found.append(largest_fall(stats["reward"], "reward", "reward"))
    if kl in stats:
        found.append(highest(stats[kl], "KL", kl))
    if "response_length" in stats:
        found.append(highest(stats["response_length"], "length", "response_length"))
    return [highlight for highlight in found if highlight is not None]


def ranged(run: Run) -> list[str]:
    """Keys of the metrics that the run's rollouts give and that have a healthy range, in the catalogue's order."""
    return [key for key in step_metrics.computable(run) if key in METRICS and METRICS[key].reading.ranged]


def range_departures(values: pd.DataFrame) -> list[Highlight]:
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
