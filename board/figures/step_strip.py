"""The strip of all steps in the top line: one small bar of mean reward per step."""

from typing import Final

import numpy as np
import pandas as pd

from board.figures.chart import Chart, Spec
from board.figures.theme import COLORS

MOST_BARS: Final = 400
"""More bars than this cannot be told apart on a screen; neighbouring steps then share one."""

HEIGHT: Final = 56


def step_strip(stats: pd.DataFrame) -> Chart:
    """Bars of mean reward by step; `steps` of the chart are those its bars begin at, and x is their place.

    `stats` is per_step's frame (index step, column mean). Bars start at the lowest mean, so that the course is seen at any offset.
    """
    buckets = np.arange(len(stats)) * min(MOST_BARS, len(stats)) // max(1, len(stats))
    firsts = np.concatenate([[True], buckets[1:] != buckets[:-1]])
    means = stats["mean"].groupby(buckets).mean().to_numpy()
    steps = stats.index.to_numpy(np.int64)[firsts]
    lowest = np.nanmin(means) if np.isfinite(means).any() else 0.0
    span = (np.nanmax(means) - lowest if np.isfinite(means).any() else 0.0) or 1.0
    bars = {
        "type": "bar",
        "x": steps,
        "y": np.where(np.isfinite(means), means - lowest + 0.06 * span, 0.0),
        "customdata": means,
        "marker": {"color": COLORS["reference"], "line": {"width": 0}},
        "unselected": {"marker": {"opacity": 1}},
        "opacity": 0.9,
        "hovertemplate": "step %{x}: mean reward %{customdata:.3g}<extra></extra>",
    }
    axis = {"visible": False, "fixedrange": True}
    # hoverdistance -1: a click anywhere in a bar's column is a click on the bar, however low it is
    layout = {
        "height": HEIGHT,
        "margin": {"l": 0, "r": 0, "t": 2, "b": 2},
        "bargap": 0.15,
        "showlegend": False,
        "hovermode": "x",
        "hoverdistance": -1,
        "xaxis": {**axis, "type": "category"},
        "yaxis": axis,
    }
    return Chart({"data": [bars], "layout": layout}, steps)


def bar_mark(strip: Chart, step: int) -> Spec | None:
    """The chosen step's bar in the units of the strip's axes: its place, height and colour; None before the first bar."""
    at = int(np.searchsorted(strip.steps, step, side="right")) - 1
    return {"bar": at, "height": float(strip.spec["data"][0]["y"][at]), "color": COLORS["policy"]} if at >= 0 else None
