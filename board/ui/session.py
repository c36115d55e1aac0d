"""The reader's place and the open runs: with `address`, which mirrors the place in the URL, the only module that touches
st.session_state, st.query_params and st.cache_*.

What a link or a widget asks for is a request, not a fact: it is checked against the runs and steps there are.
"""

import math
import os
import re
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, Literal, TypeVar, get_args

import numpy as np
import pandas as pd
import streamlit as st
from numpy.typing import NDArray

from board.analysis.alternatives import Likeliest, likeliest
from board.analysis.logged_curves import CurveReader, Scalars, find
from board.analysis.step_stats import nearest_step, per_step
from board.errors import BoardError, RunNotFound
from board.figures.chart import Chart, Ready
from board.figures.theme import ink
from board.runs.library import Library, RunFolder, list_runs
from board.runs.rollout import Rollout
from board.runs.run import Run
from board.runs.shared_values import LatestValue, RecentValues
from board.text.path_names import path_of, shown
from board.trackers import LogSource
from board.user_files import pins

_T = TypeVar("_T")

ROW_OR_CELL: Final[list[Literal["single-row", "single-cell"]]] = ["single-row", "single-cell"]
"""What a click selects in a table whose rows lead somewhere: anywhere on the row must do."""

PlacePart = Literal["run", "step", "rollout", "token", "compare", "metric", "scale", "granularity", "window"]

PARTS: Final[tuple[PlacePart, ...]] = get_args(PlacePart)


@dataclass(frozen=True)
class DrawnChart:
    """A chart, and the same as it is sent."""

    chart: Chart
    figure: Ready


@dataclass(frozen=True)
class View:
    """What every page is given: the run, the chosen step, and how texts are to be shown."""

    run: Run
    step: int
    pads: tuple[str, ...]
    """Texts of tokens to hide as padding; empty to show them."""
    system_end: str
    """Text that ends the system prompt to hide; empty to show it."""
    whole: Run
    """With the rollouts of evaluations, where `run` has those of training alone or the reverse."""


def root() -> Path:
    """The folder whose runs may be read: RL_BOARD_ROOT, else the script's argument, else the bundled samples. Raises RunNotFound."""
    given = os.environ.get("RL_BOARD_ROOT") or next((argument for argument in sys.argv[1:2] if Path(argument).is_dir()), None)
    folder = Path(given) if given else Path(__file__).parents[2] / "rollout_samples"
    if not folder.is_dir():
        raise RunNotFound(f"The root {str(folder)!r} is not a folder. Start the board with the folder that holds your runs.")
    return folder.resolve()


@st.cache_resource(show_spinner=False)
def library() -> Library:
    """The runs this server has open, shared by all browser sessions; read with RL_BOARD_TOKENIZER and RL_BOARD_MAPPING, if given."""
    tokenizer, mapping = (os.environ.get(f"RL_BOARD_{name}") for name in ("TOKENIZER", "MAPPING"))
    return Library(Path(tokenizer) if tokenizer else None, Path(mapping) if mapping else None)


@st.cache_data(ttl=5, show_spinner=False, max_entries=16)
def runs(folder: str) -> list[RunFolder]:
    """The runs under a root, whose path is given as it is shown, looked up at most every five seconds."""
    return list_runs(Path(path_of(folder)))


def place(name: PlacePart) -> str | int | None:
    """One part of the reader's place, None when nothing is chosen."""
    value: str | int | None = st.session_state.get(name)
    return value


def go(**where: str | int | None) -> None:
    """Move the reader: `go(step=12)`, and forget what depended on the old place; nothing is forgotten where he is there already.

    So a table may report its marked row again, as it does when a page is left. Only before the widget of that name is drawn, that is,
    in callbacks or at the top of the page.
    """
    for name, value in where.items():
        if st.session_state.get(name) != value:
            forget_after(name, keep=where)
    st.session_state.update(where)


def is_whole(text: str) -> bool:
    """Whether a text of the URL or of a widget is a whole number that fits 64 bits, or nearly."""
    return re.fullmatch(r"-?[0-9]{1,19}", text) is not None


def moved(name: PlacePart) -> None:
    """To be called when a widget has changed one part of the place by itself."""
    forget_after(name, keep={})


def step_chosen(steps: NDArray[np.int64]) -> None:
    """To be called when the list of steps has changed the step: one that was typed, and is not there, becomes the nearest that is."""
    typed = st.session_state.get("step")
    if isinstance(typed, str):
        st.session_state["step"] = nearest_step(steps, int(typed)) if is_whole(typed) else None
    moved("step")


_FORGOTTEN: Final[Mapping[str, tuple[PlacePart, ...]]] = {
    "run": ("step", "rollout", "window", "token", "compare"),
    "step": ("rollout", "window", "token", "compare"),
    "rollout": ("window", "token", "compare"),
    "token": ("compare",),
}
"""What depends on a part of the place and is forgotten with it."""


