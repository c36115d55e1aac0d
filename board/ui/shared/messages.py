"""Sentences on the screen that may quote a run: drawn as plain text, never as Markdown.

Streamlit's own alerts render Markdown and fetch images named in it, so a file name or a key from a run must not reach them.
"""

from collections.abc import Iterable
from typing import Final, Literal

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

Kind = Literal["note", "warning", "error"]

COLORS: Final[dict[Kind, Literal["gray", "orange", "red"]]] = {"note": "gray", "warning": "orange", "error": "red"}


def in_line(key: str | None = None, *, border: bool = False) -> DeltaGenerator:
    """A row of elements, one next to the other."""
    return st.container(horizontal=True, vertical_alignment="center", gap="small", key=key, border=border)


def notice(message: str, kind: Kind = "note") -> None:
    """One sentence for the reader, letter for letter, with its kind as a badge."""
    with in_line(border=True):
        st.badge(kind, color=COLORS[kind])
        st.text(message)


def absent(what: str, *fields: str, of: Literal["run", "rollout"] = "run") -> None:
    """The one line that stands where a panel would be whose fields the run, or the rollout that is shown, lacks."""
    panel = f"{what} This" if what.endswith("?") else what
    st.text(f"{panel} needs {' and '.join(fields)}, which this {of} does not have.")


def unfilled(panels: Iterable[str]) -> None:
    """One quiet line at the end of a page on the panels that the run cannot fill, each as "title: what it needs"; nothing without any."""
    if sentences := " · ".join(panels):
        with st.container(key="unfilled"):
            st.text(f"Not drawn: {sentences}")
