"""Has a server forget what clicks leave behind: widgets that are gone from the screen, and what pandas noted of columns that were looked at.

Streamlit keeps of every widget that a session ever showed what is to be called when it is clicked, and with that all that the page had
computed then; pandas keeps up to 500 notes for each column of a frame, of views of it that are gone. Over ten thousand clicks that is most of
what a server grows by. Knows the insides of both, and nothing of pages.
"""

import gc
import sys
from collections.abc import Iterable
from itertools import count
from typing import Any, Final

from streamlit.components.v2.bidi_component.constants import EVENT_DELIM
from streamlit.runtime.scriptrunner import get_script_run_ctx
from streamlit.runtime.state.session_state import STREAMLIT_INTERNAL_KEY_PREFIX, SessionState

MOST_GONE: Final = 20
"""So many widgets that are gone a session still knows: what a browser had on its way when the page changed is heard."""

TIDY_EVERY: Final = 500
"""Runs of a page's script, of all readers, between two looks for notes of views; one takes about 20 ms."""

_HEARD: Final = f"{STREAMLIT_INTERNAL_KEY_PREFIX}_"
_OF_EVENTS: Final = f"{EVENT_DELIM}events"
"""What the id of a component stands between in that of the widget that hears its clicks."""

_remove_stale_widgets = SessionState._remove_stale_widgets
_runs = count(1)


def forget(state: SessionState, active: Iterable[str]) -> None:
    """Have a session forget all but the last MOST_GONE of the widgets that are not `active`.

    Among those Streamlit names a component of ours, and not the widget beside it which hears its clicks.
    """
    known, mapper = state._new_widget_state.widget_metadata, state._key_id_mapper
    there = [one for widget in active for one in (widget, f"{_HEARD}{widget}{_OF_EVENTS}") if one in known]
    for one in there:  # to the end: what comes first has been gone for longest
        known[one] = known.pop(one)
    kept = {*there, *state._query_param_bound_widget_ids, *state._persist_tracker._scopes}
    gone = [one for one in known if one not in kept]
    for one in gone[: max(0, len(gone) - MOST_GONE)]:
        del known[one]
        key = mapper._id_key_mapping.pop(one, None)
        if key is not None and mapper._key_id_mapping.get(key) == one:
            del mapper._key_id_mapping[key]


def tidy_views() -> None:
    """Have pandas forget, for each column that is kept, the views of it that are gone; by itself it does once there are 500 of them."""
    internals: Any = sys.modules.get("pandas._libs.internals")  # imported with the first page, not with the server
    if internals is not None:
        for one in gc.get_objects(generation=2):
            if type(one) is internals.BlockValuesRefs:
                one.has_reference()  # looks through its notes, and drops those of nothing


def begin() -> None:
    """Have every session of this process forget after each run of a page's script: Streamlit offers no other way."""
    SessionState._remove_stale_widgets = _removed  # type: ignore[assignment, method-assign]


def _removed(state: SessionState, active_widget_ids: frozenset[str]) -> None:
    _remove_stale_widgets(state, active_widget_ids)
    context = get_script_run_ctx()
    if context is not None and not context.fragment_ids_this_run:  # of a part of a page the others are not told
        forget(state, active_widget_ids)
    if next(_runs) % TIDY_EVERY == 0:
        tidy_views()