def forget_after(name: str, keep: Mapping[str, object]) -> None:
    """Forget the parts of the place that depend on that one, but for those in `keep`, and what was said of the link that led here."""
    note(amiss=None)
    for dependent in _FORGOTTEN.get(name, ()):
        if dependent not in keep:
            st.session_state.pop(dependent, None)


def step_clicked(marks: str, steps: NDArray[np.int64]) -> Callable[[], None]:
    """A callback for the step marks with that key: go to the step nearest to the place that was clicked."""

    def callback() -> None:
        x = (st.session_state.get(marks) or {}).get("clicked")
        if isinstance(x, int | float) and math.isfinite(x) and len(steps):
            go(step=nearest_step(steps, x))

    return callback


def bar_clicked(strip: str, steps: NDArray[np.int64]) -> Callable[[], None]:
    """A callback for the strip of steps with that key: go to the step of the bar that was clicked; `steps` are the bars', in order."""

    def callback() -> None:
        at = (st.session_state.get(strip) or {}).get("clicked")
        if isinstance(at, int) and 0 <= at < len(steps):
            go(step=int(steps[at]))

    return callback


def row_clicked(table: str, places: Sequence[Mapping[str, str | int]], /, **heads: Callable[[], None]) -> Callable[[], None]:
    """A callback for the table with that key: go to the place of the row that was clicked. `places` are the rows', in order.

    The table selects ROW_OR_CELL: a click on a cell names the cell, one beside the first column the row. Where it selects columns too,
    `heads` are what a click on a column's head does.
    """

    def callback() -> None:
        selection = (st.session_state.get(table) or {}).get("selection", {})
        rows = [row for row, _ in selection.get("cells", [])] or selection.get("rows", [])
        if act := next((act for name, act in heads.items() if name in selection.get("columns", [])), None):
            act()
        elif rows and rows[0] < len(places):
            go(**places[rows[0]])

    return callback


def select_row(table: str, row: int | None) -> None:
    """Mark one row of the table with that key, before it is drawn."""
    st.session_state[table] = {"selection": {"rows": [] if row is None else [row], "cells": [], "columns": []}}


def note(**what: object) -> None:
    """Remember something about this reader that is no part of the place."""
    st.session_state.update({f"_noted_{name}": value for name, value in what.items()})


def noted(name: str) -> Any:
    """What was noted under that name last; None when nothing was."""
    return st.session_state.get(f"_noted_{name}")


def keep_widget(key: str, value: object) -> None:
    """Set the widget with that key, before it is drawn."""
    st.session_state[key] = value


def widget(key: str) -> Any:
    """What the widget with that key holds; None where it was not drawn yet."""
    return st.session_state.get(key)


def typed(widget: str) -> str:
    """What the widget of text with that key holds; empty where it was not drawn yet."""
    return str(st.session_state.get(widget) or "")


def asked_rollout(run: Run) -> int | None:
    """The key of the rollout the reader chose; None when there is no choice, or not in this run."""
    asked = st.session_state.get("rollout")
    return run.key_of(str(asked)) if asked is not None else None


def chosen_rollout(run: Run, keys: NDArray[np.int64]) -> int:
    """The key of the rollout the reader chose, listed or not; without a choice the first of `keys`, which are the step's and not empty.

    The first becomes the choice, so that the link names it.
    """
    asked = asked_rollout(run)
    if asked is not None:
        return asked
    first = run.rollout(int(keys[0]))
    keep(rollout=first.source)
    return first.key


def keep(**where: str | int | None) -> None:
    """Fill in a part of the place, or note what is shown now, without forgetting the parts that depend on it."""
    st.session_state.update(where)


def set_view(view: View) -> None:
    """Hand the frame's choices to the page that is about to be drawn."""
    st.session_state["_view"] = view


def view() -> View:
    """What the frame chose for this page."""
    chosen: View = st.session_state["_view"]
    return chosen


def remember(name: str, compute: Callable[[Run], pd.DataFrame], run: Run, *small: str | float | None) -> pd.DataFrame:
    """A frame computed from a run, kept while that load of the run is in use. Keyed by the load and small choices, never by its data."""
    return _remembered(name, run.load_id, small, run, compute)


def stats(run: Run, column: str) -> pd.DataFrame:
    """Per-step aggregates of a column, computed once per load."""
    return remember("per_step", lambda opened: per_step(opened.frame, column), run, column)


def keep_built(name: str, build: Callable[[], _T], run: Run, *small: str | float | None) -> _T:
    """Something large made from a run, as what is sent to the browser: the last few are kept, by the load and small choices."""
    built: _T = _built(name, run.load_id, small, build)
    return built


