"""The line that says how far a run is read: with a bar, Stop and Go on.

Draws anew what is shown when more of the run is there; nothing of the reader's place moves.
"""

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

import streamlit as st

from board.runs import library
from board.runs.library import RunFolder
from board.runs.loading.prefetcher import ReadPriority
from board.runs.opening import read_as
from board.runs.progress import Progress, Reading
from board.runs.run import Run
from board.sources import locations
from board.text.counting import plural
from board.text.format_number import size
from board.ui.shared.messages import in_line, notice
from board.ui.state import caches, link_checks, place

LOOK_SECONDS: Final = 1.0


@dataclass(frozen=True)
class OpenedAs:
    """What a reader opened: names the run in the library."""

    location: Path
    root: Path
    pads: tuple[str, ...]
    family: str


def opened_as(folder: RunFolder, root: Path) -> OpenedAs:
    """How a run is opened, with the pads that are set for it. Raises BoardError."""
    location = library.resolve(root, folder.folder)
    return OpenedAs(location, root, read_as(location).pads, folder.family)


def draw(run: Run, opened: OpenedAs) -> None:
    """The line, while the run is not whole. To be called where the line stands."""
    if run.reading is None:
        return
    if run.reading.trouble:
        notice(run.reading.trouble, "error")
    if run.reading.stopped and caches.library().load(opened.location, opened.pads, opened.family) is None:
        with in_line("reading"):
            _words(run.reading, remote=bool(locations.address_of(run.location)))
            if run.reads_on:
                st.button("Go on", key="go_on", type="tertiary", on_click=_go_on, args=(opened,))
    else:
        # one that was stopped and goes on again is the stopped one until there is more of it
        st.fragment(_follow, run_every=LOOK_SECONDS)(run, replace(run.reading, stopped=False), opened)


def priority() -> ReadPriority:
    """What to read first: the step or rollout the reader looks at, or waits for."""
    step, rollout = place.part("step"), link_checks.awaited_rollout() or place.part("rollout")
    return ReadPriority(step if isinstance(step, int) else None, str(rollout or ""))


def _follow(run: Run, reading: Reading, opened: OpenedAs) -> None:
    """Say how far it is now, and have the page drawn anew once there is more."""
    library, key = caches.library(), (opened.location, opened.pads, opened.family)
    load = library.load(*key)
    if load:
        load.watch()
        load.prefer(priority())
    newest = library.peek(*key)
    if newest is not None and newest is not run:
        place.draw_anew()
    with in_line("reading"):
        _words(reading, load.progress if load else None, remote=bool(locations.address_of(run.location)))
        st.button("Stop", key="stop_reading", type="tertiary", on_click=_stop, args=(opened,))


def _words(reading: Reading, progress: Progress | None = None, *, remote: bool) -> None:
    now = progress or reading.progress
    if not reading.command:
        st.progress(now.share, width=120)
    larger = f". `{reading.command}` makes all of it readable." if reading.command else ""
    shown = plural(reading.rows, "rollout")
    rate = f" · {size(now.rate)}/s" if remote and now.rate and not reading.stopped else ""
    st.text(f"{reading.words(progress)}{rate} · curves, counts and checks are of {shown}{larger}", width="content")


def _stop(opened: OpenedAs) -> None:
    caches.library().stop(opened.location, opened.pads, opened.family)


def _go_on(opened: OpenedAs) -> None:
    caches.library().go_on(opened.location, opened.root, opened.pads, opened.family)
