"""One metric over steps in a small panel: from rollouts and as trackers logged it, with the healthy range and where it is first left.

Draws arrays that are ready; knows nothing of the catalogue or of trackers.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final

import numpy as np
from numpy.typing import NDArray

from board.analysis.step_stats import smooth
from board.errors import FieldMissing
from board.figures.chart import Chart, ChartLine, Spec
from board.figures.curve_panel import CurvePanel, Healthy
from board.figures.curves import MOST_LABELS
from board.figures.downsampling import kept_points
from board.figures.lines import DrawnCurve, line, name_lines, unsmoothed
from board.figures.theme import COLORS, MARK, base_layout, leave_room, step_axis, tint
from board.metrics.formulas import Float64Array
from board.text.counting import plural

HEIGHT: Final = 168
_BARE: Final = 22
_NOTED: Final = 40
"""Pixels below the plot, for the steps alone and with a note beneath them."""
_LEGEND_ROW: Final = 19

_LABEL_LETTERS: Final = 16
"""Of the name of a line at its end."""

MOST_TICKS: Final = 5
"""So many values are labelled beside the plot."""

MOST_POINTS: Final = 500
"""A small panel shows no more of a long curve."""

DASHES: Final = ("dash", "dot", "dashdot", "longdash")
"""What trackers logged is grey, each of them dashed in its own way."""

FAMILY_COLORS: Final[dict[str, str]] = {
    "reward": COLORS["policy"],
    "groups": COLORS["policy"],
    "kl": COLORS["kl"],
    "policy": COLORS["entropy"],
    "update": COLORS["kl"],
    "critic": COLORS["value"],
    "advantage": COLORS["value"],
    "length": COLORS["length"],
    "mismatch": COLORS["kl"],
    "evaluation": COLORS["validation"],
}
"""Colours by the family of a metric; any other has that of other columns."""


@dataclass(frozen=True)
class PanelLine:
    """One line: its name on the screen, and its values by step (rising), NaN where there is none."""

    name: str
    steps: NDArray[np.int64]
    values: Float64Array
    logged: bool
    """By a tracker, or of all rollouts where others are of those that a filter leaves: drawn grey and dashed."""


def metric_curves(
    lines: Sequence[PanelLine],
    family: str,
    unit: str = "",
    healthy: Healthy | None = None,
    smoothing: float = 0.0,
    log: bool = False,
) -> CurvePanel:
    """The lines, the board's own on top of the others where they agree, and the healthy range.

    `smoothing` as in `board.analysis.step_stats.smooth`, the unsmoothed line stays. On a logarithmic axis what is not above zero cannot be
    drawn, and the note says how many steps that are; where most are not, the axis stays linear. Raises FieldMissing where there is no
    number.
    """
    if not any(np.isfinite(one.values).any() for one in lines):
        raise FieldMissing("It has no number in any step.")
    log = log and _mostly_above_zero(lines)
    known = [one for one in lines if np.isfinite(_drawable(one.values, log)).any()]
    color = FAMILY_COLORS.get(family, COLORS["other"])
    dashes = iter(DASHES * len(known))
    curves = [_curve(one, color, next(dashes) if one.logged else "solid", smoothing, log) for one in known]
    below = np.argsort([not one.logged for one in known], kind="stable")
    return CurvePanel(
        "", unit, tuple(curves[at] for at in below), _smoothed(smoothing), _left_out(lines) if log else "", log, healthy
    )


def metric_panel(
    lines: Sequence[PanelLine],
    family: str,
    unit: str = "",
    healthy: Healthy | None = None,
    smoothing: float = 0.0,
    log: bool = False,
) -> Chart:
    """The panel of `metric_curves` as a chart: dotted lines at the bounds of the healthy range, and a ring where it is first left.

    Raises FieldMissing where there is no number.
    """
    panel = metric_curves(lines, family, unit, healthy, smoothing, log)
    curves = [_thinned(one) for one in panel.curves]
    data = [unsmoothed(curve) for curve in curves] if smoothing else []
    data += [_line(curve, unit, curve.color != COLORS["reference"]) for curve in curves]
    listed = sorted(curves, key=lambda curve: [one.name for one in lines].index(curve.name))
    labels = _labels(listed)
    layout = _layout(max(map(len, labels), default=0))
    name_lines(layout, [_on_axis(curve) for curve in listed] if panel.log else listed, labels)
    _value_axis(layout, np.concatenate([curve.line for curve in curves]), panel.log)
    steps = np.unique(np.concatenate([curve.steps for curve in panel.curves]))
    step_axis(layout, steps)
    _beneath(layout, " · ".join(filter(None, (_thinning(curves), panel.note))), 0 if labels else len(curves))
    data += _bounds(layout, healthy, panel.log) if healthy else []
    marked = tuple(ChartLine(one.color, one.steps, _axis_values(one.line, panel.log), one.line) for one in panel.curves)
    return Chart({"data": data, "layout": layout}, steps, marked)


def _smoothed(weight: float) -> str:
    return f"smoothed {weight:g}" if weight else ""


def _value_axis(layout: Spec, drawn: Float64Array, log: bool) -> None:
    """Room for its labels, and the labels themselves: few, as the panel is small."""
    low, high = float(np.nanmin(drawn)), float(np.nanmax(drawn))
    leave_room(layout, low, high)
    layout["yaxis"] |= {"nticks": MOST_TICKS}
    if log:
        ticks = log_ticks(low, high)
        texts = [_tick_text(tick) for tick in ticks]
        layout["yaxis"] |= {"type": "log", "tickmode": "array", "tickvals": ticks, "ticktext": texts}
        layout["margin"]["l"] = 14 + 7 * max(map(len, texts), default=0)


def log_ticks(low: float, high: float) -> list[float]:
    """At most MOST_TICKS round numbers from `low` to `high`, both above zero; one at least.

    1, 2 and 5 of each decade, or fewer of them, or powers of ten; within a decade that has too few of these even steps instead.
    """
    powers = range(math.floor(math.log10(low)), math.floor(math.log10(high)) + 1)
    finer = [[digit * 10.0**power for power in powers for digit in digits] for digits in ((1, 2, 5), (1, 5))]
    coarser = [[10.0**power for power in powers if power % every == 0] for every in (1, 2, 3, 5, 10, 20, 50, 100, 200)]
    fitting = ([tick for tick in ticks if low <= tick <= high] for ticks in (*finer, *coarser))
    ticks = next(ticks for ticks in fitting if len(ticks) <= MOST_TICKS)
    return ticks if len(ticks) > 2 or high / 10 > low else _even_ticks(low, high) or [float(f"{low:.4g}")]


def _even_ticks(low: float, high: float) -> list[float]:
    """None where the numbers differ by so little that their labels would be long."""
    if high - low <= 1e-3 * high:
        return []
    power = math.floor(math.log10(high - low))
    steps = [digit * 10.0**at for at in (power - 1, power) for digit in (1, 2, 5)]
    found = (
        [float(f"{at * step:.6g}") for at in range(math.ceil(low / step), math.floor(high / step) + 1)] for step in steps if step
    )
    return next((ticks for ticks in found if len(ticks) <= MOST_TICKS), [])


def _tick_text(value: float) -> str:
    """Short: 160, 0.02, 2e-5."""
    if 1e-3 <= value < 1e5:
        return f"{value:,.6g}"
    digits, power = f"{value:.3e}".split("e")
    return f"{float(digits):g}e{int(power)}"


def _beneath(layout: Spec, note: str, entries: int) -> None:
    """The note below the steps, and below it room for a legend of so many entries; the plot stays as tall as it is without them."""
    legend = _LEGEND_ROW * math.ceil(entries / 2)
    layout["xaxis"] |= {"title": {"text": note, "standoff": 4, "font": {"size": 11}}, "nticks": 6}
    layout["margin"]["b"] = (_NOTED if note else _BARE) + legend
    layout["height"] += legend
    if entries:
        place = {"yref": "container", "y": 0, "yanchor": "bottom", "x": 0, "xanchor": "left"}
        layout["legend"] |= {**place, "font": {"size": 11}, "entrywidthmode": "fraction", "entrywidth": 0.5}


def _mostly_above_zero(lines: Sequence[PanelLine]) -> bool:
    values = np.concatenate([one.values[np.isfinite(one.values)] for one in lines])
    return bool((values > 0).mean() > 0.5)


def _drawable(values: Float64Array, log: bool) -> Float64Array:
    return np.where(np.isfinite(values) & (values > 0), values, np.nan) if log else values


def _axis_values(values: Float64Array, log: bool) -> Float64Array:
    """In the units of the axis, in which Plotly wants labels and marks: powers of ten on a logarithmic one."""
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.log10(values) if log else values


def _on_axis(curve: DrawnCurve) -> DrawnCurve:
    return replace(curve, line=_axis_values(curve.line, True), raw=_axis_values(curve.raw, True))


def _curve(one: PanelLine, color: str, dash: str, smoothing: float, log: bool) -> DrawnCurve:
    raw = smooth(_drawable(one.values, log), 0.0)
    empty = np.full(raw.size, np.nan)
    chosen = COLORS["reference"] if one.logged else color
    count = np.full(raw.size, -1)
    return DrawnCurve(one.name, chosen, dash, one.steps, smooth(raw, smoothing), raw, empty, empty, raw, count, raw.size)


def _thinned(curve: DrawnCurve) -> DrawnCurve:
    kept = kept_points([curve.line, curve.raw], limit=MOST_POINTS)
    arrays = ("steps", "line", "raw", "low", "high", "mean", "count")
    return replace(curve, **{name: getattr(curve, name)[kept] for name in arrays})


def _line(curve: DrawnCurve, unit: str, ours: bool) -> Spec:
    """The board's own is a little wider than what it is drawn over, and first in the legend.

    Hovering tells six digits, written by the browser: a panel of a long run would send mostly texts.
    """
    drawn = line(curve, unit)
    del drawn["text"]
    ending = f" {unit}" if unit else ""
    look = {"line": {**drawn["line"], "width": 2.25 if ours else 1.75}, "legendrank": 1 if ours else 2}
    return {**drawn, "hovertemplate": f"%{{y:.6~g}}{_no_template(ending)}", **look}


def _no_template(text: str) -> str:
    """Text in which Plotly finds nothing to fill in."""
    return text.replace("%{", "% {")


def _labels(curves: Sequence[DrawnCurve]) -> list[str]:
    """Name of each line; a lone one needs none, and of too many none is written."""
    if len(curves) > MOST_LABELS:
        return []
    return [_short(curve.name) for curve in curves] if len(curves) > 1 else [""]


def _short(name: str) -> str:
    """Names that begin alike differ at their ends."""
    return name if len(name) <= _LABEL_LETTERS else f"{name[: _LABEL_LETTERS // 2]}…{name[1 - _LABEL_LETTERS // 2 :]}"


def _layout(letters: int) -> Spec:
    layout = base_layout("", right=16 + 7 * letters)
    del layout["title"]
    return layout | {"height": HEIGHT, "margin": {"l": 8, "r": 16 + 7 * letters, "t": 18, "b": _BARE}, "uirevision": "panel"}


def _thinning(curves: Sequence[DrawnCurve]) -> str:
    """How much of the longest curve is drawn; empty where all is."""
    most = max(curves, key=lambda curve: curve.total)
    return f"{most.steps.size:,} of {most.total:,} steps drawn" if most.steps.size < most.total else ""


def _left_out(lines: Sequence[PanelLine]) -> str:
    """How many steps have no place on a logarithmic axis: those of the board's own curve, else of all together."""
    counted = [one for one in lines if not one.logged] or lines
    below = {int(step) for one in counted for step in one.steps[np.isfinite(one.values) & (one.values <= 0)]}
    return f"{plural(len(below), 'step')} not above zero left out" if below else ""


def _bounds(layout: Spec, healthy: Healthy, log: bool) -> list[Spec]:
    """Dotted lines at the bounds, which do not stretch the axis, and a ring where the curve first leaves them."""
    for bound in (healthy.low, healthy.high):
        if bound is not None and not (log and bound <= 0):
            dotted = {"color": MARK, "width": 1, "dash": "dot"}
            layout["shapes"].append({"type": "line", "xref": "paper", "x0": 0, "x1": 1, "y0": bound, "y1": bound, "line": dotted})
    if healthy.left_at is None or (log and healthy.left_at[1] <= 0):
        return []
    step, value = healthy.left_at
    ring = {"symbol": "circle-open", "size": 12, "color": tint(COLORS["above"], 1), "line": {"width": 2}}
    point = {"type": "scatter", "x": np.array([step]), "y": np.array([value]), "mode": "markers", "marker": ring}
    return [{**point, "hoverinfo": "skip", "showlegend": False, "name": "first outside", "cliponaxis": False}]
