"""The scatter of the page Steps: a number of rollouts against another.

What is selected in it becomes a filter; a click opens a rollout. Draws; where rollouts lie is computed in
`board.analysis.stats.scatter_points`, what a box or a lasso holds in `board.analysis.stats.scatter_points`.
"""

from dataclasses import dataclass
from typing import Any, Final, Literal

import numpy as np
import pandas as pd
import streamlit as st

from board.analysis.rollouts.selection import neighbours, numeric_columns, of_step
from board.analysis.stats.scatter_points import Corner, box_condition, lasso_condition, nearest, scatter_points
from board.analysis.steps.step_stats import finite_values
from board.schema import heading
from board.sql.identifiers import column
from board.text.counting import plural
from board.ui.components import scatter
from board.ui.components.scatter import Names, Picture
from board.ui.shared import rollout_detail
from board.ui.shared.controls import ALL_STEPS, THIS_STEP
from board.ui.state import caches, filter_chips, linked, place
from board.ui.state.place import View

PANEL_WIDTH: Final = 440
"""Scatter and rollout stand side by side while each has so many pixels."""

FIRST_X: Final = ("response_length", "response_chars")
FIRST_Y: Final = "reward"
FIRST_COLOR: Final = "kl_k3_mean"
STEP: Final = "step"


@dataclass(frozen=True)
class Choices:
    """What is drawn."""

    step: int | None
    """None for all steps."""
    x: str
    y: str
    color: str
    """Empty without one."""
    log_x: bool
    log_y: bool


def draw(view: View) -> None:
    """The choices, the scatter, and next to it the rollout that was clicked."""
    numbers = numeric_columns(view.run.frame)
    if not numbers:
        st.text("A scatter needs a number of each rollout, which this run does not have.")
        return
    chosen = _choices(view, numbers)
    shown = caches.cached(
        "picture",
        lambda: _picture(view, chosen),
        view.run,
        chosen.step,
        chosen.x,
        chosen.y,
        chosen.color,
        chosen.log_x,
        chosen.log_y,
        keep=3,
    )
    rows = of_step(view.run.frame, chosen.step)
    st.text(_counts_line(shown, rows, chosen))
    if not shown.points.at.size:
        return
    panels = st.grid(2, min_column_width=PANEL_WIDTH, gap="medium")
    with panels.cell():
        scatter.show(
            shown,
            key="scatter",
            on_click=_clicked(view, shown, rows),
            on_select=_selected(shown, column(chosen.x), column(chosen.y)),
        )
    with panels.cell():
        _rollout(view, shown, rows)


def _choices(view: View, numbers: list[str]) -> Choices:
    offered = [*numbers, STEP]
    lengths = [name for name in FIRST_X if name in numbers]
    y = FIRST_Y if FIRST_Y in numbers else numbers[0]
    x = lengths[0] if lengths else next((name for name in numbers if name != y), STEP)
    color = FIRST_COLOR if FIRST_COLOR in numbers else ""
    with st.container(horizontal=True, vertical_alignment="bottom", key="scatter_choices"):
        scope = st.segmented_control(
            "Rollouts of", **linked.choice("scatter_scope", [THIS_STEP, ALL_STEPS], THIS_STEP), required=True
        )
        found_y = _number("y", offered, y)
        found_x = _number("x", offered, x)
        third = _number("Colour", ["", *offered], color)
        log_y = st.toggle("Log y", **linked.flag("scatter_log_y"))
        log_x = st.toggle("Log x", **linked.flag("scatter_log_x"))
    return Choices(view.step if scope == THIS_STEP else None, found_x, found_y, third, bool(log_x), bool(log_y))


def _number(label: Literal["x", "y", "Colour"], offered: list[str], default: str) -> str:
    return str(
        st.selectbox(
            label,
            **linked.choice(f"scatter_{label.lower()}", offered, default, label=lambda name: heading(name) if name else "none"),
            width=180,
        )
        or ""
    )


def _picture(view: View, chosen: Choices) -> Picture:
    rows = of_step(view.run.frame, chosen.step)
    x, y = (finite_values(rows, name) for name in (chosen.x, chosen.y))
    third = finite_values(rows, chosen.color) if chosen.color else None
    names = Names(heading(chosen.x), heading(chosen.y), heading(chosen.color) if chosen.color else "")
    return scatter.picture(scatter_points(x, y, third, log_x=chosen.log_x, log_y=chosen.log_y), names)


def _counts_line(shown: Picture, rows: pd.DataFrame, chosen: Choices) -> str:
    """How many rollouts are drawn, and which are not, and why."""
    found = shown.points
    parts = [
        f"{found.at.size:,} of {plural(len(rows), 'rollout')} of {'all steps' if chosen.step is None else f'step {chosen.step}'}"
    ]
    if shown.dense:
        parts.append("too many for points: their density, the fuller the more")
    if found.missing:
        parts.append(f"{found.missing:,} without both numbers left out")
    if found.unplaced:
        parts.append(f"{found.unplaced:,} not above zero left out, which a logarithmic axis has no place for")
    if chosen.color and (without := int(np.isnan(found.color).sum())):
        parts.append(f"{without:,} without {heading(chosen.color)} grey")
    return " · ".join(parts)


@place.callback
def _clicked(view: View, shown: Picture, rows: pd.DataFrame) -> None:
    """A callback: go to the rollout nearest to the place that was clicked; of several at that place to the one behind the chosen one."""
    given = place.reported("scatter", "clicked") or {}
    corners = scatter.corners([[given.get("x"), given.get("y")]])
    there = nearest(shown.points, *corners[0]) if corners else np.zeros(0, np.int64)
    if there.size:
        keys, steps = rows.index.to_numpy()[there], rows["step"].to_numpy()[there]
        before = neighbours(keys, place.linked_rollout(view.run) or 0)[1]
        at = 0 if before is None else int(np.flatnonzero(keys == before)[0])
        place.go(step=int(steps[at]), rollout=view.run.sources(keys[at : at + 1])[0])


@place.callback
def _selected(shown: Picture, x: str, y: str) -> None:
    """A callback: add the box or the lasso that was drawn to the filter. `x` and `y` are columns as SQL writes them."""
    condition = condition_of(place.reported("scatter", "selected"), shown, x, y)
    if condition:
        filter_chips.add(condition)


def condition_of(given: Any, shown: Picture, x: str, y: str) -> str:
    """What the component reports as selected, as SQL; empty for what is no area."""
    if not isinstance(given, dict):
        return ""
    axes = shown.points.x_axis, shown.points.y_axis
    box, lasso = (scatter.corners(given.get(name)) for name in ("box", "lasso"))
    if len(box) == 2:
        return box_condition(x, y, *axes, box[0], box[1])
    return lasso_condition(x, y, *axes, lasso) if len(lasso) >= 3 else ""


def _rollout(view: View, shown: Picture, rows: pd.DataFrame) -> None:
    """The chosen rollout, ringed in the scatter, if it is one of these."""
    key = place.linked_rollout(view.run)
    keys = rows.index.to_numpy()
    scatter.choose(None if key is None else _place(shown, keys, key), key="scatter_choice")
    if key is None or key not in keys:
        st.text("Click a point to open its rollout here.")
    else:
        rollout_detail.draw(view, key, neighbours(keys, key))


def _place(shown: Picture, keys: Any, key: int) -> Corner | None:
    """Where a rollout lies; None where it has no place."""
    at = np.flatnonzero(keys[shown.points.at] == key)
    return (float(shown.points.x[at[0]]), float(shown.points.y[at[0]])) if at.size else None
