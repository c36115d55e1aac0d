"""The reader's place: what is chosen, in the session and mirrored in the URL.

Every view has a link. The parts of the place (PARTS) reach the URL here alone: `adopt` takes over what a link asks for, `write` puts all
parts there at once. What moving the reader neither sets nor forgets is no part of the place: searches, sorting, columns, curves. Those
stand in the URL alone (`linked`); `link` carries them from page to page.

Only this module and that one touch st.session_state and st.query_params. What a link or a widget requests is checked elsewhere against
the runs and steps that exist.
"""

import math
import time
from collections.abc import Callable, Container, Mapping, Sequence
from dataclasses import dataclass
from functools import partial, wraps
from typing import Any, Final, Literal, NoReturn, ParamSpec

import numpy as np
import streamlit as st
from numpy.typing import NDArray

from board.analysis.steps.step_stats import nearest_step
from board.runs.run import Run
from board.text.system_prompts import Hiding
from board.ui.state import link_texts
from board.ui.state.place_parts import COMPARED, FORGOTTEN, PARTS, PASSING, WHOLE, PlacePart

_P = ParamSpec("_P")

_LATE_SECONDS: Final = 0.7
"""So long a browser may still send the URL that the board has just replaced; who goes back does so later."""

_Linked = str | tuple[str, ...] | None
"""A part of the place as the link has it: the runs to compare are several values."""

Parameters = dict[str, str | list[str]]
"""Those of a link, as `st.page_link` takes them: a list where there are several of a name."""


@dataclass(frozen=True)
class View:
    """What every page is given: the run, the chosen step, and how texts are to be shown."""

    run: Run
    """With the rollouts alone that the filter leaves."""
    step: int
    hiding: Hiding | None
    """How system prompts are hidden; None to show them."""
    whole: Run
    """With the rollouts of evaluations, where `run` has those of training alone or the reverse."""
    unfiltered: Run
    """`run` without the filter; the same where there is none."""
    whole_unfiltered: Run
    """`whole` without the filter."""


def part(name: PlacePart) -> str | int | None:
    """One part of the reader's place, None when nothing is chosen."""
    value: str | int | None = st.session_state.get(name)
    return value


def compared() -> tuple[str, ...]:
    """Addresses of the runs that the link compares; the page's own may be among them."""
    return tuple(filter(None, seats()))


def seats() -> tuple[str, ...]:
    """The addresses with "" for each run that was removed: a run's colour depends on its position."""
    return st.session_state.get(COMPARED) or ()


def compare(addresses: tuple[str, ...] | None) -> None:
    """Have the link compare the runs with these addresses, "" for each that was removed."""
    go(**{COMPARED: addresses})


def go(**where: str | int | tuple[str, ...] | None) -> None:
    """Move the reader: `go(step=12)`, and forget what depended on the old place; nothing is forgotten where he is there already.

    So a table may report its marked row again, as it does when a page is left. Only before the widget of that name is drawn, that is,
    in callbacks or at the top of the page.
    """
    moved()
    for name, value in where.items():
        if st.session_state.get(name) != value:
            forget_after(name, keep=where)
    fill_in(**where)


def fill_in(**where: str | int | tuple[str, ...] | None) -> None:
    """Fill in parts of the place, or what is shown now, without forgetting the parts that depend on them."""
    st.session_state.update(where)


def callback(act: Callable[_P, None]) -> Callable[_P, Callable[[], None]]:
    """Decorates what is to be done after a click: called, it does nothing yet, and returns what Streamlit is to call then."""

    @wraps(act)
    def later(*given: _P.args, **named: _P.kwargs) -> Callable[[], None]:
        return partial(act, *given, **named)

    return later


@callback
def step_picked(picker: str, steps: NDArray[np.int64]) -> None:
    """A callback for the list of steps with that key: go to the step, or to the nearest there is where another was typed."""
    typed = str(reported(picker, "chosen"))
    if link_texts.is_whole(typed) and len(steps):
        go(step=nearest_step(steps, int(typed)))


@callback
def run_picked(picker: str, names: Mapping[str, str]) -> None:
    """A callback for the list of runs with that key: go to the run; `names` are the runs' by what the list calls them."""
    name = names.get(str(reported(picker, "chosen")))
    if name is not None:
        go(run=name)


