"""board.ui.place: how the reader's place moves, apart from any page."""

from typing import Any

import pytest
from streamlit.testing.v1 import AppTest


def moves() -> None:
    """A page of buttons that move the reader."""
    from typing import Any  # the function's body alone is run

    import streamlit as st

    from board.ui import place

    moves: dict[str, dict[str, Any]] = {
        "the same rollout": {"step": 20, "rollout": "a:1"},
        "another rollout": {"step": 20, "rollout": "a:2"},
        "another step": {"step": 21},
        "the same step": {"step": 20},
        "the same token": {"token": 3},
        "another token": {"token": 4},
    }
    for name, where in moves.items():
        st.button(name, key=name, on_click=place.go, kwargs=where)


PLACE: dict[str, Any] = {"step": 20, "rollout": "a:1", "token": 3, "compare": "1,2", "window": "0-9"}

KEPT: dict[str, dict[str, Any]] = {
    "the same rollout": PLACE,
    "another rollout": {"step": 20, "rollout": "a:2"},
    "another step": {"step": 21},
    "the same step": PLACE,
    "the same token": PLACE,
    "another token": {"step": 20, "rollout": "a:1", "token": 4, "window": "0-9"},
}


@pytest.mark.parametrize(("button", "place"), KEPT.items(), ids=KEPT)
def test_what_a_move_forgets(button: str, place: dict[str, Any]) -> None:
    """What depends on the old place goes with it; a move to where the reader is takes nothing, as tables report their marked row again."""
    page = AppTest.from_function(moves, default_timeout=60)
    for name, value in PLACE.items():
        page.session_state[name] = value

    page.run().button(key=button).click().run()

    assert {name: page.session_state[name] for name in PLACE if name in page.session_state} == place


def page_changes() -> None:
    """A page that takes over what the URL asks for, and keeps its place there."""
    from board.ui import place  # the function's body alone is run

    place.adopt()
    place.write()


LOST: dict[str, tuple[dict[str, Any], dict[str, Any]]] = {
    "run and step": ({}, {"run": "b", "step": 20}),
    "the run": ({"step": 20}, {"run": "b", "step": 20}),
    "the step": ({"run": "b"}, {"run": "b", "step": 20}),
    "the step of another run": ({"run": "a"}, {"run": "a"}),
    "nothing": ({"run": "a", "step": 3}, {"run": "a", "step": 3}),
}
"""What the session still holds of run b at step 20, and what it is taken for."""


@pytest.mark.parametrize(("held", "place"), LOST.values(), ids=LOST)
def test_run_and_step_outlive_their_widgets(held: dict[str, Any], place: dict[str, Any]) -> None:
    """Streamlit forgets widgets that had not reached the browser when the page changes; a reader who took another run forgot the step."""
    page = AppTest.from_function(page_changes, default_timeout=60)
    page.query_params["run"], page.query_params["step"] = "b", "20"
    page.run()
    for name in ("run", "step"):
        del page.session_state[name]
    for name, value in held.items():
        page.session_state[name] = value

    page.run()

    assert {name: page.session_state[name] for name in ("run", "step") if name in page.session_state} == place


def lists_report() -> None:
    """A page whose list of steps tells what it holds, as it does when the reader has chosen there, or late by itself."""
    import numpy as np  # the function's body alone is run
    import streamlit as st

    from board.ui import place

    steps = np.array([20, 21])
    st.button("arrive", on_click=place.go, kwargs={"step": 20, "rollout": "a:1", "mark": "response:1-2"})
    st.button("tell", on_click=place.step_chosen, args=(steps,))


TOLD: dict[str, tuple[int, set[str]]] = {
    "the step the reader is at": (20, {"rollout", "mark"}),
    "another": (21, set()),
}


@pytest.mark.parametrize(("step", "kept"), TOLD.values(), ids=TOLD)
def test_a_list_that_tells_late_moves_nobody(step: int, kept: set[str]) -> None:
    """A list that reaches the browser after a change of page says its step again: rollout and mark stay, unless the step is another."""
    page = AppTest.from_function(lists_report, default_timeout=60).run()
    page.button[0].click().run()
    page.session_state["step"] = step

    page.button[1].click().run()

    assert {name for name in ("rollout", "mark") if name in page.session_state} == kept
    assert page.session_state["step"] == step
