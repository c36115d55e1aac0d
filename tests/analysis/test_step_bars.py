"""board.analysis.steps.step_bars: where the bars of the strip stand, how high they are, and which of them holds a step."""

import math

import numpy as np
import pandas as pd
import pytest

from board.analysis.steps.highlights import Highlight
from board.analysis.steps.step_bars import MOST_BARS, BarMark, bar_marks, bar_of, step_bars


def per_step(means: list[float], steps: list[int] | None = None) -> pd.DataFrame:
    """The frame that `per_step` gives, of the means alone."""
    return pd.DataFrame({"mean": means}, index=pd.Index(steps or range(len(means)), name="step"))


def test_a_step_is_in_the_bar_that_begins_before_it() -> None:
    """A step before the first bar is in none; one behind the last is in the last."""
    bars = step_bars(per_step([0.0, 1.0, math.nan], [0, 10, 30]))

    assert {step: bar_of(bars, step) for step in (-1, 0, 10, 15, 30, 99)} == {-1: None, 0: 0, 10: 1, 15: 1, 30: 2, 99: 2}


HEIGHTS: dict[str, tuple[list[float], list[float]]] = {
    "lowest to highest": ([2.0, 3.0, 4.0], [0.0566, 0.5283, 1.0]),
    "below zero": ([-4.0, -2.0], [0.0566, 1.0]),
    "all the same": ([7.0, 7.0], [0.0566, 0.0566]),
    "none known": ([math.nan, math.nan], [0.0, 0.0]),
    "one unknown": ([1.0, math.nan, 3.0], [0.0566, 0.0, 1.0]),
    "as far apart as floats are": ([-1.7e308, 1.7e308], [0.0566, 1.0]),
    "no step": ([], []),
}


@pytest.mark.parametrize("name", HEIGHTS)
def test_heights_begin_at_the_lowest_mean(name: str) -> None:
    """The lowest has a bar that can be seen, the highest fills the strip, and what is not known has none."""
    means, heights = HEIGHTS[name]
    bars = step_bars(per_step(means))

    np.testing.assert_allclose(bars.heights, heights, atol=1e-4)
    np.testing.assert_array_equal(bars.means, means)


def test_a_long_run_has_no_more_bars_than_can_be_seen() -> None:
    """Neighbours share a bar, which begins at the first of them and stands for the mean of theirs; the last step's bar is the last."""
    bars = step_bars(per_step(np.arange(10_000.0).tolist()))

    assert len(bars.steps) == len(bars.means) == MOST_BARS
    assert bar_of(bars, 9_999) == MOST_BARS - 1
    assert (bars.steps[1], bars.means[0]) == (25, 12.0)


MARKS: dict[str, tuple[int, list[Highlight], list[BarMark]]] = {
    "one": (3, [Highlight(1, "a", "warning")], [BarMark(1, ("a",), "warning")]),
    "warnings first, each once": (
        3,
        [Highlight(2, "a"), Highlight(2, "b", "warning"), Highlight(2, "a")],
        [BarMark(2, ("b", "a"), "warning")],
    ),
    "in the order of bars": (3, [Highlight(2, "b"), Highlight(0, "a")], [BarMark(0, ("a",), "note"), BarMark(2, ("b",), "note")]),
    "two steps in one bar": (
        10 * MOST_BARS,
        [Highlight(11, "a"), Highlight(19, "b", "warning"), Highlight(20, "c")],
        [BarMark(1, ("b", "a"), "warning"), BarMark(2, ("c",), "note")],
    ),
    "before all": (3, [Highlight(-1, "a")], []),
    "none": (3, [], []),
}


@pytest.mark.parametrize("name", MARKS)
def test_marks_survive_the_thinning(name: str) -> None:
    """The bar that holds a step holds its mark, with all that is to be said, however many steps share the bar."""
    count, highlights, expected = MARKS[name]

    assert bar_marks(step_bars(per_step(np.arange(float(count)).tolist())), highlights) == expected


def test_findings_come_before_warnings() -> None:
    """Of what stands in one bar the worst gives the mark its shape, and comes first in its texts."""
    found = [
        Highlight(0, "note"),
        Highlight(0, "warning", "warning"),
        Highlight(0, "finding", "finding"),
        Highlight(0, "error", "error"),
    ]

    (mark,) = bar_marks(step_bars(pd.DataFrame({"mean": [1.0]}, index=[0])), found)

    assert mark == BarMark(0, ("error", "finding", "warning", "note"), "error")
