"""Figures of a run for notebooks, as the board's pages draw them.

Chooses the column or metric of a figure and its title; the other modules draw it.
"""

from collections.abc import Mapping
from typing import Final

import numpy as np
import plotly.graph_objects as go

from board.analysis.rollouts.selection import of_step
from board.analysis.steps.metric_list import Panel, panels, points, short_name, unit_of
from board.analysis.steps.step_metrics import per_step_values
from board.analysis.steps.step_stats import per_step
from board.errors import BoardError
from board.figures.curve_panel import Healthy
from board.figures.curves import Band, CurveSeries, step_panel
from board.figures.distributions import step_histogram
from board.figures.metric_panel import PanelLine, metric_curves
from board.figures.panel_figure import panel_figure
from board.figures.theme import COLORS
from board.runs.run import Run

REWARDS: Final[Mapping[str, tuple[str, str]]] = {
    "reward": ("policy", "policy"),
    "ref_reward": ("reference", "reference"),
    "valid_reward": ("validation", "validation"),
    "ref_valid_reward": ("reference, validation", "reference"),
}
"""Column → (name, colour) of the lines of a curve of rewards."""


def reward_curve(run: Run, *, band: Band = "std", smoothing: float = 0.0) -> go.Figure:
    """Mean reward by step, of the policy and of whatever else the run has a reward of, with a band around each.

    `smoothing` is the weight of `step_stats.smooth`, from 0 to below 1. Of a run with evaluations those are left out. Raises
    FieldMissing where there is no reward.
    """
    frame = run.trained.frame
    series = [
        CurveSeries(name, per_step(frame, column), COLORS[color])
        for column, (name, color) in REWARDS.items()
        if column in frame.columns
    ]
    return go.Figure(panel_figure(step_panel(series, band, unit="reward", smoothing=smoothing), "Does the reward rise?"))


def metric(run: Run, key: str, *, smoothing: float = 0.0, log: bool = False) -> go.Figure:
    """One metric by step as rollouts give it, with its healthy range and a ring where it is first left.

    `key` is one of `board.analysis.steps.step_metrics.computable(run)`, such as "kl/k3_mean" or "reward/part/NAME". `log` makes the axis
    logarithmic, `smoothing` is as in `reward_curve`. Raises BoardError for a metric that the run cannot give, FieldMissing (one of them)
    where no step has a number.
    """
    (panel,) = panels(per_step_values(run, [key]), [], "board")
    assert panel.own is not None
    line = PanelLine("rollouts", *points(panel.own), logged=False)
    drawn = metric_curves([line], panel.family, unit_of(panel), healthy_range(panel), smoothing, log)
    return go.Figure(panel_figure(drawn, short_name(panel.name)))


def reward_histogram(run: Run, step: int) -> go.Figure:
    """How the reward is spread over the rollouts of one step, that of the reference over it where there is one, and both means.

    Raises BoardError where the run has no such step, FieldMissing (one of them) where the step has no reward.
    """
    rows = of_step(run.trained.frame, step)
    if not len(rows):
        raise BoardError(f"There is no step {step:,} in {run.name}.")
    policy, reference = (rows[name].to_numpy() if name in rows.columns else None for name in ("reward", "ref_reward"))
    chart = step_histogram(np.empty(0) if policy is None else policy, reference, f"How is the reward spread in step {step:,}?")
    return go.Figure(chart.spec)


def healthy_range(panel: Panel) -> Healthy | None:
    """What a panel marks of its metric's healthy range; None for a metric that the catalogue does not know."""
    if panel.metric is None:
        return None
    left, reading = panel.departure, panel.metric.reading
    return Healthy(reading.low, reading.high, None if left is None else (left.step, left.value))
