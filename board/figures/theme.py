"""The look of every chart: one colour per meaning, thin grid, labels, no legends.

Backgrounds are transparent and text has no colour of its own, so a figure takes both from the page, light or dark.
"""

import html
from collections.abc import Sequence
from itertools import cycle
from typing import Final, Literal

import numpy as np
from numpy.typing import NDArray

from board.figures.chart import Spec

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

RUN_COLORS: Final[dict[str, str]] = {
    "teal": "#12908a",
    "orange": "#d9730d",
    "violet": "#8f63d2",
    "blue": "#3f7fdb",
    "pink": "#c0569b",
    "ochre": "#a88a00",
    "green": "#3d8f3d",
    "grey": "#838b95",
}
"""What runs are coloured where several are shown: by the names that a reader may choose, and in this order where he chose none.

Each has a contrast of 3:1 or more on the light and on the dark page."""

_MEANINGS: Final = {
    "kl_": "kl",
    "log_ratio": "kl",
    "mismatch": "kl",
    "entropy": "entropy",
    "logprob": "entropy",
    "value": "value",
    "return": "value",
    "advantage": "value",
    "response_": "length",
    "reward": "policy",
}
"""What the name of a column of the frame begins with → its meaning, a colour's name."""

SEQUENTIAL: Final = "Cividis"
"""Even steps for every kind of colour vision, low to high."""

RAMP: Final = [[share, f"rgba(18,144,138,{alpha})"] for share, alpha in ((0, 0.04), (0.1, 0.22), (0.35, 0.55), (1, 1))]
"""Shares of a whole, few to many: the policy's colour over the page, light or dark, so that nothing reads as nothing."""

MARK: Final = "rgba(128,136,140,0.9)"
"""Marks that are no data."""

GRID: Final = "rgba(128,136,140,0.22)"
HEIGHT: Final = 300
AXIS_TITLE: Final = {"standoff": 12, "font": {"size": 12}}
"""Closer than this, Plotly only sometimes moves the title out of the way of the tick labels."""

TEXT_COLORS: Final = {"light": "#4f5b58", "dark": "#c6d0cc"}
"""For `ink`: 4.5:1 or more (WCAG AA for text) on the page of that theme."""

_FEW_STEPS: Final = 10


def column_color(name: str) -> str:
    """The colour of a column of the frame by what it means, else that of other columns."""
    return COLORS[next((meaning for begin, meaning in _MEANINGS.items() if name.startswith(begin)), "other")]


def run_colors(wished: Sequence[str], seats: Sequence[int] | None = None) -> list[str]:
    """The colours of runs that are shown together, in their order, each "#rrggbb": those wished for by name, for the others that of their seat.

    `seats` are numbers from 0, in the runs' order 0, 1, 2, ... unless given: a run that keeps its seat keeps
    its colour when others come or go. One whose colour another run was given takes one that is left. "" requests none, as does a name that
    is none of RUN_COLORS. Of more than eight runs colours come again.
    """
    palette, given = [*RUN_COLORS.values()], [RUN_COLORS.get(name) for name in wished]
    own = [palette[seat % len(palette)] for seat in seats or range(len(given))]
    taken = {color for color in given if color}
    for at, color in enumerate(own):
        if given[at] is None and color not in taken:
            given[at] = color
            taken.add(color)
    rest = cycle([color for color in palette if color not in taken] or palette)
    return [color or next(rest) for color in given]


def plain(text: str) -> str:
    """Text escaped so that Plotly shows it verbatim: names come from runs, and Plotly reads HTML tags and entities."""
    return html.escape(text, quote=False)


def tint(color: str, alpha: float) -> str:
    """A "#rrggbb" colour made transparent: alpha 0 to 1."""
    red, green, blue = (int(color[at : at + 2], 16) for at in (1, 3, 5))
    return f"rgba({red},{green},{blue},{alpha:g})"


def base_layout(title: str, subtitle: str = "") -> Spec:
    """The layout of a figure: the question as its title, a line on what is drawn below it.

    Both texts are shown verbatim.
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
    return {
        "title": {**heading, **place},
        "height": HEIGHT,
        "margin": {"l": 8, "r": 16, "t": 70 if subtitle else 44, "b": 56},
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
        "shapes": [],
        "annotations": [],
    }


def leave_room(layout: Spec, low: float, high: float) -> None:
    """Keep the left free for the labels of a y axis over these values, and for its title where it has one.

    A guess: where it is too small Plotly makes room by itself, but then draws the chart a second time.
    """
    span = (high - low) or abs(high) or 1.0
    decimals = int(np.clip(-np.floor(np.log10(span / 5)), 0, 4))
    letters = max(len(f"{value:,.{decimals}f}") for value in (low, high)) if max(abs(low), abs(high)) < 1e6 else 9
    layout["margin"]["l"] = 14 + 7 * letters + (28 if layout["yaxis"].get("title") else 0)


def ink(spec: Spec, theme: Literal["light", "dark"]) -> Spec:
    """The figure with all its text in the colour for that page, if the page's own chart theme is too pale."""
    font = {"color": TEXT_COLORS[theme]}
    layout = {**spec["layout"], "font": font}
    layout["title"] = _inked(layout.get("title", {}), {"subtitle": {"font": font}})
    for name, part in (("legend", "font"), ("hoverlabel", "font"), ("xaxis", "tickfont"), ("yaxis", "tickfont")):
        layout[name] = _inked(layout.get(name, {}), {part: font})
    for axis in ("xaxis", "yaxis"):
        layout[axis] = _inked(layout[axis], {"title": {"font": font}})
    data = [_inked(one, {"colorbar": {"tickfont": font}}) if one["type"] == "heatmap" else one for one in spec["data"]]
    return {"data": data, "layout": layout}


def _inked(part: Spec, changes: Spec) -> Spec:
    """A part of a figure with changes put into it at any depth; neither is changed."""
    deep = {name: _inked(part.get(name, {}), value) if isinstance(value, dict) else value for name, value in changes.items()}
    return {**part, **deep}


def step_axis(layout: Spec, steps: NDArray[np.integer], note: str = "") -> None:
    """Make x the training step over `steps` (ascending, at least one); few steps are all labelled, no fractions between them."""
    first, last = int(steps[0]), int(steps[-1])
    room = (last - first) * 0.02 or 0.5
    layout["xaxis"] |= {
        "title": {"text": plain(f"step · {note}" if note else "step"), **AXIS_TITLE},
        "range": [first - room, last + room],
        "unifiedhovertitle": {"text": "step %{x:,d}"},
        "tickformat": ",d",
        **({"tickvals": steps.tolist()} if steps.size <= _FEW_STEPS else {}),
    }
