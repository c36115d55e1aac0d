"""Follows a run that is being written: looks at its shards every second and loads what is new. Draws a switch.

The reader's place is kept: a new step is offered, not gone to. Knows no page.
"""

import time
from pathlib import Path
from typing import Final

import streamlit as st

from board import library, session
from board.errors import BoardError
from board.rollouts import Run

LOOK_SECONDS: Final = 1.0

RECENT_SECONDS: Final = 600
"""A run written to within so many seconds is taken to be still running: following is on unless the reader turns it off."""


def follow(run: Run, root: Path) -> None:
    """Draw the switch, and while it is on load what the run's shards gain; while it is off offer to load it."""
    on = st.toggle("Live", value=_is_recent(run), key=f"live_{run.location}", help=_HELP)
    st.fragment(_look, run_every=LOOK_SECONDS if on else None)(run, root, on)


_HELP: Final = (
    "Looks for new rows every second and loads them. On by default while the run was written to in the last ten minutes."
)


def _is_recent(run: Run) -> bool:
    newest = max((modified for _, _, modified in run.fingerprint), default=0) / 1e9
    return abs(time.time() - newest) < RECENT_SECONDS


def _look(run: Run, root: Path, on: bool) -> None:
    try:
        if library.current_fingerprint(run.location, root) == run.fingerprint:
            return
        refresh = session.library().refresh
        if on:
            refresh(run, root)
    except BoardError:  # the folder is gone, or empty: what was loaded stays on the screen
        return
    if on:
        st.rerun()
    st.button("Changed on disk: reload", key="reload", type="primary", on_click=refresh, args=(run, root))
