"""The reader's own metrics: a query is written, run, drawn, saved by name, deleted."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Final, cast
from uuid import uuid4

import numpy as np
import streamlit as st

from board.analysis.texts.measured_columns import declared
from board.errors import BoardError, FieldMissing
from board.figures.sql_chart import MOST_CURVES, answer_chart, answer_panel
from board.runs.run import Run
from board.settings import saved
from board.settings.json_settings import LONGEST_NAME, by_name
from board.sql import index_query
from board.sql.query import LONGEST_QUERY, STEP, Answer, CustomCurve, described, evaluate, example
from board.sql.query import curves as answered
from board.sql.sandbox_client import Limits
from board.text.counting import plural
from board.ui.components import curves, table
from board.ui.components.curves import Card, CurvesPayload
from board.ui.shared.controls import step_curves
from board.ui.shared.messages import notice
from board.ui.state import caches, linked, place

CHART: Final = "sql_chart"
"""Key of the curves, and the beginning of the keys of charts over something else."""

PLOT_HEIGHT: Final = 200
"""Of curves, in pixels."""

PANEL_WIDTH: Final = 420
"""Charts stand side by side while each has so many pixels."""

MOST_CHARTS: Final = 12

_COLUMNS_WIDTH: Final = 560
_COLUMNS_HEIGHT: Final = 360
"""Of the list of columns, in pixels."""

HELP: Final = (
    "One SELECT of DuckDB's SQL over the table rollouts, a row per rollout. The answer needs a column step, or x for a chart over something "
    "else, and a number; columns of text split it into several curves. Token arrays and texts are not in the table."
)


@dataclass(frozen=True)
class _QueryResult:
    """The result of a query: the curves of its answer over `x`, or the reason there are none."""

    x: str = ""
    curves: tuple[CustomCurve, ...] = ()
    left_out: tuple[str, ...] = ()
    """A sentence for whatever of the answer is not drawn."""
    reason: str = ""
    identity: str = field(default_factory=lambda: uuid4().hex)
    """Another one each time a query is run."""


def draw(run: Run) -> None:
    """The editor and the chart of its query, in an expander; no query runs while it is closed."""
    with st.expander("Custom metric (SQL)", **linked.flag("sql")) as expander:
        if not expander.open:
            return
        queries: dict[str, str] = {}
        try:
            queries = by_name(saved.QUERIES.read())
        except BoardError as error:
            notice(str(error), "error")
        _choice(queries)
        pressed = _editor(run)
        if problem := place.remembered("sql_problem"):
            notice(problem, "error")
        query = place.widget_text("sql_query")
        title = next((name for name, known in queries.items() if known == query.strip()), "Custom metric")
        _result(run, query, title, anew=pressed)


def _choice(queries: dict[str, str]) -> None:
    """The saved metrics to choose from, one that a link names among them."""
    names = ["", *queries]
    name = linked.value("sql_saved")
    if name not in names:
        place.remember(no_query=name)
    if lacking := place.remembered("no_query"):
        notice(f"No custom metric is saved here under the name {lacking!r}.", "warning")
    with st.container(horizontal=True, vertical_alignment="bottom", gap="small"):
        chosen = st.selectbox(
            "Saved",
            **linked.choice("sql_saved", names, label=lambda name: name or "none", then=lambda: _choose(queries)),
            width=320,
        )
        st.button("Delete", key="sql_delete", disabled=not chosen, on_click=_delete)
    if chosen != place.remembered("opened_query"):  # by a link, for which no callback runs
        _open(chosen, queries)


def _editor(run: Run) -> bool:
    """Query and name, and whether Run was pressed; what is typed counts once a button of the form is pressed."""
    if not place.widget_text("sql_query"):
        place.set_widgets(sql_query=example(run.frame))
    with st.form("sql_form", border=False):
        st.text_area("Query", key="sql_query", height=140, max_chars=LONGEST_QUERY, help=HELP, persist_state="session")
        with st.container(horizontal=True, vertical_alignment="bottom", gap="small"):
            pressed = st.form_submit_button("Run", key="sql_run", type="primary", on_click=_forget_problem)
            st.text_input("Name", key="sql_name", max_chars=LONGEST_NAME, persist_state="session", width=240)
            st.form_submit_button("Save", key="sql_save", on_click=_save)
            with st.popover("Columns"), st.container(width=_COLUMNS_WIDTH):
                table.show(described(run.frame, declared), {}, name="columns", key="sql_columns", height=_COLUMNS_HEIGHT)
    return pressed


def _result(run: Run, query: str, title: str, *, anew: bool) -> None:
    """The chart of a query's answer, or why there is none."""
    latest = caches.latest_answer(f"{run.address} {run.splits} {place.part('steps')}", query, anew=anew)
    with st.spinner("Running the query", show_time=True):
        made, current = latest.get(run.load_id, lambda: _run(run, query))
    result = cast(_QueryResult, made)
    if not current:
        notice("The run has changed since this query was run. Run it again to see the new rollouts.")
    if result.reason:
        notice(result.reason, "error")
        return
    for sentence in result.left_out:
        notice(sentence, "warning")
    parts = _parts(result, title)
    if result.x == STEP:
        _curves(run, result, parts)
    else:
        _charts(run, result, parts)


