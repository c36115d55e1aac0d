"""Runs: which are there, which is training, how does the reward go in each?"""

import time
from contextlib import suppress
from pathlib import Path

import streamlit as st

from board.analysis.compare import run_list
from board.analysis.compare.run_list import ListedRun
from board.analysis.compare.run_overlay import MOST_RUNS
from board.errors import BoardError
from board.runs import library
from board.runs.library import RunFolder
from board.runs.run_listing import without_shelves
from board.runs.summaries.run_summaries import SummaryState
from board.settings import run_choices
from board.settings.run_choices import RunNote
from board.sources import locations
from board.text.counting import plural
from board.text.format_number import size
from board.ui.frame import findings_watch
from board.ui.frame.reading_line import opened_as
from board.ui.pages.runs import controls as runs_controls
from board.ui.pages.runs import panel as run_panel
from board.ui.pages.runs import table as runs_table
from board.ui.pages.runs.controls import RunsChoices
from board.ui.shared import progress_line
from board.ui.shared.messages import in_line, notice
from board.ui.state import caches, place, run_looks

POLL_SECONDS = 2.0
"""So often the page looks whether there is something new."""

MOST_TABLES = 24
"""So many groups have a table each; the runs of the others share one."""


def notes() -> dict[str, RunNote]:
    """The reader's notes on runs, by path; none and a notice if they cannot be read."""
    try:
        return run_choices.notes()
    except BoardError as error:
        notice(str(error), "warning")
        return {}


def all_runs(root: Path, folders: list[RunFolder], states: dict[str, SummaryState]) -> list[ListedRun]:
    """Every run with all that is known of it."""
    now, said = time.time(), notes()
    found = []
    for one in folders:
        path = run_looks.run_path(one, root)
        note, age = said.get(path, RunNote(path)), now - one.modified_ns / 1e9
        found.append(ListedRun(one, states[one.name], note, age, findings_watch.counted(path), path))
    return found


def summary(runs: list[ListedRun], listed: list[ListedRun]) -> str:
    """One line on what there is."""
    live = sum(one.is_live for one in runs)
    unread = sum(one.state.summary is None and one.folder.shards > 0 for one in runs)
    hidden = sum(one.note.hidden for one in runs)
    parts = [
        plural(len(runs), "run"),
        size(sum(one.folder.bytes for one in runs)),
        f"{live:,} training now" if live else "",
        f"{len(listed):,} listed" if len(listed) != len(runs) else "",
        f"{hidden:,} hidden" if hidden else "",
        f"{unread:,} not read yet" if unread else "",
    ]
    return " · ".join(filter(None, parts))


def open_soon(one: ListedRun) -> None:
    """Go to the run's first page once this run of the script may."""
    place.go(**one.address)
    place.remember(opens_run=one.folder.name)


def choose_step(root: Path, name: str) -> None:
    """Go to the run's newest step, if it was unknown when its row was drawn.

    The page would put it into the address one press of Back later. A run that lies elsewhere, or cannot be opened, is left to that page.
    """
    folder = next((one for one in caches.run_folders(root, name) if one.name == name), None)
    if place.part("step") is not None or place.part("filter") or folder is None:
        return
    with suppress(BoardError):
        opened, slot = opened_as(folder, root), st.empty()
        if locations.address_of(opened.location):
            return
        run = caches.library().open(opened.location, root, opened.pads, progress_line.of_load(slot), folder.family)
        steps = (run.of_split(run.splits[0]) if run.splits else run).steps
        place.fill_in(step=int(steps[-1]) if len(steps) else None)


def side_by_side(runs: list[ListedRun]) -> None:
    """What opens the ticked runs together, at the one of the place if it is among them; nothing while none is ticked."""
    by_name = {one.folder.name: one for one in runs}
    ticked = [name for name in place.compared() if name in by_name]
    if not ticked:
        return
    own = place.part("run")
    first = by_name[str(own) if own in ticked else ticked[0]]
    st.button(
        f"Side by side ({len(ticked)})",
        key="side_by_side",
        type="primary",
        disabled=len(ticked) < 2,
        help="Tick one more." if len(ticked) < 2 else None,
        on_click=open_soon,
        args=(first,),
    )
    st.button("Untick all", key="untick", type="tertiary", on_click=place.compare, args=(None,))


def tables(listed: list[ListedRun], choices: RunsChoices, root: str) -> None:
    """The runs, a table for each group."""
    groups = run_list.grouped(listed, choices.grouping)
    if len(groups) > MOST_TABLES:
        own = dict([*groups.items()][: MOST_TABLES - 1])
        rest = dict.fromkeys(id(one) for name, runs in groups.items() if name not in own for one in runs)
        groups = own | {f"{len(groups) - len(own):,} more": [one for one in listed if id(one) in rest]}
    for at, (name, runs) in enumerate(groups.items()):
        if choices.grouping:
            st.text(f"{name} · {plural(len(runs), 'run')}")
        runs_table.draw(runs, choices.metric, root, f"runs_table_{at}", open_soon)


def follow(root: Path, drawn: object) -> None:
    """Draw the page anew when there is something new of a run."""

    def look() -> None:
        with suppress(BoardError, OSError):  # where the root is gone for now, what was there stays on the screen
            if known(root) != drawn:
                place.draw_anew()

    st.fragment(look, run_every=POLL_SECONDS)()


def known(root: Path) -> tuple[list[RunFolder], dict[str, SummaryState]]:
    """The runs there are, and what is known of them; what is not is looked at, those written to last first."""
    folders = without_shelves(caches.run_folders(root))
    in_turn = sorted(folders, key=lambda one: -one.modified_ns)
    return folders, caches.run_summaries().see(root, in_turn)


def page(root: Path) -> None:
    """The list, and the chosen run next to it."""
    drawn = known(root)
    runs = all_runs(root, *drawn)
    for sentence in library.not_opened(root, drawn[0]):
        notice(sentence)
    if not runs:
        notice(
            f"No run folders under {locations.shown_place(root)}. Put one there, or start the board with another folder.",
            "warning",
        )
        return
    tags = run_list.tags(runs)
    place.remember(run_tags=tags)
    choices = runs_controls.draw(
        tags, run_list.trainers(runs), run_list.metrics(runs), any_hidden=any(one.note.hidden for one in runs)
    )
    listed = run_list.ordered(run_list.left(runs, choices.filter), choices.sort_by, choices.metric, descending=choices.descending)
    chosen = next((one for one in runs if one.folder.name == place.part("run")), None)
    with in_line("runs_line"):
        st.text(summary(runs, listed), width="content")
        side_by_side(runs)
    with st.container(key="runs_panes"):
        left, right = st.container(), st.container() if chosen else None
    with left:
        if listed:
            tables(listed, choices, locations.shown_name(root))
            st.caption(
                "A click on a run's name opens it; one elsewhere in its row chooses it, to name, tag, pin or hide it. "
                f"Tick two to {MOST_RUNS} runs to see them side by side."
            )
        else:
            st.text("No run is left: change the text, the tag or the trainer.")
    if chosen is not None and right is not None:
        with right:
            run_panel.draw(chosen, locations.shown_name(root), choices.metric, library.resolve(root, chosen.folder.folder))
    follow(root, drawn)


if place.remembered("opens_run"):
    name = place.remembered("opens_run")
    place.remember(opens_run=None)
    choose_step(caches.root(), str(name))
    st.switch_page("board/ui/pages/rewards/rewards.py", query_params=place.link(run=name))
try:
    page(caches.root())
except (BoardError, OSError) as error:
    notice(str(error), "error")
