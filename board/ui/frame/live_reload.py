"""Follows a run that is being written.

Watches its shards, loads or announces new rows, and moves to the newest step. Of a run that lies elsewhere it says what is wrong with its
store, and loads it again when nothing is any more.

Draws two switches. A reader who is at an older step, or wants to stay, keeps the place.
"""

import time
from contextlib import suppress
from pathlib import Path
from typing import Final

import streamlit as st

from board.errors import BoardError
from board.runs import library
from board.runs.run import Run
from board.sources import locations
from board.ui.state import caches, place

LOOK_SECONDS: Final = 1.0

TELL_SECONDS: Final = 4.0
"""Interval while rows are not loaded automatically: a change is announced within five seconds, the check included."""

_LIVE: Final = (
    "Looks for new rows every second and loads them. On by default while the run was written to in the last ten minutes."
)

_FOLLOW: Final = "Moves to the newest step when one arrives. On while you are on the newest step; off, you stay where you are."


def follow(run: Run, shown: Run, root: Path) -> None:
    """Draw the switches, and while Live is on load what the run's shards gain; while it is off offer to load it.

    `shown` is the run with the rollouts alone that the reader chose, whose steps are those there are.
    """
    with st.container(gap="xxsmall", width="content", key="live"):
        on = st.toggle("Live", value=is_recent(run), key=f"live_{run.address}", help=_LIVE, on_change=place.moved)
        if len(shown.steps):
            newest = int(shown.steps[-1])
            follows = place.part("step") == newest != place.remembered("stay")
            # another switch when it is off: what a slow browser still says of the one before is not what the reader wants now
            key = "following" if follows else "staying"
            place.set_widgets(**{key: follows})
            st.toggle("Follow newest step", key=key, help=_FOLLOW, on_change=_switched, args=(key, newest))
    st.fragment(_look, run_every=LOOK_SECONDS if on else TELL_SECONDS)(run, root, on)


def catch_up(run: Run, root: Path) -> None:
    """Load what an open run's shards gained while it was on no screen, for a reader who just opened it: the link may name a new step."""
    if run.reads_on or place.remembered("came_to") == run.address:
        return
    with suppress(BoardError):  # the folder is gone, or empty: what was loaded is shown
        if library.current_fingerprint(run.location, root) != run.fingerprint:
            caches.library().refresh(run, root)


def go_along(shown: Run) -> None:
    """Go to the newest step where the reader was on the one that was newest until now, unless they turned following off there.

    Steps of a run that is still being read come in any order: with them the reader is not moved. To be called before the step is drawn.
    """
    of, newest = f"{shown.address} {shown.splits} {shown.reading is None}", int(shown.steps[-1])
    if shown.reading is not None:
        place.remember(newest=(of, newest))
        return
    was, before = place.remembered("newest") or ("", None)
    if was == of and before != newest and place.part("step") == before != place.remembered("stay"):
        place.go(step=newest)
    place.remember(newest=(of, newest))


def _switched(key: str, newest: int) -> None:
    on = place.widget_value(key)
    if on and key == "staying":
        place.remember(stay=None)
        place.go(step=newest)
    elif not on and key == "following":
        place.remember(stay=newest)


def is_recent(run: Run) -> bool:
    """Whether the run was written to a short while ago, as far as it was read."""
    newest = max((modified for _, _, modified in run.fingerprint), default=0) / 1e9
    return abs(time.time() - newest) < library.LIVE_SECONDS


def _look(run: Run, root: Path, on: bool) -> None:
    try:
        same = library.current_fingerprint(run.location, root) == run.fingerprint
        troubles = locations.troubles(run.location)
        for sentence in troubles:
            st.text(sentence, width="content")
        if same and (troubles or not run.report.elsewhere):  # what could not be read then may be read now
            return
        if not on and not st.button("Changed on disk: reload", key="reload", type="primary"):
            return
        caches.library().refresh(run, root)
    except BoardError:  # the folder is gone, or empty: what was loaded stays on the screen
        return
    place.draw_anew()
