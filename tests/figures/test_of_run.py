"""board.figures for notebooks: a run in, a Plotly figure with the run's numbers out."""

import math
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import plotly.graph_objects as go
import pytest
from drawn_figures import SPREAD, TEAL, note, series, step_curve, trace
from rows import row, token_row, write_run

from board import figures, open_run
from board.analysis.steps.step_metrics import computable, per_step_values
from board.errors import BoardError, FieldMissing
from board.figures.curves import CurveSeries, Healthy
from board.figures.downsampling import LIMIT
from board.figures.metric_panel import PanelLine, metric_curves
from board.figures.of_run import panel_figure
from board.runs.run import Run

REPOSITORY = Path(__file__).parents[2]
REWARDS = {1: (0.0, 1.0), 2: (0.5, 1.0), 4: (1.0, 1.0)}
"""Step → rewards of its rollouts."""


@pytest.fixture
def run(tmp_path: Path) -> Run:
    """Three steps of two rollouts each, a reference's rewards, a column of its own, and an evaluation to be left out."""
    rows = [
        token_row(step, reward=reward, ref_reward=0.25, **{"<b>mine": step * 2.0})
        for step, rewards in REWARDS.items()
        for reward in rewards
    ]
    return open_run(write_run(tmp_path / "run", {"rank_0.jsonl": [*rows, token_row(4, reward=9.0, split="evaluation")]}))


def lines(figure: go.Figure) -> dict[str, tuple[list[int], list[float]]]:
    """The lines of a figure by name: x and y."""
    assert isinstance(figure, go.Figure)
    return {one.name: ([*one.x], [*one.y]) for one in figure.data if one.mode.startswith("lines") and one.hoverinfo != "skip"}


def test_reward_curve(run: Run) -> None:
    """The mean of each step, of the policy and of the reference, evaluations left out; a band around each unless none is wanted."""
    figure = figures.reward_curve(run)

    assert lines(figure) == {"policy": ([1, 2, 4], [0.5, 0.75, 1.0]), "reference": ([1, 2, 4], [0.25] * 3)}
    assert [one.name for one in figure.data if one.fill] == ["policy, band", "reference, band"]
    assert [one.name for one in figures.reward_curve(run, band="none").data] == ["policy", "reference"]


def test_metric(run: Run) -> None:
    """Every metric that the run can give is drawn, by its key, as the catalogue computes it."""
    keys = [*per_step_values(run)]
    assert "kl/k3_mean" in keys

    for key in keys:
        figure = figures.metric(run, key)
        ((steps, drawn),) = lines(figure).values()
        known = per_step_values(run, [key])[key].dropna()
        assert np.isin(known.index, steps).all(), key
        np.testing.assert_allclose([y for y in drawn if y == y], known.to_numpy())
        assert figure.layout.title.text


def test_a_name_of_the_run_is_text(run: Run) -> None:
    """The name of a run's own column is the title, letter for letter."""
    assert "column/<b>mine/mean" in computable(run)

    assert figures.metric(run, "column/<b>mine/mean").layout.title.text == "column/&lt;b&gt;mine/mean"


def test_reward_histogram(run: Run) -> None:
    """The rewards of one step, the reference's beside them, and both means."""
    figure = figures.reward_histogram(run, 2)

    assert isinstance(figure, go.Figure)
    assert sum(figure.data[0].y) == 2
    assert figure.layout.title.subtitle.text == "2 rollouts"
    assert sorted(shape.x0 for shape in figure.layout.shapes) == [0.25, 0.75]


REFUSED: dict[str, tuple[Any, type[BoardError], str]] = {
    "no such step": (lambda run: figures.reward_histogram(run, 3), BoardError, "There is no step 3 in run"),
    "no such metric": (lambda run: figures.metric(run, "kl/none"), BoardError, "This run cannot give kl/none"),
    "no reward by step": (figures.reward_curve, FieldMissing, "This needs"),
    "no reward in the step": (lambda run: figures.reward_histogram(run, 1), FieldMissing, "This needs reward"),
}


@pytest.mark.parametrize(("ask", "error", "said"), REFUSED.values(), ids=REFUSED.keys())
def test_what_is_not_there_is_said(tmp_path: Path, ask: Any, error: type[BoardError], said: str) -> None:
    """A figure of what the run does not have is an error that says what is missing."""
    with pytest.raises(error, match=said):
        ask(open_run(write_run(tmp_path / "run", {"rank_0.jsonl": [row(1), row(2)]})))


WITHOUT = """
import sys
sys.modules["streamlit"] = None
from board import figures, open_run
figures.reward_curve(open_run("rollout_samples/tiny_ppo_rhyme"))
"""


def test_it_needs_no_streamlit() -> None:
    """A notebook without Streamlit can draw a run that ships with the board."""
    subprocess.run([sys.executable, "-c", WITHOUT], cwd=REPOSITORY, env=os.environ, check=True, timeout=120)


GAPPED = {1: [1.0], 2: [2.0], 3: [math.nan], 4: [4.0], 5: [math.nan], 6: [6.0], 7: [7.0]}


