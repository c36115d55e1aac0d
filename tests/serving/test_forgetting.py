"""Tests of what clicks leave behind: widgets and views that are gone are forgotten, what is on the screen or bound to a link is not."""

import gc
import importlib
from pathlib import Path
from typing import Any

import numpy as np
import opened_pages
import pandas as pd
import pytest
import top_line
from rows import add_run, token_row
from streamlit.runtime.state.common import WidgetMetadata
from streamlit.runtime.state.session_state import SessionState
from streamlit.testing.v1 import AppTest

from benchmarks import component_reports
from board.serving import forgetting

CLICKS = 60
BlockValuesRefs: Any = importlib.import_module("pandas._libs.internals").BlockValuesRefs
"""What pandas notes views in."""
PAGE = """
from functools import partial
import streamlit as st
from board.serving.exports import Exports

st.session_state["clicks"] = st.session_state.get("clicks", 0) + 1
computed = Exports()  # whatever a page computes, of a class that nothing else makes here

def called(what):
    st.session_state["heard"] = (what, computed)

st.selectbox("stays", ["a", "b", "c"], key="stays")
st.text_input("linked", key="linked", bind="query-params")
for at in range(3):
    st.button(f"button {at}", key=f"{st.session_state['clicks']}-{at}", on_click=partial(called, at))
st.checkbox("without a key: " + str(st.session_state["clicks"]))
"""
"""Each run has four widgets that no other run has, and a function of its own that holds what the run has computed."""


