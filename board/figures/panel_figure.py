"""A panel of curves as a Plotly figure, for notebooks.

Draws what is ready.
"""

from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np

from board.figures.chart import Spec
from board.figures.curve_panel import CurvePanel, DrawnCurve, Healthy
from board.figures.downsampling import drawn_points, standing_alone
from board.figures.theme import COLORS, MARK, base_layout, plain, step_axis, tint


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
