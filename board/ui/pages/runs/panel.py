"""The chosen run next to the list: its facts, a link into it, the reader's note, and the settings in the files next to it, searchable.

Draws, and saves the note.
"""

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

import pandas as pd
import streamlit as st

from board.analysis.compare import run_settings
from board.analysis.compare.run_list import ListedRun, written
from board.errors import BoardError
from board.figures.theme import RUN_COLORS
from board.settings import run_choices
from board.settings.run_choices import COLOURS, LONGEST_NOTE, LONGEST_TITLE
from board.text.counting import plural
from board.text.format_number import fmt, size
from board.ui.components import table
from board.ui.components.table import TableColumn
from board.ui.shared.messages import notice
from board.ui.shared.setting_texts import as_text, matches
from board.ui.state import caches, linked, place

NO_COLOUR = "none"

MOST_SETTINGS: Final = 2_000
"""So many settings are listed; the search looks at all of them."""

_MOST_HEIGHT: Final = 420
_COLUMNS: Final = {"setting": TableColumn(width=220, pinned=True)}


def draw(one: ListedRun, root: str, metric: str, location: Path) -> None:
    """The run in that folder, as the list knows it."""
    with st.container(border=True, key="run_panel"):
        st.text(one.name(root))
        st.text(_facts(one, metric))
        if one.summary.trouble:
            notice(one.summary.trouble, "warning")
        st.page_link(
            "board/ui/pages/rewards/rewards.py", label="Open the run", query_params=place.link(**_way(one)), width="content"
        )
        _said(one)
    _settings(location)


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


def _settings(location: Path) -> None:
    """The settings of the run in that folder: from which files, and each by its dotted name; one line where there is none."""
    files = caches.settings_of(location)
    settings = run_settings.together(files)
    with st.container(border=True, key="settings_panel"):
        if not files:
            st.text("No settings next to this run: config.yaml, args.json, .hydra, W&B's, ...")
            return
        read = [file.name for file in files if not file.refused]
        st.text(f"{plural(len(settings), 'setting')} from {', '.join(read)}" if read else "None of its settings could be read.")
        for file in files:
            if file.refused:
                st.text(f"{file.name} {file.refused}.")
        if settings:
            _listed(settings)


def _listed(settings: dict[str, object]) -> None:
    query = st.text_input("Text in names and values", **linked.text("run_settings_text"), type="search") or ""
    left = {name: value for name, value in settings.items() if matches(query, name, value)}
    if len(left) < len(settings) or len(left) > MOST_SETTINGS:
        st.text(
            f"{len(left):,} of {len(settings):,}" + (f", the first {MOST_SETTINGS:,} listed" if len(left) > MOST_SETTINGS else "")
        )
    if not left:
        return
    shown = dict(list(left.items())[:MOST_SETTINGS])
    frame = pd.DataFrame({"setting": list(shown), "value": [as_text(value) for value in shown.values()]})
    table.show(frame, _COLUMNS, name="settings", key="run_settings", height=_MOST_HEIGHT)
