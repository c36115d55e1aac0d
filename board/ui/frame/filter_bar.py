"""The filter that all pages follow: its rollouts, and the bar it is written in.

What is chosen in the bar goes to `filter_chips`. An invalid filter is reported in DuckDB's own words, and the last valid one stays in
force.
"""

from contextlib import nullcontext
from hashlib import blake2b
from typing import Final

import pandas as pd
import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from board.analysis.steps.step_stats import nearest_step
from board.analysis.texts.measured_columns import declared
from board.errors import BoardError
from board.runs.run import Run
from board.settings import saved
from board.sql import identifiers, index_query
from board.sql.chips import condition, parsed
from board.sql.filtering import left_by
from board.sql.run_table import KEY, PROMPT_KEY, columns
from board.text.counting import plural
from board.ui.components import filter_bar
from board.ui.components.filter_bar import NamedColumn, Refused
from board.ui.shared.progress_line import progress
from board.ui.state import caches, filter_chips, place

BAR: Final = "filter_bar"
"""Key of the bar."""

PROMPT_KEY_MEANING: Final = "equal for rollouts of the same prompt, at whatever step"

FEW_VALUES: Final = 40
"""Of a text column with no more values each is proposed."""


def applied(run: Run, whole: Run) -> tuple[Run, Run]:
    """Both with the rollouts alone that the filter leaves; as they are without one. `whole` is the run with evaluations, too.

    The reader's step goes to the nearest that is left.
    """
    requested = place.part("filter")
    slot = st.empty()  # in every run of the script: what follows would move up in the next, and be built again in the browser
    for text in dict.fromkeys([requested, place.remembered("good_filter")]):
        try:
            found = filtered(run, text, slot), filtered(whole, text, slot)
        except BoardError as error:
            place.remember(filter_problem=Refused(str(text).replace("\n", " AND "), str(error)))
            if run.reads_on:  # what a column holds may not be read yet
                return run, whole
            continue
        place.fill_in(filter=text)
        if text and text != place.remembered("good_filter"):
            saved.filter_used(str(text))
        place.remember(good_filter=text)
        _stay_near(found[0], run)
        return found
    place.fill_in(filter=None)
    place.remember(good_filter=None)
    return run, whole


def draw(run: Run, unfiltered: Run) -> None:
    """The bar, and how many rollouts of how many it leaves."""
    count = f"{run.rollout_count:,} of {plural(unfiltered.rollout_count, 'rollout')}"
    filter_bar.show(
        filter_chips.chips(),
        count if run is not unfiltered else plural(run.rollout_count, "rollout"),
        problem=place.remembered("filter_problem"),
        columns=caches.cached("filter_columns", lambda: named_columns(unfiltered), unfiltered),
        recent=saved.recent_filters(),
        named=saved.filters(),
        key=BAR,
        on={
            "typed": lambda: filter_chips.typed(place.reported(BAR, "typed")),
            "chips": lambda: filter_chips.changed(place.reported(BAR, "chips")),
            "named": lambda: filter_chips.named(place.reported(BAR, "named")),
            "chosen": lambda: filter_chips.chosen(place.reported(BAR, "chosen")),
        },
    )


def named_columns(run: Run) -> list[NamedColumn]:
    """What a condition may name: the columns of the run's frame, with the values of those that have few, and its texts."""
    return [_named(run, name, given) for name, given in columns(run).items() if name != KEY]


def _named(run: Run, name: str, column: str) -> NamedColumn:
    """One column; `name` is what SQL calls it."""
    known = declared(column)
    meaning = PROMPT_KEY_MEANING if column == PROMPT_KEY else known.meaning if known else ""
    values: tuple[str, ...] = ()
    is_id = column in run.frame.columns and isinstance(run.frame[column].dtype, pd.CategoricalDtype)
    if is_id and len(categories := run.frame[column].cat.categories) <= FEW_VALUES:
        values = tuple(identifiers.literal(str(one)) for one in categories)
    is_text = is_id or column in run.text_columns
    return NamedColumn(identifiers.column(name), "text" if is_text else "number", meaning, values)


def filtered(run: Run, text: object, slot: DeltaGenerator | None = None, *, silent: bool = False) -> Run:
    """The rollouts that a filter leaves; the run itself where it leaves all. `slot` is an empty place for how far it is; `silent` where there is
    no page to say it on. Raises BoardError where it is no condition.
    """
    chips = parsed(str(text or ""))
    where = condition(chips)
    if not where:
        return run
    digest = blake2b(where.encode(errors="surrogatepass"), digest_size=8).hexdigest()

    def made() -> Run:
        bar = nullcontext(lambda share: None) if silent else progress(f"Filtering {plural(run.rollout_count, 'rollout')}", slot)
        with bar as show:
            if run.slice is not None:
                show(0.0)
                return index_query.filtered(run, chips, f"filter {digest}")
            return run.of_rows(left_by(run, chips, show), f"filter {digest}")

    return caches.cached("filtered", made, run, digest)


def _stay_near(left: Run, run: Run) -> None:
    """Of a step that the run has but the filter leaves nothing of; of one that the run lacks `link_checks` tells."""
    step = place.part("step")
    if isinstance(step, int) and len(left.steps) and step in run.steps and step not in left.steps:
        place.go(step=nearest_step(left.steps, step))
