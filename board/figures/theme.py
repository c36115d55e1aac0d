"""How every chart looks: one colour per meaning, thin grid, no boxes, room for labels instead of legends.

Backgrounds are transparent and text has no colour of its own, so a figure takes both from the page, light or dark.
Knows nothing of what is drawn.
"""

import html
from typing import Final, Literal

import numpy as np
import plotly.graph_objects as go
from numpy.typing import NDArray

COLORS: Final[dict[str, str]] = {
    "policy": "#12908a",
    "reference": "#838b95",
    "validation": "#a88a00",
    "kl": "#d9730d",
    "value": "#3f7fdb",
    "entropy": "#8f63d2",
    "length": "#12908a",
    "other": "#c0569b",
    "below": "#3f7fdb",
    "above": "#d9730d",
}
"""Line and bar colours by meaning; `below` and `above` zero are for advantages and token rewards.

Each has a contrast of 3:1 or more (WCAG AA for graphics) on the light and on the dark page. No colour can reach on both the 4.5:1
that text needs, so text is never coloured. Lines that share a colour differ in their dashes.
"""

SEQUENTIAL: Final = "Cividis"
"""Even steps for every kind of colour vision, low to high."""

MARK: Final = "rgba(128,136,140,0.9)"
"""The chosen step, and other marks that are no data."""

GRID: Final = "rgba(128,136,140,0.22)"
HEIGHT: Final = 300
AXIS_TITLE: Final = {"standoff": 12, "font": {"size": 12}}
"""Closer than this, Plotly only sometimes moves the title out of the way of the tick labels."""

TEXT_COLORS: Final = {"light": "#4f5b58", "dark": "#c6d0cc"}
"""For `ink`: 4.5:1 or more (WCAG AA for text) on the page of that theme."""

_FEW_STEPS: Final = 10
_EDGE: Final = 0.08
"""So near an end of the axis (as a share of it) a label stands beside its line, not across it."""


def plain(text: str) -> str:
    """Text as Plotly shows it letter for letter: names come from runs, and Plotly reads HTML tags and entities."""
    return html.escape(text, quote=False)


def tint(color: str, alpha: float) -> str:
    """A "#rrggbb" colour made transparent: alpha 0 to 1."""
    red, green, blue = (int(color[at : at + 2], 16) for at in (1, 3, 5))
    return f"rgba({red},{green},{blue},{alpha:g})"


def base_layout(fig: go.Figure, title: str, subtitle: str = "", right: int = 16) -> go.Figure:
    """Dress a figure: the question as its title, a line on what is drawn below it; `right` pixels are kept free for labels.

    Both texts are shown letter for letter. Replaces the layout of the figure and returns it.
    """
    heading = {"text": plain(title), "subtitle": {"text": plain(subtitle), "font": {"size": 12}}, "font": {"size": 15}}
    place = {
        "x": 0,
        "xref": "container",
        "xanchor": "left",
        "y": 1,
        "yref": "container",
        "yanchor": "top",
        "pad": {"t": 6, "l": 4},
    }
    axis = {"gridcolor": GRID, "gridwidth": 1, "zeroline": False, "showline": False, "ticks": "", "automargin": True}
    # one assignment: every update of a Plotly figure costs milliseconds
    fig.layout = {
        "title": {**heading, **place},
        "height": HEIGHT,
        "margin": {"l": 8, "r": right, "t": 70 if subtitle else 44, "b": 8},
        "paper_bgcolor": "rgba(0,0,0,0)",
        "plot_bgcolor": "rgba(0,0,0,0)",
        "showlegend": False,
        "hovermode": "x unified",
        "hoverdistance": -1,
        "hoverlabel": {"font": {"size": 11}, "align": "left", "namelength": -1},
        "uirevision": title,
        "bargap": 0,
        "xaxis": {**axis, "showgrid": False, "spikecolor": MARK, "spikethickness": 1, "spikedash": "dot"},
        "yaxis": {**axis, "exponentformat": "power", "separatethousands": True},
    }
    return fig


def ink(fig: go.Figure, theme: Literal["light", "dark"]) -> go.Figure:
    """Give all text of a figure the colour for that page, if the page's own chart theme is too pale. Changes and returns it."""
    color = TEXT_COLORS[theme]
    fig.update_layout(font_color=color, title_subtitle_font_color=color, legend_font_color=color, hoverlabel_font_color=color)
    fig.update_traces(colorbar_tickfont_color=color, selector={"type": "heatmap"})
    axis = {"tickfont_color": color, "title_font_color": color}
    return fig.update_xaxes(**axis).update_yaxes(**axis)


def step_axis(fig: go.Figure, steps: NDArray[np.integer], note: str = "") -> None:
    """Make x the training step over `steps` (ascending, at least one); few steps are all labelled, no fractions between them."""
    first, last = int(steps[0]), int(steps[-1])
    room = (last - first) * 0.02 or 0.5
    fig.layout.xaxis.update(
        title={"text": plain(f"step · {note}" if note else "step"), **AXIS_TITLE},
        range=[first - room, last + room],
        unifiedhovertitle={"text": "step %{x:,d}"},
        tickformat=",d",
        **({"tickvals": np.asarray(steps)} if steps.size <= _FEW_STEPS else {}),
    )


def mark_step(fig: go.Figure, step: int | None, steps: NDArray[np.integer], color: str = MARK) -> None:
    """A thin vertical line, named at its top, through the chosen step; nothing if the chart does not reach it."""
    if step is None or step not in steps:
        return
    line = {"color": color, "width": 1}
    fig.add_shape(type="line", x0=step, x1=step, y0=0, y1=1, yref="paper", line=line, name="chosen step")
    # An annotation, because a shape's own label is cut off at the edge of the plot.
    side = (step - steps[0]) / max(1, steps[-1] - steps[0])
    fig.add_annotation(
        x=step,
        y=1,
        yref="paper",
        yanchor="bottom",
        xanchor="left" if side < _EDGE else "right" if side > 1 - _EDGE else "center",
        showarrow=False,
        text=f"step {step:,}",
        font={"size": 11},
        name="chosen step",
    )
