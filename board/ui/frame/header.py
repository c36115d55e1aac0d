"""The top line of every page: run, step, what loading found.

What it chooses it hands to `place`. Returns whether there is a run to show. Everything that can be wrong with a root, a run or a link ends
here in one sentence on the screen, and a link that leads nowhere is answered with the pages and runs there are.
"""

from pathlib import Path
from typing import Final
from urllib.parse import urlencode

import numpy as np
import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from board.analysis.prompts.prompt_list import common_beginning
from board.errors import BoardError
from board.runs import empty_run, library
from board.runs.cache import cache_care
from board.runs.library import RunFolder
from board.runs.run import Run
from board.schema import DISCARDED
from board.serving.page_addresses import FORMER
from board.sources import locations
from board.text.counting import plural
from board.text.format_number import size
from board.text.path_names import shown
from board.text.system_prompts import Hiding
from board.ui.components import picker, text_links
from board.ui.components.picker import Neighbour
from board.ui.components.shortcuts import STEP_AFTER, STEP_BEFORE
from board.ui.frame import (
    compared_chips,
    export_panel,
    filter_bar,
    findings_watch,
    live_reload,
    load_report_panel,
    reading_line,
    strip,
)
from board.ui.frame.reading_line import OpenedAs
from board.ui.shared import controls, progress_line
from board.ui.shared.controls import split_choice
from board.ui.shared.messages import notice
from board.ui.state import caches, filter_chips, link_checks, place, run_looks

MOST_RUNS: Final = 200
"""So many runs are offered as links; the list above the page has them all."""


def not_found(name: str) -> None:
    """In place of a page that the board does not have."""
    former = FORMER.get(name)
    if former:
        notice(f"The page {name!r} is called {former.title} now.")
        st.page_link(former.file, label=f"Open {former.title}", query_params=place.link(), width="content")
    else:
        notice(f"There is no page {name!r}. The tabs above lead to those there are.", "warning")
    try:
        root = caches.root()
        _runs_there(caches.run_folders(root), root, "./")
    except BoardError as error:
        notice(str(error), "error")


def _runs_there(folders: list[RunFolder], root: Path, there: str = "") -> None:
    """Every run under the root, each a link to it on the page at the address `there`, by default this one."""
    if not folders:
        return
    st.text("Runs here:" if len(folders) <= MOST_RUNS else f"The first {MOST_RUNS} of {len(folders):,} runs here:")
    links = {
        locations.shown_name(root) if folder.name == library.HERE else folder.name: f"{there}?{urlencode({'run': folder.name})}"
        for folder in folders[:MOST_RUNS]
    }
    text_links.show(links, key="runs_there_are")


MOST_AUTOMATIC_BYTES: Final = 500_000_000
"""A remote run that is larger than this is fetched on request, not because it happens to be first in the list: it costs network and disk.
A run on this machine opens on a thin sample, whatever its size, and reading on can be stopped."""

MOST_OPTIONS: Final = 500
"""The list of steps holds no more, those around the chosen one: the browser is slow with long lists."""


def draw() -> bool:
    """Draw the top line; True when the page below it has a run with rows to show."""
    try:
        root = caches.root()
        return _draw(root)
    except BoardError as error:
        notice(str(error), "error")
        return False


def _draw(root: Path) -> bool:
    requested = None if (part := place.part("run")) is None else str(part)
    folders = caches.run_folders(root, requested)
    line = st.container(horizontal=True, vertical_alignment="bottom", key="topline")
    missing = _missing_run(requested, folders, root)
    with line:
        name = _run_picker(folders, root) if folders else None
    if name is None:
        notice(missing, "warning")
        _runs_there(folders, root)
        return False
    folder = next(folder for folder in folders if folder.name == name)
    opened_as = reading_line.opened_as(folder, root)
    whole = _load(opened_as, folder)
    if whole is None:
        return False
    opened, whole = whole, caches.measured(whole)
    findings_watch.watch(opened, opened_as)
    with line:
        all_of_run, all_of_whole = _split(whole), whole
    filter_chips.adopt_steps()
    run, whole = filter_bar.applied(all_of_run, all_of_whole)
    if len(run.steps):
        live_reload.go_along(run)
    said = link_checks.settle(run, whole, all_of_run, all_of_whole)
    with line:
        _step_picker(run)
        strip.draw(run)
        load_report_panel.draw(opened)
        if opened.reading is None:
            live_reload.follow(opened, run, root)
        with st.container(horizontal=True, vertical_alignment="top", gap="small", key="filter_line"):
            filter_bar.draw(run, all_of_run)
            findings_watch.light()
            export_panel.draw(run)
        run_looks.settle()
        compared_chips.draw(folders, root)
    with st.container():
        _tell_sample(run)
        if run.splits == (DISCARDED,):
            st.text("The trainer sampled these rollouts and did not train on them: they are in no number of training.")
        for sentence in empty_run.warnings(opened.counted.frame):
            notice(f"{sentence}.", "warning")
        for sentence in said:
            notice(sentence)
        compared_chips.draw_notes(folders)
    if run.frame.empty and len(all_of_run.frame):
        notice("No rollout satisfies the filter.")
        return False
    if run.frame.empty:
        load_report_panel.nothing_to_show(opened, root)
        return False
    place.set_view(place.View(run, int(place.part("step") or 0), _hiding(all_of_whole), whole, all_of_run, all_of_whole))
    return True


