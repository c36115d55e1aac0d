"""Steps: which step is unlike the others, and in what? Choices, data, computing, drawing."""

from functools import partial
from typing import Any, Final

import pandas as pd
import streamlit as st

from board.analysis.rollouts.selection import pages
from board.analysis.stats.bootstrap import RESAMPLES
from board.analysis.steps.highlights import Highlight
from board.analysis.steps.step_metrics import computable, per_step_values
from board.analysis.steps.step_table import REWARD, Rows, explained, head, ordered, page_of, rows, shown_keys
from board.text.counting import plural
from board.ui.components import table
from board.ui.components.table import TableColumn
from board.ui.frame import strip
from board.ui.pages.steps import pair as step_pair
from board.ui.pages.steps import scatter as step_scatter
from board.ui.shared import list_order
from board.ui.shared.list_order import ASCENDING, DESCENDING, ListOrder
from board.ui.shared.messages import unfilled
from board.ui.shared.progress_line import progress
from board.ui.state import caches, linked, place

PAGE_ROWS: Final = 500
"""So many steps of the table travel to the browser at once."""

ROW_HEIGHT: Final = 32
STEP: Final = "step"
PREFIX: Final = "steps_"
"""Of the keys of what orders the table."""
LOW: Final = "from"
HIGH: Final = "to"
SEEN: Final = "stands out"
INTERVAL: Final = "95 % interval of the mean reward, by bootstrap over prompts"

TABLE: Final = "All steps"
PAIR: Final = "Step A against step B"
SCATTER: Final = "Scatter"
PARTS: Final = (TABLE, SCATTER, PAIR)

view = place.view()
run = view.run
default_keys = shown_keys(run)


def choices() -> tuple[list[str], ListOrder]:
    """What is shown of each step, and how the table is sorted."""
    others = [key for key in computable(run) if key not in default_keys]
    with st.container(horizontal=True, vertical_alignment="bottom", key="step_choices"):
        chosen_keys = st.multiselect(
            "More numbers", **linked.choices("steps_numbers", others), placeholder="Any metric by step", width=360
        )
        keys = [*default_keys, *chosen_keys]
        order = list_order.choice(
            PREFIX, "Sort by", [STEP, *keys], ways=(ASCENDING, DESCENDING), heading=head, width=200, on_change=to_first_page
        )
    return keys, order


def to_first_page() -> None:
    """To be called when another order is chosen."""
    linked.put(steps_page=1)


def computed(keys: list[str]) -> tuple[pd.DataFrame, list[Highlight]]:
    """The numbers by step, and what stands out in the run; computed once for all readers."""
    with progress(f"Computing the metrics of {plural(len(run.frame), 'rollout')}") as report:
        known = strip.ranged_values(run, lambda share: report(share / 2))
        others = [key for key in keys if key not in known]
        values = caches.cached(
            "step_table", lambda: per_step_values(run, others, lambda share: report((1 + share) / 2)), run, "\n".join(others)
        )
        return pd.concat([values, known], axis="columns")[keys], strip.of_run(run)


def page_rows(values: pd.DataFrame, highlights: list[Highlight]) -> tuple[Rows, int]:
    """The rows of the page that the reader is on, and which page that is; at first the one of the chosen step."""
    order = ordered(values, sorting.by, descending=sorting.descending)
    count = pages(len(order), PAGE_ROWS)
    number = 1
    if count > 1:
        number = st.pagination(count, **linked.page("steps_page", count, page_of(order, view.step, PAGE_ROWS)))
    found = caches.cached(
        "step_rows",
        lambda: rows(run, values, order, number, PAGE_ROWS, highlights),
        run,
        "\n".join(values.columns),
        *sorting,
        number,
    )
    return found, number


def steps_table(found: Rows, number: int) -> None:
    """The steps of a page; a click on a row goes to its step, one on a head sorts by it."""
    frame = shown(found)
    steps = found.steps.tolist()
    key = f"steps_{run.load_id}_{number}_{hash((tuple(found.values.columns), sorting))}"
    table.show(
        frame,
        {str(name): column(str(name)) for name in frame.columns},
        name="steps",
        key=key,
        on_click=place.row_clicked(
            key,
            [{"step": step} for step in steps],
            **{name: partial(list_order.turn, PREFIX, name, sorting, 1) for name in [STEP, *found.values.columns]},
        ),
        chosen=steps.index(view.step) if view.step in steps else None,
        row_height=ROW_HEIGHT,
        sorted_by=sorting,
    )


def shown(found: Rows) -> pd.DataFrame:
    """The table as it is drawn: the interval behind the reward, what stands out at the end; neither where no step has it."""
    columns: dict[str, Any] = {STEP: found.steps}
    for key in found.values.columns:
        columns[key] = found.values[key].to_numpy()
        if key == REWARD and has_interval(found):
            columns |= {LOW: found.low, HIGH: found.high}
    if any(found.seen):
        columns[SEEN] = found.seen
    return pd.DataFrame(columns)


def column(name: str) -> TableColumn:
    """How the table shows a column."""
    if name == SEEN:
        return TableColumn(help="What departed in this step, as the strip above marks it.")
    if name == STEP:
        return TableColumn(format="%d", pinned=True, sorts=True)
    if name in (LOW, HIGH):
        return TableColumn(label=head(name), help=INTERVAL)
    return TableColumn(label=head(name), help=explained(name) or "", sorts=True)


def lacking(*, interval: bool) -> list[str]:
    """What the run cannot show of its steps, and what it would need."""
    missing = []
    if "reward" not in run.frame.columns:
        missing.append("The mean reward and its interval: reward")
    elif not interval:
        missing.append("The interval of the mean reward: two prompts in a step")
    if len(run.steps) < 2:
        missing.append("Steps against each other: a second step")
    return missing


def all_steps() -> None:
    """The table of all steps, below its choices."""
    values, highlights = computed(keys)
    said = st.container()
    found, number = page_rows(values, highlights)
    interval = has_interval(found)
    with said:
        st.text(
            f"{plural(len(run.steps), 'step')} · a click on a row goes to its step, one on a head sorts all steps by it"
            + (f" · {LOW} and {HIGH}: {INTERVAL}, {RESAMPLES:,} resamples" if interval else "")
        )
    steps_table(found, number)
    unfilled(lacking(interval=interval))


def has_interval(found: Rows) -> bool:
    """Whether any step of the page has an interval of its mean reward."""
    return bool(pd.notna(found.low).any())


part = st.segmented_control("Steps", **linked.choice("steps_view", PARTS), required=True, label_visibility="collapsed")
if part == PAIR:
    step_pair.draw(view)
elif part == SCATTER:
    step_scatter.draw(view)
else:
    keys, sorting = choices()
    all_steps()