def _parts(result: _QueryResult, title: str) -> dict[str, list[CustomCurve]]:
    """All curves in one chart or, where the reader wants them apart, a chart for each number of the answer; by title."""
    numbers = list(dict.fromkeys(curve.number for curve in result.curves))
    if len(numbers) == 1 or not st.toggle(
        "A chart for each number", key="sql_apart", persist_state="session", on_change=place.moved
    ):
        return {title: list(result.curves)}
    if len(numbers) > MOST_CHARTS:
        notice(f"The answer has {len(numbers):,} numbers: only the first {MOST_CHARTS} are drawn.", "warning")
    return {
        f"{title}: {number}": [curve for curve in result.curves if curve.number == number] for number in numbers[:MOST_CHARTS]
    }


def _curves(run: Run, result: _QueryResult, parts: Mapping[str, list[CustomCurve]]) -> None:
    """Panels of curves over steps."""

    def build() -> CurvesPayload:
        cards, missing = [], []
        for title, chosen in parts.items():
            try:
                cards.append(Card(title, answer_panel(chosen, title)))
            except FieldMissing as error:
                missing.append(f"{title}: {error}")
        return curves.build(cards, span=(int(run.steps[0]), int(run.steps[-1])), height=PLOT_HEIGHT, columns=2, missing=missing)

    made = caches.cached(CHART, build, run, result.identity, *parts)
    for sentence in made.missing:
        notice(sentence)
    if made.keys:
        step_curves(made, CHART, run.steps)


def _charts(run: Run, result: _QueryResult, parts: Mapping[str, list[CustomCurve]]) -> None:
    """Charts over something else."""
    grid = st.grid(min(2, len(parts)), min_column_width=PANEL_WIDTH, gap="medium")
    for at, (title, chosen) in enumerate(parts.items()):
        with grid.cell():
            key = f"{CHART}_{at}"
            try:
                drawn = caches.chart(key, lambda: answer_chart(chosen, result.x, title), run, title, result.identity)  # noqa: B023
            except FieldMissing as error:
                notice(f"{title}: {error}")
                continue
            st.plotly_chart(drawn.figure, key=key, config={"displayModeBar": False})


def _run(run: Run, query: str) -> _QueryResult:
    """Run the query. A failure is a result, too, cached until the query is run again: else it would fail anew with every click."""
    try:
        answer = evaluate(run.frame, query) if run.slice is None else index_query.evaluate(run, query)
        found = tuple(answered(answer))
        if not any(np.isfinite(curve.y).any() for curve in found):
            raise FieldMissing("The answer has no number to draw.")
    except BoardError as error:
        return _QueryResult(reason=str(error))
    return _QueryResult(answer.x, found, tuple(_left_out(answer, len(found))))


def _left_out(answer: Answer, count: int) -> Iterator[str]:
    if answer.cut:
        yield f"The answer was cut: only its first {Limits().rows:,} rows are drawn."
    if answer.without_x:
        yield f"{plural(answer.without_x, 'row')} without {answer.x} left out."
    if count > MOST_CURVES:
        yield f"The answer has {count:,} curves: only the first {MOST_CURVES} are drawn."


def _choose(queries: dict[str, str]) -> None:
    _forget_problem()
    place.remember(no_query=None)
    _open(place.widget_text("sql_saved"), queries)


def _open(name: str, queries: dict[str, str]) -> None:
    """Put a saved query into the editor, once: there it may be changed."""
    place.remember(opened_query=name)
    if name in queries:
        place.set_widgets(sql_query=queries[name], sql_name=name)


def _save() -> None:
    try:
        name = saved.save_query(place.widget_text("sql_name"), place.widget_text("sql_query"))
    except BoardError as error:
        place.remember(sql_problem=str(error))
    else:
        linked.put(sql_saved=name)
        place.set_widgets(sql_name=name)
        place.remember(opened_query=name, no_query=None, sql_problem=None)


def _delete() -> None:
    """The query stays in the editor, so that it can be saved again."""
    _forget_problem()
    try:
        saved.QUERIES.put(place.widget_text("sql_saved"), None)
    except BoardError as error:
        place.remember(sql_problem=str(error))
    else:
        linked.put(sql_saved=None)
        place.remember(opened_query="")


def _forget_problem() -> None:
    place.remember(sql_problem=None)