@pytest.fixture(params=["forgets", "as Streamlit does"])
def forgets(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> bool:
    """Whether sessions forget; Streamlit's own way is there again after the test."""
    monkeypatch.setattr(SessionState, "_remove_stale_widgets", SessionState._remove_stale_widgets)
    if request.param == "forgets":
        forgetting.begin()
    return bool(request.param == "forgets")


@pytest.fixture
def forgetful(monkeypatch: pytest.MonkeyPatch) -> None:
    """Sessions forget, within the test."""
    monkeypatch.setattr(SessionState, "_remove_stale_widgets", SessionState._remove_stale_widgets)
    forgetting.begin()


def live(name: str) -> int:
    """How many objects there are of a class of that name."""
    gc.collect()
    return sum(type(one).__name__ == name for one in gc.get_objects())


def test_widgets_that_are_gone_are_forgotten(forgets: bool) -> None:
    """With what their page had computed; without forgetting there are as many as there were clicks, which this test would see."""
    test = AppTest.from_string(PAGE).run()
    test.selectbox[0].select("b")
    widgets, computed = live("WidgetMetadata"), live("Exports")
    for _ in range(CLICKS):
        test.button[1].click().run()
        assert not test.exception
        assert test.session_state["heard"][0] == 1  # it was the one on the screen that was heard
    more = live("WidgetMetadata") - widgets, live("Exports") - computed
    if forgets:
        assert more[0] <= 4 * (forgetting.HEARD_RUNS + 1)
        assert more[1] <= forgetting.HEARD_RUNS + 1
    else:
        assert more[0] >= 4 * CLICKS
        assert more[1] >= CLICKS
    assert test.selectbox[0].value == "b"


def test_a_click_on_what_was_just_replaced_is_heard(forgetful: None) -> None:
    """A browser that is behind by so many runs, each of a full page, sends what its reader hit there; what is gone for longer is not known."""
    page = PAGE.replace("range(3)", "range(40)")
    for behind in (1, forgetting.HEARD_RUNS, 2 * forgetting.HEARD_RUNS):
        test = AppTest.from_string(page).run()
        old = test.button[2].proto.id
        for _ in range(behind):
            test.run()
        states = test._tree.get_widget_states()
        states.widgets.add(id=old, trigger_value=True)
        test._run(states)
        assert ("heard" in test.session_state) == (behind <= forgetting.HEARD_RUNS), behind


def test_whatever_a_page_of_the_board_shows_is_heard(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, forgetful: None) -> None:
    """On every page, however many were gone through before it: each choice of a step is taken, and a filter that is refused says why."""
    monkeypatch.setenv("RL_BOARD_ROOT", str(tmp_path))
    rows = [opened_pages.whole_row(step, reward=float(step + at), prompt=f"p{at % 2}") for step in range(5) for at in range(6)]
    add_run(tmp_path, "run", rows)
    for name, test in opened_pages.every_page(run="run", step=4):
        for step in range(5):
            top_line.choose(test, "step", step)
            assert test.query_params["step"] in (str(step), [str(step)]), name
        component_reports.told(test, "filter_bar", "typed", {"condition": "rewrad > 1", "in_place_of": None})
        assert "rewrad" in component_reports.sent(test, "filter_bar")["problem"]["reason"], name


def test_what_is_bound_to_a_link_is_not_forgotten(forgetful: None) -> None:
    """A field that is gone for a while has its text again when it is back, as the link still says it."""
    page = PAGE.replace("st.text_input(", "if st.session_state['clicks'] not in range(3, 40):\n    st.text_input(")
    test = AppTest.from_string(page).run()
    test.text_input[0].input("typed").run()
    for _ in range(30):
        test.run()
        assert not test.text_input
    while not test.text_input:
        test.run()
    assert test.text_input[0].value == "typed"


def test_no_click_is_lost(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, forgetful: None) -> None:
    """Each of many steps to the next, whatever the page has that others had not: the list of steps stays, and so does what hears it."""
    monkeypatch.setenv("RL_BOARD_ROOT", str(tmp_path))
    add_run(tmp_path, "run", [token_row(step, prompt=f"p{at}", reward=float(at)) for step in range(30) for at in range(2)])
    test = opened_pages.opened("responses", run="run", step="0")
    assert [top_line.to_step_after(test).session_state["step"] for _ in range(29)] == [*range(1, 30)]


def test_views_that_are_gone_are_forgotten() -> None:
    """Those that are there are not: what is written to a frame is seen in no view of it, and in no other way round."""
    frame = pd.DataFrame({"a": np.arange(10), "b": np.arange(10.0)})
    for _ in range(200):
        view = frame["a"]
        both = frame[["a", "b"]]
    notes = [block.refs for block in frame._mgr.blocks]
    assert min(len(one.referenced_blocks) for one in notes) > 100
    gc.collect()  # they are no longer young then
    forgetting.tidy_views()
    assert max(len(one.referenced_blocks) for one in notes) < 5
    frame.loc[0, "a"] = 7
    view.iloc[1] = 8
    assert (frame["a"].tolist()[:2], view.tolist()[:2], both["a"].tolist()[:2]) == ([7, 1], [0, 8], [0, 1])


def test_pages_of_the_board_leave_nothing_behind(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, forgetful: None) -> None:
    """Steps, sortings and pages in turn: after twice as many clicks there are no more widgets, notes of views, or pages that have been."""
    monkeypatch.setenv("RL_BOARD_ROOT", str(tmp_path))
    monkeypatch.setattr(forgetting, "TIDY_EVERY", 20)
    add_run(tmp_path, "run", [token_row(step, prompt=f"p{at}", reward=float(at)) for step in range(5) for at in range(8)])
    tests = [opened_pages.opened(page, run="run") for page in ("responses", "tokens", "rewards")]

    def click(times: int) -> tuple[int, int, int]:
        for at in range(times):
            test = tests[at % len(tests)]
            test.query_params["step"] = str(at % 5)
            test.query_params["sort"] = ("reward", "response_length")[at % 2]
            test.run()
            assert not test.exception
        gc.collect()
        found = gc.get_objects()
        notes = sum(len(one.referenced_blocks) for one in found if type(one) is BlockValuesRefs)
        pages = sum(type(one) is dict and str(one.get("__file__", "")).endswith("responses.py") for one in found)
        return sum(type(one) is WidgetMetadata for one in found), notes, pages

    click(60)
    before = click(60)
    after = click(120)
    assert after[0] <= before[0] + 5
    assert after[1] <= before[1] * 1.3
    assert after[2] <= before[2] + 5