def _tell_sample(run: Run) -> None:
    """The line on how much of the run is shown, where that is not all."""
    if run.sample is not None:
        st.text(f"{run.sample} Pages of one step have all rollouts of step {int(place.part('step') or 0):,}.")


def _missing_run(requested: str | None, folders: list[RunFolder], root: Path) -> str:
    """Why no run can be shown, and what to do; empty when one can. Chooses the first run with shards if the link names none."""
    names = [folder.name for folder in folders]
    if not names:
        none = f"No run folders under {locations.shown_place(root)}. Put one there, or start the board with another folder: bash start.sh PATH"
        return " ".join([none, *library.not_opened(root, folders)])
    if requested is None:
        place.fill_in(run=next((folder.name for folder in folders if folder.shards), names[0]))
    elif within := library.holding(folders, root, requested) if requested not in names else None:
        place.fill_in(run=within)
    elif requested not in names:
        place.go(run=None)
        return f"There is no run {requested!r} under this root."
    return ""


def _run_picker(folders: list[RunFolder], root: Path) -> str | None:
    """Draw the list of runs; the chosen one's name, None while none is chosen."""
    names = {_called(folder.name, root): folder.name for folder in folders}
    chosen = place.part("run")
    picker.show(
        "Run",
        [*names],
        None if chosen is None else _called(str(chosen), root),
        key="run_picker",
        on_choose=place.run_picked("run_picker", names),
        width=240,
        placeholder="Choose a run",
    )
    return None if chosen is None else str(chosen)


def _called(name: str, root: Path) -> str:
    return locations.shown_name(root) if name == library.HERE else name


def _hiding(run: Run) -> Hiding | None:
    """How system prompts are hidden, what all prompts of the run begin with among it."""
    hiding = controls.hiding()
    if hiding is None or hiding.end:
        return hiding
    return hiding._replace(common=caches.cached("common_beginning", lambda: common_beginning(run), run))


def _load(opened: OpenedAs, folder: RunFolder) -> Run | None:
    """The run, loaded with progress on the screen; None while a large one that lies elsewhere waits for the reader's click."""
    # Drawn in every run of the script: what follows would move up in the next, and be built again in the browser.
    slot = st.empty()
    location, root = opened.location, opened.root
    run = caches.library().peek(location, opened.pads, folder.family)
    if run is None:
        far = locations.address_of(location) and folder.bytes > MOST_AUTOMATIC_BYTES and not place.opened_with(folder.name)
        if far and not _load_clicked(slot, folder, location):
            return None
    else:
        live_reload.catch_up(run, root)
    run = caches.library().open(location, root, opened.pads, progress_line.of_load(slot), folder.family, reading_line.priority())
    slot.empty()
    place.remember(came_to=run.address)
    if run.reading:
        with slot.container():
            reading_line.draw(run, opened)
    return run


def _load_clicked(slot: DeltaGenerator, folder: RunFolder, location: Path) -> bool:
    """Draw the button, with what the run takes on this machine's disk."""
    line = slot.container(horizontal=True, vertical_alignment="center")
    cache, free = cache_care.free_bytes()
    line.text(f"Fetched once, up to {size(folder.bytes)}, into {shown(cache)}, which has {size(free)} left.", width="content")
    return line.button(f"Load {size(folder.bytes)} in {plural(folder.shards, 'shard')}", type="primary", on_click=place.moved)


def _split(run: Run) -> Run:
    """The rollouts of training, or of evaluations, as the reader chooses where the run has both: their steps and means are not to be mixed."""
    if len(run.splits) < 2:
        return run
    chosen = split_choice(run.splits)
    return caches.cached("split", lambda: run.of_split(chosen), run, chosen)


def _step_picker(run: Run) -> None:
    if not len(run.steps):
        return
    step = int(place.part("step") or 0)
    at = int(np.searchsorted(run.steps, step))
    many = len(run.steps) > MOST_OPTIONS
    first = min(max(0, at - MOST_OPTIONS // 2), len(run.steps) - MOST_OPTIONS) if many else 0
    before = str(run.steps[at - 1]) if at else None
    after = str(run.steps[at + 1]) if at + 1 < len(run.steps) else None
    picker.show(
        f"Step (of {len(run.steps):,})",
        [str(one) for one in run.steps[first : first + MOST_OPTIONS].tolist()],
        str(step),
        key="step_picker",
        on_choose=place.step_picked("step_picker", run.steps),
        width=120,
        note=f"The nearest {MOST_OPTIONS:,} steps; type any other." if many else "",
        takes_others=True,
        neighbours=(Neighbour(before, STEP_BEFORE), Neighbour(after, STEP_AFTER)),
    )
