"""Has a server forget what clicks leave behind: widgets that are gone from the screen, and what pandas noted of columns that were looked at.

Streamlit keeps of every widget that a session ever showed what is to be called when it is clicked, and with that all that the page had
computed then; pandas keeps up to 500 notes for each column of a frame, of views of it that are gone. Over ten thousand clicks that is most of
what a server grows by. Knows the insides of both, and nothing of pages.
"""

import gc
import sys
from itertools import count
from typing import Any, Final

from streamlit.runtime.scriptrunner import get_script_run_ctx
from streamlit.runtime.state.session_state import SessionState

HEARD_RUNS: Final = 4
"""For so many runs of a page's script a session still knows a widget that none of them drew: what a browser had on its way when the page
changed is heard."""

TIDY_EVERY: Final = 500
"""Runs of a page's script, of all readers, between two looks for notes of views; one takes about 20 ms."""

_RUNS: Final = "_runs_since_drawn"
"""How many runs of the script ended since it was noted, that of the drawing included."""

_remove_stale_widgets = SessionState._remove_stale_widgets
_runs = count(1)


def forget(state: SessionState) -> None:
    """Have a session forget the widgets that none of the last HEARD_RUNS runs of the page's script drew. To be called after each run.

    Each time a widget is drawn, or heard, Streamlit notes anew what to call: what was noted is as old as that. Its list of what a run drew
    says less: the half of a component that hears clicks is not in it, nor what a part of a page draws by itself.
    """
    known, mapper = state._new_widget_state.widget_metadata, state._key_id_mapper
    kept = {*state._query_param_bound_widget_ids, *state._persist_tracker._scopes}
    for one, noted in list(known.items()):
        vars(noted)[_RUNS] = runs = vars(noted).get(_RUNS, 0) + 1
        if runs > 1 + HEARD_RUNS and one not in kept:
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
        forget(state)
    if next(_runs) % TIDY_EVERY == 0:
        tidy_views()
