"""The runs that are laid side by side, opened when a page asks for them. Says how far they are read; what cannot be
opened is told, the others are there.

Knows how a run is opened and which of its rollouts the reader wants to see; computes nothing of them.
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
from board.ui.state.run_looks import RunLook, names

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
    growing = [run for run in whole if run.reading is None and is_recent(run)]
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


__all__ = ["BesideRun", "RunLook", "begin", "chosen", "names"]


@dataclass(frozen=True)
class BesideRun(RunLook):
    """One of the runs, open."""

    run: Run
    """What pages show of it: the reader's split where it has that, and what the filter leaves where it can be asked."""
    whole: Run
    """All its rollouts."""


def begin(lines: DeltaGenerator | None) -> None:
    """To be called when the top line is drawn, in every run of the script; what is to be told of runs stands in `lines`, None without any."""
    place.remember(beside_runs=None, beside_lines=lines)


def chosen() -> list[BesideRun]:
    """The runs that are laid side by side, the one of the place first; that one alone where none is, or none could be opened yet.

    Opened once in a run of the script, with progress on the screen. One that is being read has `run.reading`. To be called below the top line.
    """
    made: list[BesideRun] | None = place.remembered("beside_runs")
    if made is None:
        made = _opened()
        place.remember(beside_runs=made)
    return made


def _opened() -> list[BesideRun]:
    view, root = place.view(), caches.root()
    folders = {folder.name: folder for folder in caches.run_folders(root)}
    looks = run_looks.looks([*folders.values()], root)
    own, *others = names()
    found = [_beside(looks[own], view.run, view.whole_unfiltered)]
    if not others:
        return found
    read: list[Run] = []
    unread: list[Unread] = []
    for look in (looks[name] for name in others if name in looks):
        with place.remembered("beside_lines"):
            opened, run = _open(look, folders[look.address], root, busy=bool(view.run.reading or unread))
            if run is not None:
                read.append(run)
                found += [_beside(look, *both) for both in _as_shown(run, look.name)]
            if opened is not None and (run is None or run.reading):
                unread.append(Unread(look.name, opened, run))
    with place.remembered("beside_lines"):
        draw(unread, read, root)
    return found


def _beside(look: RunLook, run: Run, whole: Run) -> BesideRun:
    return BesideRun(look.address, look.name, look.color, look.tags, run, whole)


def _open(look: RunLook, folder: RunFolder, root: Path, *, busy: bool) -> tuple[OpenedAs | None, Run | None]:
    """How the run is opened, and as far as it is read, or not yet where others are; neither where it cannot be opened, which is told."""
    slot = st.empty()
    try:
        opened = opened_as(folder, root)
        if busy and caches.library().peek(opened.location, opened.pads, folder.family) is None:
            return opened, None
        run = caches.library().open(opened.location, root, opened.pads, progress_line.of_load(slot, look.name), folder.family)
    except BoardError as error:
        notice(f"{look.name} cannot be laid beside the others: {error}", "warning")
        return None, None
    slot.empty()
    return opened, run


def _as_shown(run: Run, name: str) -> Iterator[tuple[Run, Run]]:
    """What pages show of the run, and all of it; nothing where it has no rollout that they could, which is told."""
    whole = caches.measured(run)
    shown_of_it = _filtered(_split(whole, name), name)
    if len(shown_of_it.frame):
        yield shown_of_it, whole
    elif run.reading is None:
        why = "the filter leaves no rollout of it" if len(whole.frame) else "it has no rollout"
        notice(f"{name} cannot be laid beside the others: {why}.")


def _split(run: Run, name: str) -> Run:
    """The rollouts of the split that the reader sees, else of whichever comes first, which is told."""
    wanted = next(iter(place.view().unfiltered.splits), "train")
    if not run.splits:
        return run
    split = wanted if wanted in run.splits else run.splits[0]
    if split != wanted:
        notice(f"{name} has no rollout of split {wanted}: those of split {split} are shown.")
    return caches.cached("split", lambda: run.of_split(split), run, split)


def _filtered(run: Run, name: str) -> Run:
    try:
        return filter_bar.filtered(run, place.part("filter"))
    except BoardError as error:
        notice(f"The filter cannot be asked of {name}, all of it is shown: {error}")
        return run
