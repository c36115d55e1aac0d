"""Figures of a run for notebooks, as the board's pages draw them.

Chooses the column or metric of a figure and its title, and makes of a panel of curves a Plotly figure.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Final

import numpy as np
import plotly.graph_objects as go

from board.analysis.rollouts.selection import of_step
from board.analysis.steps.metric_list import Panel, panels, points, short_name, unit_of
from board.analysis.steps.step_metrics import per_step_values
from board.analysis.steps.step_stats import per_step
from board.errors import BoardError
from board.figures.chart import Spec
from board.figures.curves import Band, CurvePanel, CurveSeries, DrawnCurve, Healthy, step_panel
from board.figures.distributions import step_histogram
from board.figures.downsampling import drawn_points, standing_alone
from board.figures.metric_panel import PanelLine, metric_curves
from board.figures.theme import COLORS, MARK, base_layout, plain, step_axis, tint
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


def panel_figure(panel: CurvePanel, title: str) -> Spec:
    """A line for each curve, its band, and what it was before smoothing; the healthy range, and a ring where it is first left.

    x is the step. A long curve is thinned, and the axis says so. Names, units and the title are shown verbatim.
    """
    curves = [_thinned(one) for one in panel.curves]
    data = [part for one in curves for part in _parts(one, panel.unit)]
    layout = base_layout(title, " · ".join(filter(None, (panel.unit, panel.drawn))))
    layout |= {"showlegend": len(curves) > 1, "legend": {"orientation": "h", "yanchor": "top", "y": -0.2}}
    steps = np.unique(np.concatenate([one.steps for one in panel.curves]))
    step_axis(layout, steps, " · ".join(filter(None, (_thinning(curves), panel.note))))
    if panel.log:
        layout["yaxis"] |= {"type": "log"}
    data += _bounds(layout, panel.healthy or Healthy(), panel.log)
    return {"data": data, "layout": layout}


def _thinned(curve: DrawnCurve) -> DrawnCurve:
    """The points of a long curve that are drawn: every peak and dip of each of its lines is among them."""
    lines = [line for line in (curve.line, curve.raw, curve.low, curve.high) if np.isfinite(line).any()]
    points = drawn_points(lines)
    arrays = ("steps", "line", "raw", "low", "high", "mean", "count")
    return replace(curve, **{name: getattr(curve, name)[points] for name in arrays})


def _thinning(curves: Sequence[DrawnCurve]) -> str:
    most = max(curves, key=lambda curve: curve.total)
    return f"{most.steps.size:,} of {most.total:,} drawn, with every peak and dip" if most.steps.size < most.total else ""


def _parts(curve: DrawnCurve, unit: str) -> Iterator[Spec]:
    """Band, line before smoothing, line; a point for each step that stands alone, as a line does not show it."""
    quiet = {"type": "scatter", "mode": "lines", "hoverinfo": "skip", "showlegend": False}
    if np.isfinite(curve.low).any():
        x, y = _outline(curve)
        look = {"fill": "toself", "fillcolor": tint(curve.color, 0.15), "line": {"width": 0}}
        yield {**quiet, "x": x, "y": y, **look, "name": plain(f"{curve.name}, band")}
    if not np.array_equal(curve.raw, curve.line, equal_nan=True):
        look = {"line": {"color": tint(curve.color, 0.4), "width": 1}}
        yield {**quiet, "x": curve.steps, "y": curve.raw, **look, "name": plain(f"{curve.name}, not smoothed")}
    unit = f" {unit}".replace("%{", "% {").rstrip()  # Plotly fills in what it finds in a template
    yield {
        "type": "scatter",
        "x": curve.steps,
        "y": curve.line,
        "mode": "lines+markers",
        "line": {"color": curve.color, "width": 2, "dash": curve.dash},
        "marker": {"size": np.where(standing_alone(curve.line), 6, 0), "opacity": 1, "line": {"width": 0}},
        "name": plain(curve.name),
        "hovertemplate": f"%{{y:.6~g}}{plain(unit)}",
    }


def _outline(curve: DrawnCurve) -> tuple[list[float], list[float]]:
    """Of the band: one closed outline per stretch of steps without a gap, NaN between them. One of a lone step has some width."""
    known = np.flatnonzero(~np.isnan(curve.low) & ~np.isnan(curve.high))
    x: list[float] = []
    y: list[float] = []
    for stretch in np.split(known, np.flatnonzero(np.diff(known) > 1) + 1):
        steps = curve.steps[stretch] if stretch.size > 1 else curve.steps[stretch].repeat(2) + np.array([-0.2, 0.2])
        low, high = (edge[stretch].repeat(steps.size // stretch.size) for edge in (curve.low, curve.high))
        x += [*steps, *steps[::-1], np.nan]
        y += [*low, *high[::-1], np.nan]
    return x, y


def _bounds(layout: Spec, healthy: Healthy, log: bool) -> list[Spec]:
    """Dotted lines at the bounds, which do not stretch the axis, and a ring where the curve first leaves them."""
    for bound in (healthy.low, healthy.high):
        if bound is not None and not (log and bound <= 0):
            dotted = {"color": MARK, "width": 1, "dash": "dot"}
            layout["shapes"].append({"type": "line", "xref": "paper", "x0": 0, "x1": 1, "y0": bound, "y1": bound, "line": dotted})
    if healthy.left_at is None or (log and healthy.left_at[1] <= 0):
        return []
    (x, y), look = healthy.left_at, {"symbol": "circle-open", "size": 12, "color": tint(COLORS["above"], 1), "line": {"width": 2}}
    ring = {"type": "scatter", "x": [x], "y": [y], "mode": "markers", "marker": look, "name": "first outside"}
    return [{**ring, "hoverinfo": "skip", "showlegend": False, "cliponaxis": False}]
