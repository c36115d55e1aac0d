"""Distributions of a number in several runs or steps, and quantile shifts to a baseline."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
import pandas as pd

from board.analysis.steps.histograms import bin_counts, bin_edges
from board.errors import FieldMissing
from board.figures.chart import Chart, Spec, without_steps
from board.figures.theme import AXIS_TITLE, MARK, base_layout, leave_room, plain, tint
from board.metrics.formulas import Float64Array
from board.text.format_number import fmt, signed

DASHES: Final = ("solid", "dash", "dot", "dashdot", "longdash", "longdashdot", "8px,2px,2px,2px,2px,2px", "1px,3px")
"""Lines of runs differ by more than their colours: in the order in which the runs are chosen."""

_ALPHA: Final = 0.16
"""Of a band."""

_MOST_POINTS: Final = 400


@dataclass(frozen=True)
class RunLine:
    """A run as it is drawn."""

    name: str
    color: str
    dash: str = "solid"


def run_lines(names: Sequence[str], colors: Sequence[str]) -> list[RunLine]:
    """Of runs in the order in which they were chosen."""
    return [RunLine(name, color, DASHES[at % len(DASHES)]) for at, (name, color) in enumerate(zip(names, colors, strict=True))]


def outlines(runs: Sequence[tuple[RunLine, Float64Array]], what: str) -> Chart:
    """The outline of each run's histogram, all in the same bins, as shares of the run's rollouts. Values are finite; empty runs are left out.

    Raises FieldMissing where all are empty.
    """
    drawn = _some(runs, what)
    edges = bin_edges(np.concatenate([values for _, values in drawn]))
    shares = [100 * bin_counts(values, edges) / values.size for _, values in drawn]
    layout = _layout("How is it spread?", f"{what} · share of the rollouts of each", what)
    layout["yaxis"] |= {"ticksuffix": " %", "rangemode": "tozero"}
    leave_room(layout, 0.0, float(max(share.max() for share in shares)))
    return without_steps([_outline(run, edges, share) for (run, _), share in zip(drawn, shares, strict=True)], layout)


def _outline(run: RunLine, edges: Float64Array, shares: Float64Array) -> Spec:
    """Closed on the axis; over the bars' middle it shows the bin."""
    texts = [f"{fmt(low)} to {fmt(high)}: {fmt(share)} %" for low, high, share in zip(edges[:-1], edges[1:], shares, strict=True)]
    heights = np.concatenate([[0], np.repeat(shares, 2), [0]])
    return _line(run, np.repeat(edges, 2), heights) | {
        "text": ["", *(text for text in texts for _ in range(2)), ""],
        "hovertemplate": "%{text}",
    }


def cumulative(runs: Sequence[tuple[RunLine, Float64Array]], what: str) -> Chart:
    """The distribution function of each run: which share of its rollouts lies at or below a value. Raises FieldMissing as `outlines`."""
    drawn = _some(runs, what)
    layout = _layout("Which share lies at or below a value?", f"{what} · distribution function of each run", what)
    layout["yaxis"] |= {"ticksuffix": " %", "range": [0, 102]}
    leave_room(layout, 0.0, 100.0)
    low, high = (end(end(values) for _, values in drawn) for end in (min, max))
    return without_steps([_function(run, values, float(low), float(high)) for run, values in drawn], layout)


def _function(run: RunLine, values: Float64Array, low: float, high: float) -> Spec:
    distinct, counts = np.unique(values, return_counts=True)
    shares = 100 * np.cumsum(counts) / values.size
    if len(distinct) > _MOST_POINTS:
        drawn = np.unique(np.searchsorted(shares, np.linspace(0, 100, _MOST_POINTS)).clip(0, len(distinct) - 1))
        distinct, shares = distinct[drawn], shares[drawn]
    x, y = np.concatenate([[low], distinct, [high]]), np.concatenate([[0], shares, [100]])
    line = _line(run, x, y)
    line["line"] |= {"shape": "hv"}
    return line | {
        "text": [f"{fmt(share)} % at or below {fmt(at)}" for at, share in zip(x, y, strict=True)],
        "hovertemplate": "%{text}",
    }