def forget_after(name: str, keep: Container[str] = ()) -> None:
    """Forget the parts of the place that depend on that one, but for those in `keep`, and what was said of the link that led here."""
    remember(amiss=None, awaited=None)
    for dependent in FORGOTTEN.get(name, ()):
        if dependent not in keep:
            st.session_state.pop(dependent, None)


def reported(component: str, what: str) -> Any:
    """What the component with that key reports of that name, in the callback for it; None where it reports nothing."""
    state = st.session_state.get(component)
    return None if state is None else state.get(what)


@callback
def step_clicked(marks: str, steps: NDArray[np.int64]) -> None:
    """A callback for the curves or step marks with that key: go to the step nearest to the place that was clicked."""
    x = reported(marks, "clicked")
    if isinstance(x, int | float) and math.isfinite(x) and len(steps):
        go(step=nearest_step(steps, x))


def step_range(name: Literal["zoom", "steps"]) -> tuple[int, int] | None:
    """A part of the place that is a range of steps, written "10-40"; None without one, or where it is none."""
    return link_texts.step_range(str(part(name) or ""))


def marked(text: str) -> tuple[int, int] | None:
    """The characters of that text of the rollout which are marked: the part `mark`, written "response:10-14"; None where of another."""
    return link_texts.marked(str(part("mark") or ""), text)


@callback
def zoomed(curves: str) -> None:
    """A callback for the curves with that key: show the steps that were zoomed to in all curves."""
    go(zoom=link_texts.range_text(reported(curves, "zoomed")))


@callback
def bar_clicked(strip: str, steps: NDArray[np.int64]) -> None:
    """A callback for the strip of steps with that key: go to the step of the bar that was clicked; `steps` are the bars', in order."""
    at = reported(strip, "clicked")
    if isinstance(at, int) and 0 <= at < len(steps):
        go(step=int(steps[at]))


@callback
def place_clicked(component: str, places: Sequence[Mapping[str, str | int]]) -> None:
    """A callback for the component with that key: go to the place that was clicked; `places` are those it shows, in order."""
    at = reported(component, "clicked")
    if isinstance(at, int) and 0 <= at < len(places):
        go(**places[at])


def key_of(name: str, places: Sequence[Mapping[str, str | int]]) -> str:
    """The key for a list that shows these places: another for other places, so that a click on what is just being replaced means what it hit."""
    return f"{name}_{hash(tuple(tuple(one.items()) for one in places))}"


@callback
def row_clicked(table: str, places: Sequence[Mapping[str, str | int]], /, **heads: Callable[[], None]) -> None:
    """A callback for the table with that key: go to the place of the row that was clicked. `places` are the rows', in order.

    `heads` are what a click on a column's head does.
    """
    head = reported(table, "sorted")
    row = clicked_row(table)
    if act := heads.get(str(head)):
        act()
    elif row is not None and row < len(places):
        go(**places[row])


def clicked_row(table: str) -> int | None:
    """The row that was clicked in the table with that key, in the callback for it; None where a head was."""
    cell = clicked_cell(table)
    return None if cell is None else cell[0]


def clicked_cell(table: str) -> tuple[int, str] | None:
    """The row and the column of the cell that was clicked in the table with that key; None where a head was."""
    cell = reported(table, "clicked")
    if not isinstance(cell, Mapping):
        return None
    row = cell.get("row")
    return (row, str(cell.get("column"))) if isinstance(row, int) and row >= 0 else None


def remember(**what: object) -> None:
    """Remember something about this reader that is no part of the place: in one entry, as Streamlit reads all entries for each box it draws."""
    st.session_state.setdefault("_remembered", {}).update(what)


def remembered(name: str) -> Any:
    """What was remembered under that name last; None when nothing was."""
    return st.session_state.get("_remembered", {}).get(name)


def set_widgets(**values: object) -> None:
    """Set the widgets with those keys, before they are drawn."""
    st.session_state.update(values)


def widget_value(key: str) -> Any:
    """What the widget with that key holds; None where it was not drawn yet."""
    return st.session_state.get(key)


def widget_text(key: str) -> str:
    """What the widget of text with that key holds; empty where it was not drawn yet."""
    return str(st.session_state.get(key) or "")


def linked_rollout(run: Run) -> int | None:
    """The key of the rollout the reader chose; None when there is no choice, or not in this run."""
    name = st.session_state.get("rollout")
    return run.key_of(str(name)) if name is not None else None


