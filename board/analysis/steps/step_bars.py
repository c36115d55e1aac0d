"""The steps of a run as bars of mean reward, few enough to stand side by side."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from board.analysis.steps.highlights import HIGHLIGHT_KINDS, Highlight, HighlightKind
from board.metrics.formulas import Float64Array

MOST_BARS: Final = 400
"""More bars than this cannot be distinguished on a screen; neighbouring steps then share one."""

_LEAST: Final = 0.06
"""Height of the lowest mean, as a share of the span: a bar of its own, not nothing."""


@dataclass(frozen=True)
class StepBars:
    """Arrays of one length, a bar each."""

    steps: NDArray[np.int64]
    """The first step of each bar, ascending."""
    means: Float64Array
    """Mean of the bar's means; NaN where none of its steps has one."""
    heights: Float64Array
    """0 to 1: they start at the lowest mean, so that the course is seen at any offset; 0 where there is no mean."""


def step_bars(stats: pd.DataFrame) -> StepBars:
    """Bars of mean reward by step, of per_step's frame (index step, column mean)."""
    buckets = np.arange(len(stats)) * min(MOST_BARS, len(stats)) // max(1, len(stats))
    firsts = np.concatenate([[True], buckets[1:] != buckets[:-1]])[: len(stats)]
    means = stats["mean"].groupby(buckets).mean().to_numpy(np.float64)
    known = means[np.isfinite(means)]
    lowest, highest = (float(known.min()), float(known.max())) if known.size else (0.0, 0.0)
    with np.errstate(over="ignore", invalid="ignore"):
        rise = (means / 2 - lowest / 2) / ((highest / 2 - lowest / 2) or 1.0)  # halves, as the span of floats may be none
    heights = np.where(np.isfinite(means), (rise + _LEAST) / (1 + _LEAST), 0.0)
    return StepBars(stats.index.to_numpy(np.int64)[firsts], means, heights)


def bar_of(bars: StepBars, step: int) -> int | None:
    """The bar that holds a step; None before the first."""
    at = int(np.searchsorted(bars.steps, step, side="right")) - 1
    return at if at >= 0 else None


@dataclass(frozen=True)
class BarMark:
    """What is to be seen in the steps of one bar."""

    bar: int
    texts: tuple[str, ...]
    """Each names its step; findings first, then warnings."""
    kind: HighlightKind
    """The worst of them."""


def bar_marks(bars: StepBars, highlights: Iterable[Highlight]) -> list[BarMark]:
    """A mark for each bar that holds the step of a highlight, in order of the bars: thinning joins marks, and loses none.

    A highlight before the first bar has no mark.
    """
    held: dict[int, list[Highlight]] = {}
    for highlight in highlights:
        at = bar_of(bars, highlight.step)
        if at is not None:
            held.setdefault(at, []).append(highlight)
    return [_mark(at, held[at]) for at in sorted(held)]


def _mark(bar: int, held: list[Highlight]) -> BarMark:
    ordered = sorted(held, key=lambda one: HIGHLIGHT_KINDS.index(one.kind))
    return BarMark(bar, tuple(dict.fromkeys(one.text for one in ordered)), ordered[0].kind)
