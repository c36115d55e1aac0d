"""Responses: which rollouts made the number, and what do they say?"""

from dataclasses import replace
from functools import partial

import numpy as np
import pandas as pd
import streamlit as st
from numpy.typing import NDArray

from board.analysis.rollouts import token_aggregates
from board.analysis.rollouts.selection import neighbours, numeric_columns, of_step, page, pages, sample, sort, with_text
from board.analysis.steps.step_stats import LengthChange, length_change
from board.analysis.texts.measured_columns import declared
from board.figures.theme import COLORS
from board.schema import DISCARDED, heading
from board.text.counting import plural
from board.text.display import preview
from board.text.format_number import fmt
from board.ui.components import table
from board.ui.components.table import TableColumn
from board.ui.shared import list_order, rollout_detail
from board.ui.shared.controls import TableChoices, prompt_previews, table_choices
from board.ui.shared.list_order import ASCENDING, ListOrder
from board.ui.state import caches, linked, place

PAGE_ROWS = 1_000
"""So many rows of the table travel to the browser at once."""

ROW_HEIGHT = 61
"""Two lines of a text and a little more."""
TEXTS = ("response", "ground_truth", "prompt")
"""Texts in the table, of each its beginning."""
BAR = "reward"
"""The column whose numbers are drawn with a bar, from the least to the largest of those shown."""
PANEL_WIDTH = 440
"""Table and rollout stand side by side while each has so many pixels."""

view = caches.with_step(place.view())
run = view.run
numeric = numeric_columns(run.frame)
aggregates = token_aggregates.available(run)


def found_by(choices: TableChoices) -> NDArray[np.int64]:
    """The keys of the rollouts that a list of these choices holds, in its order, found once."""
    by = choices.order.by
    step = None if choices.all_steps else view.step
    return caches.cached(
        "listed",
        lambda: listed_keys(choices),
        run,
        step,
        choices.per_step,
        choices.query,
        by,
        bool(by) and choices.order.descending,
    )


def listed_keys(choices: TableChoices) -> NDArray[np.int64]:
    """The keys of the listed rollouts, computed without the cache: sampled, filtered and sorted."""
    rows = drawn(choices)
    if choices.query:
        rows = rows[with_text(run, rows.index.to_numpy(), choices.query)]
    ordered = sort(rows, choices.order.by, descending=choices.order.descending) if choices.order.by else rows
    return ordered.index.to_numpy()


def drawn(choices: TableChoices) -> pd.DataFrame:
    """The rows to choose from, with no more columns than choosing needs: it copies them."""
    needed = [name for name in dict.fromkeys(["step", choices.order.by]) if name in run.frame.columns]
    rows = sample(of_step(run.frame[needed], None if choices.all_steps else view.step), choices.per_step)
    return token_aggregates.with_aggregates(run, rows, [choices.order.by] if choices.order.by else [])


def reordered() -> None:
    """To be called when another order is chosen, before anything is drawn: the row on top becomes the choice, on the list's first page."""
    ordered = replace(choices, order=ListOrder(place.widget_text("sort"), place.widget_text("order") != ASCENDING))
    keys = found_by(ordered)
    linked.put(page=None)
    if len(keys):
        place.go(**places(keys[:1])[0])


def sort_by(column: str) -> None:
    """Sort by a column, the largest first; the other way round where the list is so already."""
    list_order.turn("", column, choices.order)
    reordered()


def places(keys: NDArray[np.int64]) -> list[dict[str, str | int]]:
    """Where the reader is when he looks at these rollouts."""
    steps = run.frame["step"].loc[pd.Index(keys)]
    return [{"step": int(at), "rollout": source} for at, source in zip(steps, run.sources(keys), strict=True)]


choices = table_choices(
    numeric, [name for name in run.frame.columns if name not in ("step", "shard", "line")], aggregates, reordered
)


def summary(keys: NDArray[np.int64]) -> str:
    """One line on what is listed: how many of how many, and how long against the step before."""
    where = "all steps" if scope is None else f"step {scope}"
    total = len(of_step(run.frame[["step"]], scope))
    parts = [f"{plural(total, 'rollout')} of {where}"]
    shown = (
        len(caches.cached("drawn", lambda: drawn(choices).index.to_numpy(), run, scope, choices.per_step))
        if choices.per_step
        else total
    )
    if shown < total:
        parts.append(f"{shown:,} of {total:,} shown, drawn at random with seed 0")
    if choices.query:
        parts.append(f"{len(keys):,} with {choices.query!r} in prompt or response")
    parts.append(order(choices))
    if "response_length" in run.frame.columns:
        parts.append(length(length_change(run.frame, view.step)))
    return " · ".join(parts)


def order(choices: TableChoices) -> str:
    """What the list is ordered by."""
    if not choices.order.by:
        return "in the order written"
    return f"by {token_aggregates.heading(choices.order.by)}, {'largest' if choices.order.descending else 'smallest'} first"


