"""The prompts that two runs saw: a scatter and a table of them, and the chosen one."""

from typing import Final

import numpy as np
import pandas as pd
import streamlit as st

from board.analysis.compare.run_pair import RunPair
from board.analysis.prompts.prompt_list import text_column
from board.analysis.rollouts.selection import neighbours
from board.analysis.stats.scatter_points import nearest, scatter_points
from board.schema import heading
from board.text.counting import plural
from board.ui.components import scatter, table
from board.ui.components.scatter import Names, Picture
from board.ui.components.table import TableColumn
from board.ui.frame.compared_runs import ComparedSide
from board.ui.pages.compare import pair_opened
from board.ui.shared.controls import prompt_previews
from board.ui.state import caches, place

PANEL_WIDTH: Final = 440
"""Scatter and table stand side by side while each has so many pixels."""
HEIGHT: Final = 353
"""Of either, in pixels."""
MOST_LABELS: Final = 5_000
"""So many of the prompts that differ most have their texts under the pointer."""
LABEL_LETTERS: Final = 80
MOST_ROWS: Final = 500
"""So many of the prompts that differ most are listed."""
PROMPT_WIDTH: Final = 240
SCATTER: Final = "pair_scatter"

Sides = tuple[ComparedSide, ComparedSide]


def draw(pair: RunPair, sides: Sides) -> None:
    """The scatter and the table, and the chosen prompt below them."""
    chosen = _chosen(pair)
    a, b = sides
    key = (pair.metric, pair.visits)
    panels = st.grid(2, min_column_width=PANEL_WIDTH, gap="medium")
    with panels.cell():
        st.subheader("On which prompts do they differ?", anchor=False)
        shown = caches.cached(
            "pair_picture", lambda: _picture(pair, (a.color, b.color)), a.run, *key, a.color, b.color, other=b.run
        )
        scatter.show(shown, key=SCATTER, on_click=_clicked(pair, shown, chosen), height=HEIGHT)
        scatter.choose(_place(pair, shown, chosen), key="pair_scatter_choice")
    with panels.cell():
        st.subheader("Which differ most?", anchor=False)
        _table(pair, caches.cached("pair_rows", lambda: _rows(pair), a.run, *key, other=b.run), chosen)
    if chosen is None:
        st.text("Click a dot or a row to open both responses to its prompt here.")
    else:
        pair_opened.draw(pair, sides, chosen)


def _chosen(pair: RunPair) -> int | None:
    """The prompt of the link; one that is no pair of these is dropped, with a sentence."""
    prompt = place.part("pair_prompt")
    if prompt is None or prompt in pair.prompts.index:
        return None if prompt is None else int(prompt)
    st.text("The prompt that the link opens is not one that both runs saw so: choose another.")
    place.fill_in(pair_prompt=None)
    return None


def _texts(pair: RunPair, prompts: pd.DataFrame, letters: int) -> list[str] | None:
    """How each prompt begins, as A has it, on one line; None where A has no text of prompts."""
    column = text_column(pair.a.run)
    if column is None:
        return None
    texts = prompt_previews(pair.a.run.texts(column, prompts["rollout_a"].to_numpy(np.int64)), letters)
    return [text or "" for text in texts.to_pylist()]


def _picture(pair: RunPair, colors: tuple[str, str]) -> Picture:
    """A dot per prompt, in the colour of the run that lies above on it."""
    found = pair.prompts
    a, b = (found[f"mean_{one}"].to_numpy(np.float64) for one in "ab")
    drawn = scatter_points(a, b, np.sign(found["difference"].to_numpy(np.float64)), log_x=False, log_y=False, one_axis=True)
    number = heading(pair.metric)
    labels = _texts(pair, found.iloc[drawn.at[:MOST_LABELS]], LABEL_LETTERS) or []
    names = Names(f"mean {number} in A", f"mean {number} in B", "", dot="prompt")
    return scatter.picture(drawn, names, labels=labels, sides=colors, areas=False)


@place.callback
def _clicked(pair: RunPair, shown: Picture, chosen: int | None) -> None:
    """A callback: open the prompt nearest to the place that was clicked; of several at that place the one behind the chosen one."""
    given = place.reported(SCATTER, "clicked") or {}
    corners = scatter.corners([[given.get("x"), given.get("y")]])
    there = nearest(shown.points, *corners[0]) if corners else np.zeros(0, np.int64)
    if there.size:
        prompts = pair.prompts.index.to_numpy(np.int64)[there]
        behind = None if chosen is None else neighbours(prompts, chosen)[1]
        place.go(pair_prompt=int(prompts[0]) if behind is None else behind)


def _place(pair: RunPair, shown: Picture, chosen: int | None) -> tuple[float, float] | None:
    """Where the chosen prompt lies; None where it has no place."""
    if chosen is None:
        return None
    at = np.flatnonzero(pair.prompts.index.to_numpy()[shown.points.at] == chosen)
    return (float(shown.points.x[at[0]]), float(shown.points.y[at[0]])) if at.size else None


def _rows(pair: RunPair) -> pd.DataFrame:
    """What the table shows of the prompts that differ most."""
    most = pair.prompts.iloc[:MOST_ROWS]
    texts = _texts(pair, most, LABEL_LETTERS)
    steps = (
        {"step": most["step_b"]}
        if (most["step_a"] == most["step_b"]).all()
        else {"step A": most["step_a"], "step B": most["step_b"]}
    )
    return pd.DataFrame(
        {
            **({"prompt": texts} if texts is not None else {}),
            "B − A": most["difference"],
            "mean A": most["mean_a"],
            "mean B": most["mean_b"],
            **({"visits": most["pairs"]} if pair.visits == "same step" else {}),
            **steps,
        },
        index=most.index,
    )


def _table(pair: RunPair, rows: pd.DataFrame, chosen: int | None) -> None:
    """The prompts that differ most first; a click on a row opens its prompt."""
    if len(rows) < len(pair.prompts):
        st.caption(
            f"{len(rows):,} of {plural(len(pair.prompts), 'prompt')}: those that differ most."
        )  # our own words and numbers
    prompts = [int(one) for one in rows.index]
    key = f"pair_prompts_{hash((pair.a.run.load_id, pair.b.run.load_id, pair.metric, pair.visits))}"
    table.show(
        rows,
        {str(name): _column(str(name)) for name in rows.columns},
        name="prompts of both runs",
        key=key,
        on_click=place.row_clicked(key, [{"pair_prompt": one} for one in prompts]),
        chosen=prompts.index(chosen) if chosen in prompts else None,
        height=HEIGHT,
    )


_HELP: Final = {
    "B − A": "mean over the steps at which both runs sampled the prompt",
    "visits": "steps at which both runs sampled it",
    "step": "where the two lie furthest apart",
}


def _column(name: str) -> TableColumn:
    """How the table shows a column."""
    if name == "prompt":
        return TableColumn(width=PROMPT_WIDTH)
    whole = name.startswith(("step", "visits"))
    return TableColumn(help=_HELP.get(name, ""), format="%d" if whole else "")