def listed(compute: Callable[[], NDArray[np.int64]], run: Run, *small: str | float | bool | None) -> NDArray[np.int64]:
    """Keys of rollouts in the order of a list, found once for all readers. Keyed by the load and small choices; not to be changed."""
    return _listed(run.load_id, small, compute)


@st.cache_resource(show_spinner=False, max_entries=16)
def _listed(load_id: str, small: tuple[object, ...], _compute: Callable[[], NDArray[np.int64]]) -> NDArray[np.int64]:
    return _compute()


def chart(name: str, draw: Callable[[], Chart], run: Run, *small: str | float | tuple[str, ...] | None) -> DrawnChart:
    """A chart of a run in the page's colours, drawn once for all readers. Keyed by the load, the page's theme and small choices."""
    theme: Literal["light", "dark"] = "dark" if st.context.theme.type == "dark" else "light"

    def drawn() -> DrawnChart:
        made = draw()
        return DrawnChart(made, Ready(ink(made.spec, theme)))

    return _charts().get((name, run.load_id, small, theme), drawn)


@st.cache_resource(show_spinner=False)
def _charts() -> RecentValues[DrawnChart]:
    """By key rather than as a cached function of Streamlit's, which takes as long to find a chart as to send it."""
    return RecentValues(256)


def logged(run: Run) -> Scalars:
    """What trackers logged near the run, or where RL_BOARD_SCALARS says; files that did not change are not read again."""
    try:
        return _scalar_reader().read(
            _scalar_sources(shown(run.location), shown(os.environ.get("RL_BOARD_SCALARS", "")), shown(root()))
        )
    except BoardError as error:
        return Scalars(problems=(str(error),))


@st.cache_data(ttl=30, show_spinner=False, max_entries=16)
def _scalar_sources(location: str, given: str, within: str) -> list[LogSource]:
    """Looked up at most twice a minute: a run's folder may hold many files. Those that are found are looked at each time.

    Paths are given as they are shown: Streamlit keeps nothing under a text that UTF-8 cannot hold.
    """
    return find(Path(path_of(location)), Path(path_of(given)) if given else None, Path(path_of(within)))


@st.cache_resource(show_spinner=False)
def _scalar_reader() -> CurveReader:
    return CurveReader()


def pinned() -> tuple[tuple[str, ...], str]:
    """Keys of the metrics that the reader pinned, in the order of pinning, and why they cannot be read or kept; "" when they can."""
    try:
        return pins.read(), st.session_state.pop("_unkept", "")
    except BoardError as error:
        return (), str(error)


def toggle_pin(key: str) -> None:
    """Pin a metric, or take its pin off."""
    try:
        pins.toggle(key)
    except BoardError as error:
        st.session_state["_unkept"] = str(error)


@st.cache_resource(show_spinner=False, max_entries=8)
def latest(name: str, location: str) -> LatestValue[Any]:
    """The latest value of that name made of the run at a location, shared by all readers."""
    return LatestValue()


def latest_answer(location: str, query: str, *, anew: bool) -> LatestValue[Any]:
    """The latest answer to a query over the run at a location, shared by all readers; `anew` forgets the one there is."""
    if anew:
        _latest_answer.clear(location, query)
    return _latest_answer(location, query)


@st.cache_resource(show_spinner=False, max_entries=16)
def _latest_answer(location: str, query: str) -> LatestValue[Any]:
    return LatestValue()


@st.cache_resource(show_spinner=False, max_entries=4)
def _built(name: str, load_id: str, small: tuple[str | float | None, ...], _build: Callable[[], object]) -> Any:
    return _build()


@st.cache_resource(show_spinner=False, max_entries=256)
def _remembered(
    name: str, load_id: str, small: tuple[str | float | None, ...], _run: Run, _compute: Callable[[Run], pd.DataFrame]
) -> pd.DataFrame:
    return _compute(_run)


def likeliest_alternatives(run: Run, rollout: Rollout, rows: NDArray[np.int64]) -> Likeliest | None:
    """What else could have been sampled at the tokens at `rows` (rising positions), kept while it is looked at; None where the row has none."""
    if rollout.alternatives is None or rollout.tokens is None or not len(rows):
        return None
    return _likeliest(run.load_id, rollout.key, (int(rows[0]), int(rows[-1]), len(rows)), rollout, rows)


@st.cache_resource(show_spinner=False, max_entries=8)
def _likeliest(load_id: str, key: int, place: tuple[int, int, int], _rollout: Rollout, _rows: NDArray[np.int64]) -> Likeliest:
    """Rows with the same ends and as many of them are the same: only padding is ever left out."""
    assert _rollout.alternatives is not None
    assert _rollout.tokens is not None
    return likeliest(_rollout.alternatives.lists, _rollout.tokens, _rows)
