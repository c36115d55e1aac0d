"""Leaves out of each run of a page's script what Streamlit does for nothing: a copy of the whole session for each widget that asks for one key.

A list or a field with a key looks whether the session holds None under it. Streamlit makes a dictionary of all keys for that, with what every
component of the page reports made ready to be read: a fifteenth of a click's work. Knows Streamlit's insides, and nothing of pages.
"""

from collections.abc import Iterator, Mapping
from typing import Any

from streamlit.runtime.state.safe_session_state import SafeSessionState
from streamlit.runtime.state.session_state import SessionState

_whole = SafeSessionState.filtered_state.fget  # type: ignore[attr-defined]
"""What Streamlit makes: a dictionary of what a session holds, by the keys of the user's own."""


class ByKey(Mapping[str, Any]):
    """What a session holds, looked up key by key; the same as a dictionary made of it now, which it is made where all of it is asked for."""

    def __init__(self, state: SafeSessionState) -> None:
        self._state = state

    def __getitem__(self, key: str) -> Any:
        """What is held under a key of the user's. Raises KeyError."""
        with self._state._lock:
            held: SessionState = self._state._state
            return held[key]

    def __iter__(self) -> Iterator[str]:
        """All keys."""
        return iter(_whole(self._state))

    def __len__(self) -> int:
        """How many keys there are."""
        return len(_whole(self._state))

    def __repr__(self) -> str:
        return repr(_whole(self._state))


def look_up_by_key() -> None:
    """Have every session of this process look keys up one by one: Streamlit offers no other way."""
    SafeSessionState.filtered_state = property(ByKey)  # type: ignore[method-assign, assignment]
