"""The reader's views of the table of rollouts: chosen, saved, renamed, deleted.

A view is a set of choices: it puts them into the widgets that hold them, and there they may be changed.
"""

from collections.abc import Container
from typing import Final

import streamlit as st

from board.errors import BoardError
from board.settings import saved
from board.settings.json_settings import LONGEST_NAME, by_name
from board.settings.saved import NARROWEST, WIDEST, TableView
from board.ui.shared.list_order import ASCENDING, DESCENDING
from board.ui.shared.messages import notice
from board.ui.state import linked, place

WIDTH: Final = 260
"""Of columns of text, unless the reader says otherwise: pixels."""

_KEY: Final = "view"


def open_linked(there: Container[str]) -> None:
    """Put the view that a link names into the widgets, but for what the link says by itself; once. To be called before they are drawn.

    `there` are the columns that this run has: of a view the others are left out.
    """
    name = linked.value(_KEY)
    if name == (place.remembered("opened_view") or ""):
        return
    place.remember(opened_view=name, no_view=None)
    chosen = _load()[0].get(name)
    if chosen is not None:
        before = place.part("filter")
        _put(chosen, there, keep=place.in_link())
        if place.part("filter") != before:  # which the top line has taken into account already
            st.rerun()
    elif name:
        place.remember(no_view=name)
        linked.put(**{_KEY: None})


def choice(there: Container[str]) -> None:
    """Draw the list of views, where there are any; `there` as in `open_linked`."""
    saved, _ = _load()
    if saved:
        st.selectbox(
            "View",
            **linked.choice(_KEY, ["", *saved], label=lambda name: name or "none", then=lambda: _choose(there)),
            width=150,
        )


def problems() -> None:
    """Say which view does not exist, which could not be saved, and why none can be read."""
    if lacking := place.remembered("no_view"):
        notice(f"No view of the table is saved here under the name {lacking!r}.", "warning")
    if problem := place.remembered("view_problem"):
        notice(problem, "error")
    if wrong := _load()[1]:
        notice(wrong, "warning")


def width_choice() -> int:
    """Draw the choice of how wide columns of text are, and return it."""
    return int(
        st.number_input("Width of texts, in pixels", **linked.number("text_width", WIDTH, NARROWEST, WIDEST), step=20, width=420)
    )


def editor(columns: tuple[str, ...]) -> None:
    """Draw the name under which the table as it is, with these columns, can be saved, and what can be done with the chosen view."""
    chosen = place.widget_text(_KEY)
    st.text_input(
        "Name of this view", key="view_name", max_chars=LONGEST_NAME, persist_state="session", width=420, on_change=place.moved
    )
    with st.container(horizontal=True, gap="small"):
        st.button("Save view", key="view_save", on_click=_save, args=(columns,))
        st.button("Rename", key="view_rename", disabled=not chosen, on_click=_rename)
        st.button("Delete", key="view_delete", disabled=not chosen, on_click=_delete)


def _load() -> tuple[dict[str, TableView], str]:
    """The views there are, and why they cannot be read; "" where they can."""
    try:
        return by_name(saved.VIEWS.read()), ""
    except BoardError as error:
        return {}, str(error)


def _put(view: TableView, there: Container[str], keep: Container[str] = ()) -> None:
    """Set the widgets, but for those in `keep`, to what a view holds and this run has."""
    columns, sort = [name for name in view.columns if name in there], view.sort if view.sort in there else ""
    held = {"columns": columns, "sort": sort, "order": view.order, "text": view.text, "text_width": view.width}
    linked.put(**{name: None if value == "" else value for name, value in held.items() if name not in keep})
    place.set_widgets(view_name=view.name)
    if "filter" not in keep:
        place.go(filter=view.condition or None)


def _choose(there: Container[str]) -> None:
    name = place.widget_text(_KEY)
    place.remember(opened_view=name, no_view=None, view_problem=None)
    chosen = _load()[0].get(name)
    if chosen is not None:
        _put(chosen, there)


def _shown(columns: tuple[str, ...]) -> TableView:
    """The table as it is, under the name that was typed."""
    return TableView(
        name=place.widget_text("view_name"),
        columns=columns,
        sort=place.widget_text("sort"),
        order=ASCENDING if place.widget_text("order") == ASCENDING else DESCENDING,
        text=place.widget_text("text"),
        condition=str(place.part("filter") or ""),
        width=int(place.widget_value("text_width") or WIDTH),
    )


def _save(columns: tuple[str, ...]) -> None:
    try:
        view = _shown(columns)
        _chosen(saved.save_view(view, view.name))
    except BoardError as error:
        place.remember(view_problem=str(error))


def _rename() -> None:
    held = _load()[0].get(place.widget_text(_KEY))
    try:
        if held is not None:
            _chosen(saved.save_view(held, place.widget_text("view_name")))
    except BoardError as error:
        place.remember(view_problem=str(error))


def _delete() -> None:
    """The table stays as it is, so that it can be saved again."""
    try:
        saved.VIEWS.put(place.widget_text(_KEY), None)
        _chosen("")
    except BoardError as error:
        place.remember(view_problem=str(error))


def _chosen(name: str) -> None:
    """The table shows that view already."""
    linked.put(**{_KEY: name or None})
    if name:
        place.set_widgets(view_name=name)
    place.remember(opened_view=name, no_view=None, view_problem=None)
