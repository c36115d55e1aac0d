"""The reader's place in the URL: taken over when a page is asked for, written when it is drawn, and carried whole from page to page.

Every view has a link that opens it: the place, and what the reader chose on any page (filter, sort, columns, curves, ...), which the
widgets bound to the URL keep there. Knows no page and no run.
"""

import math
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Final

import streamlit as st
from streamlit.runtime.scriptrunner import get_script_run_ctx

from board.ui import session
from board.ui.session import PARTS, PlacePart

Parameters = dict[str, str | list[str]]
"""Those of a link, as `st.page_link` takes them: a list where there are several of a name."""

_WHOLE: Final[tuple[PlacePart, ...]] = ("step", "token")
"""Parts of the place that are whole numbers."""

_PASSING: Final[tuple[PlacePart, ...]] = ("token", "compare", "window")
"""Those that a link leaves out when there is none: Back to such a link takes them away. A link without a run is none of ours."""

STALE_SECONDS: Final = 5.0
"""A click so soon after the URL was written may come with the URL of before, which a busy browser had not yet replaced."""


def adopt() -> None:
    """Take over what the URL asks for, where it says something other than what this session last wrote there.

    So a link opens its view, the browser's Back button works, and a click is not undone by the URL it is about to change.
    """
    session.note(folded=frozenset())
    asked = _asked()
    if "_written" not in st.session_state:
        st.session_state.update({"_written": {}, "_before": None, "_written_at": -math.inf, "_asked_run": asked["run"]})
    if asked == st.session_state["_written"]:
        st.session_state["_before"] = None  # the browser has what was written: from now on it means what it says
    if _is_stale(asked):
        return
    for name, value in asked.items():
        if value == st.session_state["_written"].get(name):
            continue
        if value is not None:
            st.session_state[name] = int(value) if name in _WHOLE and session.is_whole(value) else value
            if name == "token":
                session.forget_after(name, keep=st.query_params)
        elif name in _PASSING and asked["run"] is not None:
            st.session_state.pop(name, None)


def _is_stale(asked: Mapping[str, str | None]) -> bool:
    """Whether the URL is only the one of before, which a click came with; never so where Back or Forward brought it."""
    went_back = bool((context := get_script_run_ctx()) and context.is_history_navigation)
    young = time.monotonic() - float(st.session_state["_written_at"]) < STALE_SECONDS
    return young and not went_back and asked == st.session_state["_before"]


def _asked() -> dict[str, str | None]:
    return {name: st.query_params.get(name) for name in PARTS}


def write() -> None:
    """Put the reader's place into the URL, all parts at once: each change would be a stop of the browser's Back button."""
    written = {name: str(value) if (value := st.session_state.get(name)) is not None else None for name in PARTS}
    before = _asked()
    changed = {name: value for name, value in written.items() if before[name] != value}
    if changed:
        st.session_state.update({"_before": before, "_written_at": time.monotonic()})
        # an empty list takes a parameter out of the URL
        st.query_params.update({name: [] if value is None else value for name, value in changed.items()})
    st.session_state["_written"] = written


def release() -> None:
    """Let go of the parameters that widgets are bound to, so that they stay in the URL on pages that do not draw those widgets.

    Streamlit takes a page's parameters out of the URL when another page comes, and that would be two stops of the Back button more. A
    widget is bound anew each time it is drawn. To be called after every run of the script, however it ends.
    """
    if context := get_script_run_ctx():
        with context.session_state.query_params() as parameters:
            for name in map(str, st.session_state):
                if binding := parameters.get_binding_for_param(name):
                    parameters.unbind_widget(binding.widget_id)


def link(**where: str | int) -> Parameters:
    """The parameters of a link to another page at the reader's place, but for what is given, with all that was chosen on any page.

    The browser adds those of the widgets that are drawn now by itself.
    """
    there: Parameters = {name: str(value) for name in PARTS if (value := where.get(name, st.session_state.get(name))) is not None}
    drawn = _bound() - _folded()
    chosen = {name: st.query_params.get_all(name) for name in st.query_params if name not in PARTS and name not in drawn}
    return there | {name: values[0] if len(values) == 1 else values for name, values in chosen.items()}


def chosen(name: str, default: str | bool) -> str | bool:
    """A choice whose widget may not be drawn on this page, or not yet: as the session holds it, else as the URL says it."""
    value: str | bool = st.session_state.get(name, st.query_params.get(name, default))
    return value


def _bound() -> frozenset[str]:
    """The parameters that widgets keep which were drawn in this run."""
    context = get_script_run_ctx()
    if context is None:
        return frozenset()
    with context.session_state.query_params() as parameters:
        return frozenset(name for name in map(str, st.session_state) if parameters.is_bound(name))


@contextmanager
def folded() -> Iterator[None]:
    """Draw widgets in what the reader opens and closes: the browser does not have them while it is closed, so links carry theirs."""
    before = _bound()
    yield
    session.note(folded=_folded() | (_bound() - before))


def _folded() -> frozenset[str]:
    return session.noted("folded") or frozenset()


def asked_for(run: str) -> bool:
    """Whether the link that opened this session names the run."""
    return bool(st.session_state.get("_asked_run") == run)
