"""Responses: which rollouts made the number, and what do they say? Choices, data, computing, drawing."""

from typing import Any

import numpy as np
import pandas as pd
import streamlit as st
from numpy.typing import NDArray

from board import detail, session
from board.controls import table_choices
from board.formats.row import plural
from board.numbers import fmt
from board.schema import BY_NAME, heading
from board.selection import neighbours, numeric_columns, of_step, page, pages, sample, sort, with_text
from board.steps import LengthChange, length_change
from board.texts import preview

PAGE_ROWS = 1_000
"""So many rows of the table travel to the browser at once."""

TABLE_HEIGHT = 640
ROW_HEIGHT = 35
FRACTION_WIDTH = 104
"""Pixels that "-1.235e-05" needs: a column too narrow cuts its numbers on the left, where they matter most."""
PANEL_WIDTH = 440
"""Table and rollout stand side by side while each has so many pixels."""

view = session.view()
run = view.run
numeric = numeric_columns(run.frame)
choices = table_choices(numeric, [name for name in run.frame.columns if name not in ("step", "shard", "line")])


def listed() -> NDArray[np.int64]:
    """The keys of the rollouts in the list: drawn, filtered and sorted."""
    rows = drawn()
    if choices.query:
        rows = rows[with_text(run, rows.index.to_numpy(), choices.query)]
    ordered = sort(rows, choices.sort_by, descending=choices.descending) if choices.sort_by else rows
    return ordered.index.to_numpy()


def drawn() -> pd.DataFrame:
    """The rows to choose from, with no more columns than choosing needs: it copies them."""
    needed = [name for name in dict.fromkeys(["step", choices.sort_by]) if name in run.frame.columns]
    return sample(of_step(run.frame[needed], scope), choices.per_step)


def summary(keys: NDArray[np.int64]) -> str:
    """One line on what is listed: how many of how many, and how long against the step before."""
    where = "all steps" if scope is None else f"step {scope}"
    total = len(of_step(run.frame[["step"]], scope))
    parts = [f"{plural(total, 'rollout')} of {where}"]
    shown = (
        len(session.listed(lambda: drawn().index.to_numpy(), run, "drawn", scope, choices.per_step))
        if choices.per_step
        else total
    )
    if shown < total:
        parts.append(f"{shown:,} of {total:,} shown, drawn at random with seed 0")
    if choices.query:
        parts.append(f"{len(keys):,} with {choices.query!r} in prompt or response")
    if "response_length" in run.frame.columns:
        parts.append(length(length_change(run.frame, view.step)))
    return " · ".join(parts)


def length(change: LengthChange) -> str:
    """The mean length of the chosen step, and its change against the step before."""
    text = f"mean length of step {view.step}: {fmt(change.mean)} tokens"
    if change.previous_step is None:
        return text
    sign = "+" if change.change >= 0 else ""
    return f"{text} ({sign}{fmt(change.change)} against step {change.previous_step})"


def table(listed_keys: NDArray[np.int64], chosen: int | None) -> None:
    """The listed rollouts, a page at a time; a click anywhere on a row opens it beside the table."""
    count = pages(len(listed_keys), PAGE_ROWS)
    number = st.pagination(count, key="page", bind="query-params") if count > 1 else 1
    keys = page(listed_keys, number, PAGE_ROWS)
    shown = run.frame.loc[keys]
    first = (number - 1) * PAGE_ROWS
    if count > 1:
        st.text(
            f"Rows {first + 1:,} to {first + len(shown):,} of {len(listed_keys):,} in this order. "
            "A click on a column's head orders these alone; Sort by orders all."
        )
    texts = {
        name: preview(run.texts(name, keys)).to_pandas().to_numpy()
        for name in ("response", "ground_truth", "prompt")
        if name in run.text_columns
    }
    numbers = [name for name in (*(("step",) if choices.all_steps else ()), *choices.columns) if name in shown.columns]
    frame = pd.DataFrame({name: shown[name].to_numpy() for name in numbers} | texts)
    places: list[dict[str, str | int]] = [
        {"step": int(at), "rollout": source} for at, source in zip(shown["step"], run.sources(keys), strict=True)
    ]
    key = f"table_{run.load_id}_{None if choices.all_steps else view.step}_{number}_{hash(choices)}"
    session.select_row(key, next((row for row, at in enumerate(keys) if at == chosen), None))
    st.dataframe(
        frame,
        key=key,
        on_select=session.row_clicked(key, places),
        selection_mode=session.ROW_OR_CELL,
        hide_index=True,
        height=min(TABLE_HEIGHT, ROW_HEIGHT * (len(frame) + 1) + 3),
        column_config={str(name): number_column(str(name), frame[name]) for name in frame.columns if name in numeric},
    )


def number_column(name: str, values: pd.Series) -> Any:
    """How the table writes a number: whole ones whole, others with four significant digits, in a column that never cuts them."""
    whole = bool((values.dropna() % 1 == 0).all())
    known = BY_NAME.get(name)
    return st.column_config.NumberColumn(
        heading(name),
        help=known.meaning if known else None,
        format="%d" if whole else "%.4g",
        width=None if whole else FRACTION_WIDTH,
    )


def opened(keys: NDArray[np.int64]) -> int | None:
    """The rollout to show beside the table: the chosen one, listed or not, else the first listed one of the chosen step."""
    asked = session.asked_rollout(run)
    if asked is not None:
        return asked
    here = keys if scope is not None else keys[run.frame["step"].loc[pd.Index(keys)].to_numpy() == view.step]
    return session.chosen_rollout(run, here) if len(here) else None


def rollout(keys: NDArray[np.int64], chosen: int | None) -> None:
    """The rollout beside the table; the ways on from one that is not listed lead into the list."""
    if chosen is None:
        st.text("Click a row to open its rollout here.")
        return
    listed_here = chosen in keys
    if not listed_here:
        st.text("The rollout below is not in the list: Next goes to the first that is.")
    detail.draw(view, chosen, neighbours(keys, chosen) if listed_here else (None, int(keys[0])))


def lists(keys: NDArray[np.int64]) -> None:
    """Table and rollout side by side."""
    chosen = opened(keys)
    panels = st.grid(2, min_column_width=PANEL_WIDTH, gap="medium")
    with panels.cell():
        table(keys, chosen)
    with panels.cell():
        rollout(keys, chosen)


scope = None if choices.all_steps else view.step
found = session.listed(
    listed, run, "listed", scope, choices.per_step, choices.query, choices.sort_by, bool(choices.sort_by) and choices.descending
)
st.text(summary(found))
if not len(found):
    st.text("No rollout matches: change the text or the step.")
else:
    lists(found)