def shifts(runs: Sequence[tuple[RunLine, pd.DataFrame]], baseline: str, what: str) -> Chart:
    """How far each run's quantiles lie above the baseline's, with the 95 % interval as a band: flat is a shift of all, a slope a spread.

    Frames as `distribution_shift.DistributionShift.quantiles`. Raises FieldMissing where all are empty.
    """
    drawn = [(run, frame) for run, frame in runs if len(frame)]
    if not drawn:
        raise FieldMissing(f"This needs {what} in the baseline and in another run.")
    bands = [band(run, frame, "percent") for run, frame in drawn if frame["low"].notna().any()]
    sure = " · 95 % interval over prompts" if bands else ""
    layout = _layout("Which part of it lies apart?", f"above {baseline} at each quantile{sure}", f"quantile of {what}")
    layout["xaxis"] |= {"ticksuffix": " %", "range": [0, 100]}
    layout["shapes"].append(
        {"type": "line", "xref": "paper", "x0": 0, "x1": 1, "y0": 0, "y1": 0, "line": {"color": MARK, "width": 1}}
    )
    ends = np.concatenate([frame[["difference", "low", "high"]].to_numpy(np.float64).ravel() for _, frame in drawn])
    known = ends[np.isfinite(ends)]
    leave_room(layout, *((min(0.0, float(known.min())), max(0.0, float(known.max()))) if known.size else (0.0, 1.0)))
    return without_steps([*bands, *(_shift(run, frame) for run, frame in drawn)], layout)


def band(run: RunLine, frame: pd.DataFrame, along: str) -> Spec:
    """The area between the columns `low` and `high` over the column `along`, where both are known."""
    known = frame.dropna(subset=["low", "high"])
    at, low, high = (known[name].to_numpy(np.float64) for name in (along, "low", "high"))
    return {
        "type": "scatter",
        "x": np.concatenate([at, at[::-1]]),
        "y": np.concatenate([low, high[::-1]]),
        "fill": "toself",
        "fillcolor": tint(run.color, _ALPHA),
        "line": {"width": 0},
        "mode": "lines",
        "hoverinfo": "skip",
        "showlegend": False,
        "name": plain(f"{run.name}, interval"),
    }


def _shift(run: RunLine, frame: pd.DataFrame) -> Spec:
    texts = [
        f"{percent:.0f} %: {signed(difference)}" + (f", {signed(low)} to {signed(high)}" if low == low else "")
        for percent, difference, low, high in frame[["percent", "difference", "low", "high"]].itertuples(index=False)
    ]
    line = _line(run, frame["percent"].to_numpy(np.float64), frame["difference"].to_numpy(np.float64))
    return line | {"text": texts, "hovertemplate": "%{text}"}


def _some(runs: Sequence[tuple[RunLine, Float64Array]], what: str) -> list[tuple[RunLine, Float64Array]]:
    drawn = [(run, values) for run, values in runs if values.size]
    if not drawn:
        raise FieldMissing(f"This needs {what}, which no rollout here has.")
    return drawn


def _layout(title: str, subtitle: str, what: str) -> Spec:
    layout = base_layout(title, subtitle) | {"hovermode": "x unified", "hoverdistance": 20, "showlegend": True}
    layout["legend"] = {"orientation": "h", "yanchor": "top", "y": -0.22, "x": 0}
    layout["xaxis"] |= {"title": {"text": plain(what), **AXIS_TITLE}, "exponentformat": "power"}
    layout["height"] += 40
    return layout


def _line(run: RunLine, x: Float64Array, y: Float64Array) -> Spec:
    line = {"color": run.color, "width": 2, "dash": run.dash}
    return {"type": "scatter", "x": x, "y": y, "mode": "lines", "name": plain(run.name), "line": line}
