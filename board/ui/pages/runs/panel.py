"""The chosen run next to the list: its facts, a link into it, the reader's note.

Draws, and saves the note.
"""

from collections.abc import Mapping
from typing import Any

import streamlit as st

from board.analysis.compare.run_list import ListedRun, written
from board.errors import BoardError
from board.figures.theme import RUN_COLORS
from board.settings import run_choices
from board.settings.run_choices import COLOURS, LONGEST_NOTE, LONGEST_TITLE
from board.text.counting import plural
from board.text.format_number import fmt, size
from board.ui.shared.messages import notice
from board.ui.state import place

NO_COLOUR = "none"


def draw(one: ListedRun, root: str, metric: str) -> None:
    """The run, as the list knows it."""
    with st.container(border=True, key="run_panel"):
        st.text(one.name(root))
        st.text(_facts(one, metric))
        if one.summary.trouble:
            notice(one.summary.trouble, "warning")
        st.page_link(
            "board/ui/pages/rewards/rewards.py", label="Open the run", query_params=place.link(**_way(one)), width="content"
        )
        _said(one)


def _way(one: ListedRun) -> dict[str, str | int]:
    """Where the link leads: to the reader's place in the run, where he has one there."""
    return {} if place.part("step") is not None else one.address


def _facts(one: ListedRun, metric: str) -> str:
    summary, known = one.summary, one.state.summary is not None
    about = "about " if summary.sampled else ""
    steps = "" if summary.last_step is None else f"Steps {about}{summary.first_step:,} to {summary.last_step:,}"
    rollouts = f"{about}{plural(summary.rollouts, 'rollout')}" if summary.rollouts else ""
    value = f"{metric} {about}{fmt(summary.last[metric])} at the end" if metric in summary.last else ""
    files = f"{size(one.folder.bytes)} in {plural(one.folder.shards, 'shard')}"
    sampled = "Estimated: its head, its tail and places between them were read." if summary.sampled else ""
    lines = [
        one.folder.name if one.note.title else "",
        " · ".join(filter(None, [steps, rollouts, value])) if known else "Not read yet.",
        " · ".join(filter(None, [files, one.trainer, written(one)])),
        sampled,
    ]
    return "\n".join(filter(None, lines))


def _said(one: ListedRun) -> None:
    """The reader's note on the run; each run has widgets of its own, which begin with the stored note."""
    note, own = one.note, one.folder.name
    if wrong := place.remembered("run_note_refused"):
        notice(wrong, "error")

    def key(field: str) -> str:
        return f"run_{field} {one.path}"

    def save_field(field: str) -> None:
        _save(one, {field: _stored(field, place.widget_value(key(field)))})

    st.text_input(
        "Name", note.title, max_chars=LONGEST_TITLE, placeholder=own, key=key("title"), on_change=save_field, args=("title",)
    )
    st.multiselect(
        "Tags",
        list(dict.fromkeys([*note.tags, *(place.remembered("run_tags") or ())])),
        default=list(note.tags),
        accept_new_options=True,
        placeholder="Choose or type",
        key=key("tags"),
        on_change=save_field,
        args=("tags",),
    )
    st.text_area("Note", note.note, max_chars=LONGEST_NOTE, height=110, key=key("note"), on_change=save_field, args=("note",))
    with st.container(horizontal=True, vertical_alignment="bottom"):
        st.toggle("Pin", note.pinned, key=key("pinned"), on_change=save_field, args=("pinned",), help="Stands before all others.")
        st.toggle("Hide", note.hidden, key=key("hidden"), on_change=save_field, args=("hidden",), help="Left out of the list.")
        st.selectbox(
            "Colour",
            [NO_COLOUR, *COLOURS],
            index=([*COLOURS].index(note.colour) + 1) if note.colour in RUN_COLORS else 0,
            key=key("colour"),
            on_change=save_field,
            args=("colour",),
            width=120,
        )


def _stored(field: str, value: Any) -> object:
    """A widget's value as the field of the note stores it."""
    if field == "tags":
        return tuple(str(tag).strip() for tag in value or ())
    if field in ("pinned", "hidden"):
        return bool(value)
    return "" if field == "colour" and value == NO_COLOUR else str(value or "")


def _save(one: ListedRun, said: Mapping[str, Any]) -> None:
    place.remember(run_note_refused=None)
    try:
        run_choices.save_note(one.path, **said)
    except BoardError as error:
        place.remember(run_note_refused=str(error))
