"""The chart of evaluations beside training."""

import numpy as np
import pandas as pd
import pytest
from drawn_figures import figure, trace

from board.analysis.compare.checkpoints import TrainingAndEvaluation
from board.analysis.compare.run_overlay import CURVE
from board.errors import FieldMissing
from board.figures.checkpoints import training_and_evaluations
from board.figures.run_spreads import run_lines

NOTHING = pd.DataFrame(columns=list(CURVE), dtype=float)


def curve(steps: list[int], half: float = 0.5) -> pd.DataFrame:
    """A curve with a band so wide to either side."""
    value = np.linspace(0, 1, len(steps))
    return pd.DataFrame({"at": steps, "step": steps, "value": value, "low": value - half, "high": value + half})


def test_lines_and_points_of_each_run() -> None:
    """Training is a line with a band, an evaluation a point with its bars; of a run that has one alone just that is drawn."""
    a, b, c = run_lines(["<a>", "b", "c"], ["#111111", "#222222", "#333333"])
    both = TrainingAndEvaluation(curve([0, 1, 2]), curve([0, 2], 0.25))

    fig = figure(
        training_and_evaluations(
            [(a, both), (b, TrainingAndEvaluation(NOTHING, curve([1], np.nan))), (c, TrainingAndEvaluation(NOTHING, NOTHING))],
            "reward",
        )
    )

    assert [one.name for one in fig.data] == [
        "&lt;a&gt;, interval",
        "&lt;a&gt;, training",
        "&lt;a&gt;, evaluated",
        "b, evaluated",
    ]
    points, alone = trace(fig, "&lt;a&gt;, evaluated"), trace(fig, "b, evaluated")
    assert (points.x.tolist(), points.error_y.array.tolist(), points.error_y.arrayminus.tolist()) == (
        [0, 2],
        [0.25] * 2,
        [0.25] * 2,
    )
    assert (alone.error_y.array.tolist(), alone.marker.symbol != points.marker.symbol) == ([0], True)
    assert points.text[0] == "0, -0.250 to 0.250"


@pytest.mark.parametrize("runs", [1, 5])
def test_what_stands_above_it_fits_a_narrow_screen(runs: int) -> None:
    """The line below the title is not cut at 480 pixels, which hold about 70 letters; the legend tells lines from points."""
    lines = run_lines([f"run {at}" for at in range(runs)], ["#111111"] * runs)

    fig = figure(training_and_evaluations([(line, TrainingAndEvaluation(curve([0, 1]), curve([1]))) for line in lines], "reward"))

    subtitle = fig.layout.title.subtitle.text
    assert "95 % intervals" in subtitle
    assert len(subtitle) <= 66
    assert {one.name.partition(", ")[2] for one in fig.data if "interval" not in one.name} == {"training", "evaluated"}


def test_nothing_to_draw_is_told() -> None:
    """What is needed is named."""
    with pytest.raises(FieldMissing, match="needs reward"):
        training_and_evaluations([(run_lines(["a"], ["#111111"])[0], TrainingAndEvaluation(NOTHING, NOTHING))], "reward")
