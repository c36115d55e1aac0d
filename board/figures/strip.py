"""The strip of all steps in the top line: one small bar of mean reward per step."""

from typing import Final

import numpy as np
import pandas as pd
import plotly.graph_objects as go

from board.figures.theme import COLORS

MOST_BARS: Final = 400
"""More bars than this cannot be told apart on a screen; neighbouring steps then share one."""

HEIGHT: Final = 56


def step_strip(stats: pd.DataFrame, selected_step: int) -> go.Figure:
    """Bars of mean reward by step, the chosen step in full colour.

    `stats` is per_step's frame (index step, column mean). Bars start at the lowest mean, so that the course is seen at any offset.
    """
    buckets = np.arange(len(stats)) * min(MOST_BARS, len(stats)) // max(1, len(stats))
    firsts = np.concatenate([[True], buckets[1:] != buckets[:-1]])
    means = stats["mean"].groupby(buckets).mean().to_numpy()
    steps = stats.index.to_numpy()[firsts]
    chosen = np.searchsorted(steps, selected_step, side="right") - 1
    lowest = np.nanmin(means) if np.isfinite(means).any() else 0.0
    span = (np.nanmax(means) - lowest if np.isfinite(means).any() else 0.0) or 1.0
    bars = go.Bar(
        x=steps,
        y=np.where(np.isfinite(means), means - lowest + 0.06 * span, 0.0),
        customdata=means,
        marker={
            "color": [COLORS["policy"] if at == chosen else COLORS["reference"] for at in range(len(steps))],
            "line": {"width": 0},
        },
        opacity=0.9,
        hovertemplate="step %{x}: mean reward %{customdata:.3g}<extra></extra>",
    )
    figure = go.Figure(bars)
    # hoverdistance -1: a click anywhere in a bar's column is a click on the bar, however low it is
    figure.update_layout(
        height=HEIGHT,
        margin={"l": 0, "r": 0, "t": 2, "b": 2},
        bargap=0.15,
        showlegend=False,
        hovermode="x",
        hoverdistance=-1,
    )
    figure.update_xaxes(visible=False, fixedrange=True, type="category")
    figure.update_yaxes(visible=False, fixedrange=True)
    return figure
