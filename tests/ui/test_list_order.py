"""board.ui.shared.list_order: both controls and a click on a head say the same, and the link names it."""

from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

from board.ui.shared.list_order import ListOrder


def page() -> None:
    """A list with two orders, and a head to click on for each."""
    import streamlit as st

    from board.ui.shared import list_order

    now = list_order.choice("cats_", "Order cats by", ["name", "age"], usual="age", heading=str.upper)
    for column in ("name", "age"):
        st.button(column, on_click=list_order.turn, args=("cats_", column, now))
    st.session_state["now"] = now


@pytest.fixture
def app() -> AppTest:
    """The page, drawn once."""
    return AppTest.from_function(page).run()


def told(app: AppTest) -> tuple[ListOrder, dict[str, Any]]:
    """What the list is ordered by, and what the link says."""
    return app.session_state["now"], dict(app.query_params)


def test_the_usual_order_is_not_in_the_link(app: AppTest) -> None:
    """It is by what is named, the first way first."""
    assert app.selectbox(key="cats_sort").options == ["NAME", "AGE"]
    assert told(app) == (ListOrder("age", True), {})


def test_a_click_on_a_head_orders_and_a_second_turns(app: AppTest) -> None:
    """The largest first, then the smallest, then the largest; another head begins with the largest."""
    found = [told(app.button[at].click().run()) for at in (0, 0, 0, 1, 1)]

    assert [order for order, _ in found] == [
        ListOrder("name", True),
        ListOrder("name", False),
        ListOrder("name", True),
        ListOrder("age", True),
        ListOrder("age", False),
    ]
    assert found[1][1] == {"cats_sort": "name", "cats_order": "ascending"}


def test_the_controls_say_what_a_head_did(app: AppTest) -> None:
    """And the head turns what they say."""
    app.button[0].click().run()
    assert app.selectbox(key="cats_sort").value == "name"

    app.selectbox(key="cats_sort").set_value("age").run()
    assert told(app)[0] == ListOrder("age", True)
    app.button[1].click().run()
    assert told(app)[0] == ListOrder("age", False)
