"""Tests of sessions looked up key by key: widgets find there what they found in a copy of the whole."""

from collections.abc import Mapping

import pytest
from streamlit.runtime.state.safe_session_state import SafeSessionState
from streamlit.runtime.state.session_state import SessionState
from streamlit.testing.v1 import AppTest

from board.serving import lean_reruns

PAGE = """
import streamlit as st
st.session_state.setdefault("one", 1)
st.selectbox("list", ["a", "b", "c"], key="list", index=1)
st.selectbox("empty", ["a", "b"], key="empty")
st.text_input("text", "default", key="text")
st.number_input("number", value=3, key="number")
st.radio("radio", ["x", "y"], key="radio", index=1)
st.selectbox("without a key", ["a"])
st.text(" ".join(sorted(st.session_state)))
st.text(str(len(st.session_state)))
"""


@pytest.fixture(params=["a copy of the whole", "key by key"])
def way(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """How widgets look; Streamlit's own way is there again after the test."""
    monkeypatch.setattr(SafeSessionState, "filtered_state", SafeSessionState.filtered_state)
    if request.param == "key by key":
        lean_reruns.look_up_by_key()
    return str(request.param)


def test_widgets_find_the_same(way: str) -> None:
    """Defaults, what a session holds before a widget is drawn, None included, and what a reader chose."""
    test = AppTest.from_string(PAGE)
    test.session_state["empty"] = None
    test.session_state["number"] = 7
    test.run()
    assert not test.exception
    assert [box.value for box in test.selectbox] == ["b", None, "a"]
    assert (test.text_input[0].value, test.number_input[0].value, test.radio[0].value) == ("default", 7, "y")
    test.selectbox[0].select("c")
    test.text_input[0].input("typed").run()
    assert (test.selectbox[0].value, test.text_input[0].value) == ("c", "typed")
    assert [text.value for text in test.text] == ["empty list number one radio text", "6"]


def test_the_same_as_a_dictionary() -> None:
    """Of the keys that a session has and those it has not."""
    session = SessionState()
    session["a"], session["b"] = 1, None
    state = SafeSessionState(session, lambda: None)
    by_key: Mapping[str, object] = lean_reruns.ByKey(state)
    assert dict(by_key) == {"a": 1, "b": None}
    assert (len(by_key), "a" in by_key, "c" in by_key, by_key.get("b", 3), by_key.get("c", 3)) == (2, True, False, None, 3)
    assert repr(by_key) == repr(dict(by_key))
    with pytest.raises(KeyError):
        by_key["c"]
