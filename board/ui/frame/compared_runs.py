"""The runs to compare, opened when a page needs them.

Draws lines on how far each is read, and why one cannot be opened. Applies the reader's split and filter to each run; computes nothing.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from board.errors import BoardError
from board.runs import library
from board.runs.library import RunFolder
from board.runs.run import Run
from board.text.counting import plural
from board.ui.frame import filter_bar
from board.ui.frame.live_reload import is_recent
from board.ui.frame.reading_line import LOOK_SECONDS, OpenedAs, opened_as
from board.ui.shared import progress_line
from board.ui.shared.messages import notice
from board.ui.state import caches, place, run_looks
from board.ui.state.run_looks import RunLook, addresses

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
    if any(_goes_on(one.run) for one in unread):
        st.fragment(_follow, run_every=LOOK_SECONDS)(unread)
    else:
        for one in unread:
            st.text(_words(one))
    growing = [run for run in whole if run.reading is None and is_recent(run)]
    if growing:
        st.fragment(_watch, run_every=WATCH_SECONDS)(growing, root)


def _goes_on(run: Run | None) -> bool:
    return bool(run and run.reading and not run.reading.stopped)


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


@dataclass(frozen=True)
class ComparedSide(RunLook):
    """An open run of those compared."""

    run: Run
    """What pages show of it: the reader's split if it has that, and what the filter leaves if the filter fits it."""
    whole: Run
    """All its rollouts."""


def begin(lines: DeltaGenerator | None) -> None:
    """To be called when the top line is drawn, in every run of the script. `lines` holds the notes on runs, None without any."""
    place.remember(compared_runs=None, compared_notes=lines)


def chosen() -> list[ComparedSide]:
    """The open runs to compare, the page's own first.

    That one alone where there is no other, or none could be opened yet. Opened once in a run of the script, with progress on the screen.
    A run that is being read has `run.reading`. To be called below the top line.
    """
    made: list[ComparedSide] | None = place.remembered("compared_runs")
    if made is None:
        made = _opened()
        place.remember(compared_runs=made)
    return made


def _opened() -> list[ComparedSide]:
    view, root = place.view(), caches.root()
    folders = {folder.name: folder for folder in caches.run_folders(root)}
    looks = run_looks.looks([*folders.values()], root)
    own, *others = addresses()
    sides = [_side(looks[own], view.run, view.whole_unfiltered)]
    if not others:
        return sides
    read: list[Run] = []
    unread: list[Unread] = []
    for look in (looks[name] for name in others if name in looks):
        with place.remembered("compared_notes"):
            busy = any(map(_goes_on, [view.run, *(one.run for one in unread)]))
            opened, run = _open(look, folders[look.address], root, busy=busy)
            if run is not None:
                read.append(run)
                sides += [_side(look, *both) for both in _as_shown(run, look.name)]
            if opened is not None and (run is None or run.reading):
                unread.append(Unread(look.name, opened, run))
    with place.remembered("compared_notes"):
        draw(unread, read, root)
    return sides


def _side(look: RunLook, run: Run, whole: Run) -> ComparedSide:
    return ComparedSide(look.address, look.name, look.color, look.tags, run, whole)


def _open(look: RunLook, folder: RunFolder, root: Path, *, busy: bool) -> tuple[OpenedAs | None, Run | None]:
    """How the run is opened, and the run as far as it is read, None while others are read. Two None and a notice if it cannot be opened."""
    slot = st.empty()
    try:
        opened = opened_as(folder, root)
        if busy and caches.library().peek(opened.location, opened.pads, folder.family) is None:
            return opened, None
        run = caches.library().open(opened.location, root, opened.pads, progress_line.of_load(slot, look.name), folder.family)
    except BoardError as error:
        notice(f"{look.name} cannot be compared: {error}", "warning")
        return None, None
    slot.empty()
    return opened, run


def _as_shown(run: Run, name: str) -> Iterator[tuple[Run, Run]]:
    """What pages show of the run, and all of it; nothing, and a notice, if it has no rollout to show."""
    whole = caches.measured(run)
    shown_of_it = _filtered(_split(whole, name), name)
    if len(shown_of_it.frame):
        yield shown_of_it, whole
    elif run.reading is None:
        why = "the filter leaves no rollout of it" if len(whole.frame) else "it has no rollout"
        notice(f"{name} cannot be compared: {why}.")


def _split(run: Run, name: str) -> Run:
    """The rollouts of the split that the reader sees; if the run lacks it, of its first split, with a notice."""
    reader_split = next(iter(place.view().unfiltered.splits), "train")
    if not run.splits:
        return run
    split = reader_split if reader_split in run.splits else run.splits[0]
    if split != reader_split:
        notice(f"{name} has no rollout of split {reader_split}: those of split {split} are shown.")
    return caches.cached("split", lambda: run.of_split(split), run, split)


def _filtered(run: Run, name: str) -> Run:
    try:
        return filter_bar.filtered(run, place.part("filter"))
    except BoardError as error:
        notice(f"The filter does not fit {name}, all of it is shown: {error}")
        return run
