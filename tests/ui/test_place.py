"""board.ui.state.place: how the reader's place moves, apart from any page."""

import time
from typing import Any

import pytest
from streamlit.testing.v1 import AppTest


def moves() -> None:
    """A page of buttons that move the reader."""
    from typing import Any  # the function's body alone is run

    import streamlit as st

    from board.ui.state import place

    moves: dict[str, dict[str, Any]] = {
        "the same rollout": {"step": 20, "rollout": "a:1"},
        "another rollout": {"step": 20, "rollout": "a:2"},
        "another step": {"step": 21},
        "the same step": {"step": 20},
        "the same token": {"token": 3},
        "another token": {"token": 4},
        "another run": {"run": "other"},
    }
    for name, where in moves.items():
        st.button(name, key=name, on_click=place.go, kwargs=where)


PLACE: dict[str, Any] = {"step": 20, "rollout": "a:1", "token": 3, "compare": "1,2", "window": "0-9", "right_from": "0.5"}

KEPT: dict[str, dict[str, Any]] = {
    "the same rollout": PLACE,
    "another rollout": {"step": 20, "rollout": "a:2", "right_from": "0.5"},
    "another step": {"step": 21, "right_from": "0.5"},
    "the same step": PLACE,
    "the same token": PLACE,
    "another token": {"step": 20, "rollout": "a:1", "token": 4, "window": "0-9", "right_from": "0.5"},
    "another run": {},
}


@pytest.mark.parametrize(("button", "place"), KEPT.items(), ids=KEPT)
def test_what_a_move_forgets(button: str, place: dict[str, Any]) -> None:
    """What depends on the old place goes with it; a move to where the reader is takes nothing, as tables report their marked row again."""
    page = AppTest.from_function(moves, default_timeout=60)
    for name, value in PLACE.items():
        page.session_state[name] = value

    page.run().button(key=button).click().run()

    assert {name: page.session_state[name] for name in PLACE if name in page.session_state} == place


def looks() -> None:
    """A page with a part that asks for a run of the script, a while after the browser asked for that part."""
    import time  # the function's body alone is run

    import streamlit as st

    from board.ui.state import place

    if st.session_state.pop("look", False):
        time.sleep(0.8)  # longer than a URL counts as late
        place.draw_anew()
    place.adopt()
    st.button("on", key="on", on_click=place.go, kwargs={"step": 2})
    place.write()
    place.settle()


def test_a_part_that_was_asked_for_before_a_click() -> None:
    """It comes with the URL of before the click, however late: that is no reader who goes back. One who does is heard."""
    page = AppTest.from_function(looks, default_timeout=60)
    page.query_params["step"] = "1"
    page.run().button(key="on").click().run()
    page.query_params["step"] = "1"
    page.session_state["look"] = True
    page.run()
    assert (page.session_state["step"], page.query_params["step"]) == (2, "2")

    page.query_params["step"] = "1"
    time.sleep(0.8)
    page.run()
    assert page.session_state["step"] == 1
