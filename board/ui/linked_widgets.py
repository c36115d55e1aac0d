"""Widgets that Streamlit itself keeps in the link (`bind="query-params"`): which of them the browser has, and how they stay there.

Knows neither the parts of the reader's place nor what a widget is for.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

import streamlit as st
from streamlit.runtime.scriptrunner import get_script_run_ctx

_FOLDED: Final = "_folded_widgets"


def begin() -> None:
    """To be called before a run of the script draws anything."""
    st.session_state[_FOLDED] = frozenset()


def in_browser() -> frozenset[str]:
    """The parameters of the widgets that the browser has: it adds them to links by itself."""
    return _bound() - _folded()


@contextmanager
def folded() -> Iterator[None]:
    """Draw widgets in what the reader opens and closes: the browser does not have them while it is closed, so links carry theirs."""
    before = _bound()
    yield
    st.session_state[_FOLDED] = _folded() | (_bound() - before)


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


def _folded() -> frozenset[str]:
    found: frozenset[str] = st.session_state.get(_FOLDED, frozenset())
    return found


def _bound() -> frozenset[str]:
    """The parameters that widgets keep which were drawn in this run."""
    context = get_script_run_ctx()
    if context is None:
        return frozenset()
    with context.session_state.query_params() as parameters:
        return frozenset(name for name in context.shared.widget_user_keys_this_run.snapshot() if parameters.is_bound(name))