def chosen_rollout(run: Run, keys: NDArray[np.int64]) -> int:
    """The key of the rollout the reader chose, listed or not; without a choice the first of `keys`, which are the step's and not empty.

    The first becomes the choice, so that the link names it.
    """
    linked = linked_rollout(run)
    if linked is not None:
        return linked
    first = run.rollout(int(keys[0]))
    fill_in(rollout=first.source)
    return first.key


def set_view(view: View) -> None:
    """Hand the frame's choices to the page that is about to be drawn."""
    st.session_state["_view"] = view


def view() -> View:
    """What the frame chose for this page."""
    chosen: View = st.session_state["_view"]
    return chosen


def adopt() -> None:
    """Take over the parts of the URL that differ from what this session last wrote there.

    So a link opens its view, and the browser's Back button works. After a click the session has the place: the browser may not have the URL
    yet that the click before wrote. Nor has it where what was hit is not drawn any more, so that no callback says so: then the URL of
    before counts as late for a moment.
    """
    url = _url_parts()
    if "_written" not in st.session_state:
        st.session_state.update({"_written": {}, "_opened_run": url["run"], "_before": (-math.inf, None)})
    wrote, before = st.session_state["_before"]
    if st.session_state.get("_moved") or (url == before and time.monotonic() - wrote < _LATE_SECONDS):
        return
    for name, value in url.items():
        if value == st.session_state["_written"].get(name):
            continue
        if value is not None:
            fill_in(**{name: int(str(value)) if name in WHOLE and link_texts.is_whole(str(value)) else value})
            if name == "token":
                forget_after(name, keep=st.query_params)
        elif name in PASSING and url["run"] is not None:
            st.session_state.pop(name, None)


def moved() -> None:
    """Say that the session is ahead of the browser's URL: in callbacks, and before the board asks for a run of the script by itself."""
    st.session_state["_moved"] = True


def draw_anew() -> NoReturn:
    """Run the whole script, from a part of the page that is drawn by itself: with the session's place where that is not in the URL yet.

    That of before counts as late here, however long ago it was replaced: the browser may have requested the part before it had the new one.
    Another is that of a reader who goes back, and is taken over.
    """
    if _place() != st.session_state["_written"] or _url_parts() == st.session_state["_before"][1]:
        moved()
    st.rerun()


def settle() -> None:
    """To be called after every run of the script, however it ends: from now on the URL means what it says."""
    st.session_state.pop("_moved", None)


def _url_parts() -> dict[str, _Linked]:
    return {name: st.query_params.get(name) for name in PARTS} | {COMPARED: tuple(st.query_params.get_all(COMPARED)) or None}


def _place() -> dict[str, _Linked]:
    return {name: _linked(st.session_state.get(name)) for name in PARTS}


def _linked(value: Any) -> _Linked:
    return value if value is None or isinstance(value, tuple) else str(value)


def write() -> None:
    """Put the reader's place into the URL, all parts at once: each change would be a stop of the browser's Back button."""
    written = _place()
    # The browser has the URL that this run came with, or what an earlier run wrote meanwhile.
    before, last = _url_parts(), st.session_state["_written"]
    changed = {name: value for name, value in written.items() if value != before[name] or value != last.get(name, value)}
    if changed:
        # an empty list takes a parameter out of the URL
        st.query_params.update({name: [] if value is None else value for name, value in changed.items()})
        st.session_state["_before"] = (time.monotonic(), before)
    st.session_state["_written"] = written


def link(**where: str | int) -> Parameters:
    """The parameters of a link to another page at the reader's place, but for what is given, with all that was chosen on any page."""
    values = {name: _linked(where.get(name, st.session_state.get(name))) for name in PARTS}
    there: Parameters = {
        name: [*value] if isinstance(value, tuple) else value for name, value in values.items() if value is not None
    }
    chosen = {name: st.query_params.get_all(name) for name in st.query_params if name not in PARTS}
    return there | {name: values[0] if len(values) == 1 else values for name, values in chosen.items()}


def link_to_run(address: str) -> Parameters:
    """The parameters of a link to a run: to another one without what depends on the reader's present run."""
    there = link(run=address)
    return there if address == part("run") else {name: value for name, value in there.items() if name not in FORGOTTEN["run"]}


def in_link() -> Mapping[str, Sequence[str]]:
    """The parameters that the link has now."""
    return {name: st.query_params.get_all(name) for name in st.query_params}


def opened_with(run: str) -> bool:
    """Whether the link that opened this session names the run."""
    return bool(st.session_state.get("_opened_run") == run)
