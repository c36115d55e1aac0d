"""Says how far the runs beside the page's own are read, one after the other, and sees that the page is drawn anew when there is more of one.

Knows neither what is shown of them nor how they were chosen.
"""

import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import streamlit as st

from board.errors import BoardError
from board.runs import library
from board.runs.run import Run
from board.text.counting import plural
from board.ui import caches, place
from board.ui.live_reload import RECENT_SECONDS
from board.ui.reading_line import LOOK_SECONDS, OpenedAs

WATCH_SECONDS: Final = 5.0
"""So often it is looked whether a run that is being written has grown."""


@dataclass(frozen=True)
class Unread:
    """A run that is not read whole."""

    name: str
    opened: OpenedAs
    run: Run | None
    """As far as it is read; None where it waits for its turn."""


def draw(unread: Sequence[Unread], whole: Sequence[Run], root: Path) -> None:
    """A line for each that is not read whole; those that are, and may be training still, are watched."""
    if any(_goes_on(one) for one in unread):
        st.fragment(_follow, run_every=LOOK_SECONDS)(unread)
    else:
        for one in unread:
            st.text(_words(one))
    growing = [run for run in whole if run.reading is None and _is_recent(run)]
    if growing:
        st.fragment(_watch, run_every=WATCH_SECONDS)(growing, root)


def _goes_on(one: Unread) -> bool:
    return one.run is not None and one.run.reading is not None and not one.run.reading.stopped


def _follow(unread: Sequence[Unread]) -> None:
    shared = caches.library()
    for one in unread:
        key = (one.opened.location, one.opened.pads, one.opened.family)
        if load := shared.load(*key):
            load.watch()
        newest = shared.peek(*key)
        if newest is not None and newest is not one.run:
            place.draw_anew()
        st.text(_words(one))


def _words(one: Unread) -> str:
    if one.run is None:
        return f"{one.name} waits until the others are read."
    reading = one.run.reading
    if reading is None:
        return ""
    load = caches.library().load(one.opened.location, one.opened.pads, one.opened.family)
    if reading.trouble:
        return f"{one.name}: {reading.trouble}"
    far = reading.words(load.progress if load else None)
    return f"{one.name}: {far} · its numbers are of {plural(reading.rows, 'rollout')}"


def _is_recent(run: Run) -> bool:
    newest = max((modified for _, _, modified in run.fingerprint), default=0) / 1e9
    return abs(time.time() - newest) < RECENT_SECONDS


def _watch(runs: Sequence[Run], root: Path) -> None:
    """Load what these runs have gained, and draw the page anew with it."""
    for run in runs:
        try:
            if library.current_fingerprint(run.location, root) == run.fingerprint:
                continue
            caches.library().refresh(run, root)
        except BoardError:  # the folder is gone, or empty: what was loaded stays on the screen
            continue
        place.draw_anew()
