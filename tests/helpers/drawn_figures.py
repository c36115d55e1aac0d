"""Figures as Plotly takes them, which checks every property, and what stands in them."""

from typing import Any

import numpy as np
import pandas as pd
import plotly.graph_objects as go

from board.analysis.steps.step_stats import per_step
from board.figures import curves, distributions, theme
from board.figures.chart import Chart
from board.figures.curves import CurveSeries
from board.figures.of_run import panel_figure

TEAL, GREY = theme.COLORS["policy"], theme.COLORS["reference"]


def figure(chart: Chart) -> go.Figure:
    """The chart as Plotly takes it: every property is checked, a name that plotly.js does not know raises."""
    return go.Figure(chart.spec)


def step_curve(*given: Any, title: str = "", **named: Any) -> go.Figure:
    """The curves as a checked figure of a notebook."""
    return go.Figure(panel_figure(curves.step_panel(*given, **named), title))


def step_histogram(*given: Any) -> go.Figure:
    """The histogram as a checked figure."""
    return figure(distributions.step_histogram(*given))


def gap_histogram(*given: Any) -> go.Figure:
    """The histogram of gaps as a checked figure."""
    return figure(distributions.gap_histogram(*given))


def reward_heat(*given: Any) -> go.Figure:
    """The heat as a checked figure."""
    return figure(distributions.reward_heat(*given))


def by_sample(*given: Any) -> go.Figure:
    """The samples as a checked figure."""
    return figure(distributions.by_sample(*given))


def frame_of(by_step: dict[int, list[float]], column: str = "reward") -> pd.DataFrame:
    """A frame as a run has it, with one number."""
    rows = [(step, value) for step, values in by_step.items() for value in values]
    return pd.DataFrame(rows, columns=["step", column]).astype({"step": np.int64, column: float})


def series(by_step: dict[int, list[float]], name: str = "policy", color: str = TEAL) -> CurveSeries:
    """A curve of the means of these values."""
    return CurveSeries(name, per_step(frame_of(by_step), "reward"), color)


def trace(fig: go.Figure, name: str) -> Any:
    """The only trace of that name."""
    found = [one for one in fig.data if one.name == name]
    assert len(found) == 1, [one.name for one in fig.data]
    return found[0]


def note(fig: go.Figure) -> str:
    """The line under the title."""
    return str(fig.layout.title.subtitle.text)


SPREAD = {1: [0.0, 1.0, 2.0, 9.0], 2: [1.0, 3.0], 4: [5.0, 5.0, 8.0]}
