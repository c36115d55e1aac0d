"""board.ui.state.linked: a widget shows what the link says, the link says what a reader chose, and what no widget offers is the default."""

import ast
from pathlib import Path
from typing import Any

import pytest
from streamlit.testing.v1 import AppTest


def page() -> None:
    """A widget of each kind, and buttons that set and unset one from outside."""
    import streamlit as st

    from board.ui.state import linked

    st.toggle("Flag", **linked.flag("flag", True))
    st.text_input("Text", **linked.text("text"))
    st.number_input("Whole", **linked.number("whole", 5, 1, 9))
    st.slider("Share", **linked.number("share", 0.5, 0.0, 1.0), step=0.05)
    st.number_input("Open", **linked.number("open", None), value=None)
    st.selectbox("One", **linked.choice("one", ["a", "b"], label=str.upper))
    st.multiselect("Some", **linked.choices("some", ["x", "y", "z"], ["x"]))
    st.pagination(4, **linked.page("page", 4))
    st.button("put", on_click=linked.put, kwargs={"one": "b", "page": 3, "some": []})
    st.button("back", on_click=linked.put, kwargs={"one": None, "page": None, "some": None})


DEFAULTS: dict[str, Any] = {
    "flag": True,
    "text": "",
    "whole": 5,
    "share": 0.5,
    "open": None,
    "one": "a",
    "some": ["x"],
    "page": 1,
}

LINKS: dict[str, tuple[str, str | list[str], Any]] = {
    "a flag": ("flag", "false", False),
    "no flag": ("flag", "yes", True),
    "a text": ("text", "<b>&=é", "<b>&=é"),
    "a whole number": ("whole", "7", 7),
    "one outside": ("whole", "10", 5),
    "a fraction for a whole number": ("whole", "7.5", 5),
    "digits without end": ("whole", "9" * 400, 5),
    "a share": ("share", "0.25", 0.25),
    "no number": ("share", "nan", 0.5),
    "any number": ("open", "-1e3", -1000.0),
    "an infinite one": ("open", "1e999", None),
    "an option": ("one", "b", "b"),
    "an option as links of before call it": ("one", "B", "b"),
    "none of the options": ("one", "c", "a"),
    "some options": ("some", ["z", "x", "w", "z"], ["z", "x"]),
    "none of several": ("some", "", []),
    "a page": ("page", "4", 4),
    "a page beyond the last": ("page", "5", 1),
    "page nought": ("page", "0", 1),
}


@pytest.mark.parametrize(("key", "said", "shown"), LINKS.values(), ids=LINKS)
def test_what_a_link_says_is_shown(key: str, said: str | list[str], shown: Any) -> None:
    """What the widget does not offer is the default; nothing else changes, and nothing is said of it on the page."""
    test = AppTest.from_function(page)
    test.query_params[key] = said

    test.run()

    assert not test.exception
    assert not test.warning
    assert {name: test.session_state[name] for name in DEFAULTS} == DEFAULTS | {key: shown}


def test_what_a_reader_chooses_is_in_the_link_and_a_default_is_not() -> None:
    """Each change by itself, and back."""
    test = AppTest.from_function(page).run()
    assert not dict(test.query_params)

    test.toggle[0].set_value(False).run()
    test.text_input[0].set_value("a b").run()
    test.number_input(key="whole").set_value(9).run()
    test.number_input(key="open").set_value(2.0).run()
    test.slider[0].set_value(0.75).run()
    test.selectbox[0].set_value("b").run()
    test.multiselect[0].set_value(["y", "x"]).run()
    assert dict(test.query_params) == {
        "flag": "false",
        "text": "a b",
        "whole": "9",
        "open": "2",
        "share": "0.75",
        "one": "b",
        "some": ["y", "x"],
    }

    test.toggle[0].set_value(True).run()
    test.text_input[0].set_value("").run()
    test.number_input(key="whole").set_value(5).run()
    test.number_input(key="open").set_value(None).run()
    test.slider[0].set_value(0.5).run()
    test.selectbox[0].set_value("a").run()
    test.multiselect[0].set_value(["x"]).run()
    assert not dict(test.query_params)


def test_the_url_wins() -> None:
    """Back to a link of before is shown, whatever the session held."""
    test = AppTest.from_function(page).run()
    test.selectbox[0].set_value("b").run()

    test.query_params.clear()
    test.run()

    assert test.selectbox[0].value == "a"


def test_widgets_are_set_from_outside() -> None:
    """Several at once, and back to their defaults."""
    test = AppTest.from_function(page).run()

    test.button[0].click().run()
    assert (test.session_state["one"], test.session_state["page"], test.session_state["some"]) == ("b", 3, [])
    test.button[1].click().run()
    assert (test.session_state["one"], test.session_state["page"], test.session_state["some"]) == ("a", 1, ["x"])
    assert not dict(test.query_params)


DRAWN_BY_THEMSELVES = {
    "export_format": "a part of the page that is drawn by itself, which reads no link",
    "export_arrays": "the same",
    "export_choices": "the same",
    "reload": "the same",
    "sql_query": "a field of a form, whose buttons say it",
    "sql_name": "the same",
}
"""Key of a widget → why a click on it need not say that the browser's URL may be old."""

WIDGETS = {
    "button",
    "checkbox",
    "form_submit_button",
    "multiselect",
    "number_input",
    "pagination",
    "pills",
    "radio",
    "segmented_control",
    "select_slider",
    "selectbox",
    "slider",
    "text_area",
    "text_input",
    "toggle",
}


def test_every_widget_says_that_the_browsers_url_may_be_old() -> None:
    """By a callback of its own or that of `linked`: else the URL of a slow browser would take the reader back to where he was."""
    silent = set()
    for path in sorted((Path(__file__).parents[2] / "board" / "ui").rglob("*.py")):
        for call in (node for node in ast.walk(ast.parse(path.read_text())) if isinstance(node, ast.Call)):
            given = {keyword.arg: keyword.value for keyword in call.keywords}
            waits = any(ast.unparse(value) == "'rerun'" for value in given.values())
            if waits or (is_widget(call) and not given.keys() & {None, "on_change", "on_click"}):
                silent.add(ast.unparse(given.get("key", call)).strip("'"))
    assert silent == DRAWN_BY_THEMSELVES.keys()


def is_widget(call: ast.Call) -> bool:
    """`st.toggle("Live")`, not `pins.toggle(name)`."""
    label = call.args[0] if call.args else None
    is_named = isinstance(label, ast.Constant | ast.JoinedStr) or bool(call.keywords)
    return isinstance(call.func, ast.Attribute) and call.func.attr in WIDGETS and is_named