def metric(values: list[float], healthy: Healthy | None = None, *, log: bool = False) -> go.Figure:
    """The panel of a metric as a checked figure."""
    line = PanelLine("rollouts", np.arange(len(values)), np.array(values, np.float64), False)
    return go.Figure(panel_figure(metric_curves([line], "kl", "", healthy, log=log), "KL"))


def test_a_step_that_stands_alone_is_a_point() -> None:
    """The line breaks where a step has no mean, and a step between two gaps is still seen, as is the only one of a run."""
    line = trace(step_curve([series(GAPPED)]), "policy")
    np.testing.assert_array_equal(line.y, [1, 2, np.nan, 4, np.nan, 6, 7])
    assert [size > 0 for size in line.marker.size] == [False, False, False, True, False, False, False]

    lone = step_curve([series({7: [1.0, 2.0]})], band="std")
    assert trace(lone, "policy").marker.size[0] > 0
    assert list(lone.layout.xaxis.tickvals) == [7]
    assert lone.layout.xaxis.range[0] < 7 < lone.layout.xaxis.range[1]


def test_a_band_breaks_where_its_line_does() -> None:
    """One closed outline per stretch of steps, a lone step with some width; nothing is filled across a gap."""
    area = trace(step_curve([series(GAPPED)], band="min-max"), "policy, band")

    x, y = (np.array(of, float) for of in (area.x, area.y))
    stretches = np.split(x, np.flatnonzero(np.isnan(x)) + 1)
    assert [(np.nanmin(one), np.nanmax(one)) for one in stretches if one.size] == [(1, 2), (3.8, 4.2), (6, 7)]
    whole = trace(step_curve([series(SPREAD)], band="min-max"), "policy, band")
    assert [*whole.x][:-1] == [1, 2, 4, 4, 2, 1]
    assert [*whole.y][:-1] == [0, 1, 5, 8, 3, 9]
    assert np.isnan([x[-1], y[-1]]).all()


def test_a_smoothed_line_has_what_it_was_behind_it() -> None:
    """Pale and thin; a line that is not smoothed has nothing behind it."""
    assert [one.name for one in step_curve([series(SPREAD)], smoothing=0.5).data] == ["policy, not smoothed", "policy"]
    assert [one.name for one in step_curve([series(SPREAD)]).data] == ["policy"]
    assert note(step_curve([series(SPREAD)], smoothing=0.5, unit="reward")) == "reward · smoothed 0.5"


def test_several_lines_have_a_legend() -> None:
    """A lone one needs none."""
    assert [step_curve([series(SPREAD, f"line {at}") for at in range(many)]).layout.showlegend for many in (1, 2)] == [
        False,
        True,
    ]


def test_a_long_curve_is_thinned_and_says_so() -> None:
    """Highest, lowest, first and last steps are all there, gaps too, and the axis tells how many steps are drawn."""
    n = 12_345
    mean = np.sin(np.arange(n) / 50.0)
    mean[[4321, 777]] = 10, -10
    mean[9000:9003] = np.nan
    stats = pd.DataFrame({"mean": mean}, index=pd.Index(np.arange(n), name="step"))

    fig = step_curve([CurveSeries("policy", stats, TEAL)])

    line = trace(fig, "policy")
    assert len(line.x) <= LIMIT
    assert {0, 777, 4321, n - 1} <= set(line.x.tolist())
    np.testing.assert_array_equal(line.y, mean[line.x])
    assert np.isnan(line.y[(line.x >= 9000) & (line.x < 9003)]).any()
    assert fig.layout.xaxis.title.text == f"step · {len(line.x):,} of 12,345 drawn, with every peak and dip"
    assert len(trace(step_curve([series({step: [0.0] for step in range(LIMIT)})]), "policy").x) == LIMIT


RANGES: dict[str, tuple[Healthy | None, list[float]]] = {
    "no range": (None, []),
    "both bounds": (Healthy(0.5, 2), [0.5, 2]),
    "no lower bound": (Healthy(None, 2), [2]),
    "left": (Healthy(0, 2, (3, 4.0)), [0, 2]),
}


@pytest.mark.parametrize(("healthy", "bounds"), RANGES.values(), ids=RANGES)
def test_healthy_range_is_drawn(healthy: Healthy | None, bounds: list[float]) -> None:
    """Bounds are dotted lines across the panel; a ring stands where the curve first leaves them, and only there."""
    fig = metric([1, 2, 1, 4, 5], healthy)

    assert [(shape.y0, shape.y1, shape.xref) for shape in fig.layout.shapes] == [(one, one, "paper") for one in bounds]
    rings = [(list(one.x), list(one.y)) for one in fig.data if one.name == "first outside"]
    assert rings == ([([3], [4.0])] if healthy and healthy.left_at else [])


def test_logarithmic_axis_says_what_it_leaves_out() -> None:
    """Zero and below cannot be drawn on it: they are gaps and counted, and no bound stands there."""
    fig = metric([100, 0, -1, 0.01, 0.01], Healthy(0, 10, (0, -1.0)), log=True)

    assert fig.layout.yaxis.type == "log"
    assert np.isnan(trace(fig, "rollouts").y[1:3]).all()
    assert fig.layout.xaxis.title.text == "step · 2 steps not above zero left out"
    assert [shape.y0 for shape in fig.layout.shapes] == [10]
    assert [one.name for one in fig.data] == ["rollouts"]