def length(change: LengthChange) -> str:
    """The mean length of the chosen step, and its change against the step before."""
    text = f"mean length of step {view.step}: {fmt(change.mean)} tokens"
    if change.previous_step is None:
        return text
    sign = "+" if change.change >= 0 else ""
    return f"{text} ({sign}{fmt(change.change)} against step {change.previous_step})"


def rows(listed_keys: NDArray[np.int64], chosen: int | None) -> None:
    """The listed rollouts, a page at a time; a click anywhere on a row opens it next to the table."""
    count = pages(len(listed_keys), PAGE_ROWS)
    number = st.pagination(count, **linked.page("page", count)) if count > 1 else 1
    keys = page(listed_keys, number, PAGE_ROWS)
    shown = token_aggregates.with_aggregates(run, run.frame.loc[keys], choices.columns)
    first = (number - 1) * PAGE_ROWS
    if count > 1:
        st.text(
            f"Rows {first + 1:,} to {first + len(shown):,} of {len(listed_keys):,} in this order. "
            "A click on a number's head sorts all of them by it."
        )
    frame = pd.DataFrame(
        {
            name: (prompt_previews if name == "prompt" else preview)(run.texts(name, keys)).to_pandas()
            if name in TEXTS
            else shown[name].to_numpy()
            for name in shown_columns()
        }
    )
    key = f"table_{run.load_id}_{None if choices.all_steps else view.step}_{number}_{hash(choices)}"
    table.show(
        frame,
        {str(name): column(str(name), frame[name]) for name in frame.columns},
        name="rollouts",
        key=key,
        on_click=place.row_clicked(key, places(keys), **{name: partial(sort_by, name) for name in (*numeric, *aggregates)}),
        chosen=next((row for row, at in enumerate(keys) if at == chosen), None),
        row_height=ROW_HEIGHT,
        sorted_by=choices.order if choices.order.by else None,
    )


def shown_columns() -> list[str]:
    """The table's columns: first what it is sorted by, which stays in sight; the response behind the reward, other texts at the end."""
    step = ("step",) if choices.all_steps else ()
    mark = ("split",) if run.splits == (DISCARDED,) else ()
    chosen = list(dict.fromkeys((*choices.columns[: bool(choices.order.by)], *mark, *step, *choices.columns)))
    behind = chosen.index(BAR) + 1 if BAR in chosen else len(chosen)
    ordered = [*chosen[:behind], TEXTS[0], *chosen[behind:], *TEXTS[1:]]
    return [name for name in ordered if name in (run.text_columns if name in TEXTS else (*run.frame.columns, *aggregates))]


def column(name: str, values: pd.Series) -> TableColumn:
    """How the table shows a column."""
    pinned = name == choices.order.by
    if name in TEXTS:
        return TableColumn(width=choices.text_width)
    if name not in numeric and name not in aggregates:
        return TableColumn(label=heading(name))
    known = declared(name)
    return TableColumn(
        label=token_aggregates.heading(name),
        help=(known.meaning if known else token_aggregates.meaning(name)) or "",
        pinned=pinned,
        drawn="bar" if name == BAR and values.nunique() > 1 else "plain",
        color=COLORS["policy"],
        sorts=True,
    )


def opened(keys: NDArray[np.int64]) -> int | None:
    """The rollout to show next to the table: the chosen one, listed or not, else the first listed one of the chosen step."""
    key = place.linked_rollout(run)
    if key is not None:
        return key
    here = keys if scope is not None else keys[run.frame["step"].loc[pd.Index(keys)].to_numpy() == view.step]
    return place.chosen_rollout(run, here) if len(here) else None


def rollout(keys: NDArray[np.int64], chosen: int | None) -> None:
    """The rollout next to the table; the links on from one that is not listed lead into the list."""
    if chosen is None:
        st.text("Click a row to open its rollout here.")
        return
    listed_here = chosen in keys
    if not listed_here:
        st.text("The rollout below is not in the list: Next goes to the first that is.")
    rollout_detail.draw(view, chosen, neighbours(keys, chosen) if listed_here else (None, int(keys[0])))


def lists(keys: NDArray[np.int64]) -> None:
    """Table and rollout side by side."""
    chosen = opened(keys)
    panels = st.grid(2, min_column_width=PANEL_WIDTH, gap="medium")
    with panels.cell():
        rows(keys, chosen)
    with panels.cell():
        rollout(keys, chosen)


if choices.all_steps:
    view = place.view()  # a whole step with a sample of the others would count too much
    run = view.run
scope = None if choices.all_steps else view.step
found = found_by(choices)
st.text(summary(found))
if not len(found):
    st.text("No rollout matches: change the text or the step.")
else:
    lists(found)
