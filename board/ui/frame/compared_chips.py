"""The row of the top line with the runs to compare, where runs are added and removed.

Draws nothing where the link names no other run. Opens no run.
"""

from collections.abc import Sequence
from pathlib import Path
from typing import Final

import streamlit as st

from board.analysis.compare.run_overlay import MOST_RUNS
from board.figures.theme import COLORS
from board.runs.library import RunFolder
from board.ui.components import run_chips
from board.ui.components.run_chips import RunChip
from board.ui.frame import compared_runs
from board.ui.shared.messages import in_line, notice
from board.ui.state import place, run_looks

CHIPS: Final = "run_chips"
ADD: Final = "compared_add"


def draw(folders: Sequence[RunFolder], root: Path) -> None:
    """Draw the row. To be called within the top line, once the link is settled."""
    if not place.compared():
        return
    looks = run_looks.looks(folders, root)
    own = place.part("run")
    names = [*dict.fromkeys([*looks, *run_looks.addresses()])]
    with in_line("compared_line"):
        run_chips.show(
            [
                _chip(looks[name], here=name == own) if name in looks else RunChip(name, COLORS["reference"], gone=True)
                for name in names
            ],
            key=CHIPS,
            on_open=lambda: _opened(names),
            on_remove=lambda: _removed(names),
        )
        _more(folders, root, names)


def draw_notes(folders: Sequence[RunFolder]) -> None:
    """Say which runs of the link do not exist or are too many; notes on the other runs will stand below."""
    if not place.compared():
        compared_runs.begin(None)  # not even an empty place, which would move the page down
        return
    there = {folder.name for folder in folders}
    gone = [name for name in run_looks.addresses() if name not in there]
    if gone:
        notice(f"There is no run {' and no run '.join(map(repr, gone))} under this root to compare with this one.")
    over = len(dict.fromkeys(place.compared())) - MOST_RUNS
    if over > 0:
        notice(f"At most {MOST_RUNS} runs are compared: {over:,} of the link {'is' if over == 1 else 'are'} left out.")
    compared_runs.begin(st.container(key="compared_notes"))


def _chip(look: run_looks.RunLook, *, here: bool) -> RunChip:
    path = "" if look.name == look.address else f"{look.address} · "
    return RunChip(look.name, look.color, f"{path}{'this page' if here else 'go to this run'}", here)


def _more(folders: Sequence[RunFolder], root: Path, names: Sequence[str]) -> None:
    """Draw the list that adds a run."""
    titles = run_looks.offered(folders, root, names) if len(names) < MOST_RUNS else {}
    if not titles:
        return
    st.selectbox(
        "Add a run",
        [*titles],
        index=None,
        format_func=titles.__getitem__,
        placeholder="Add a run",
        key=ADD,
        on_change=_added,
        label_visibility="collapsed",
        width=180,
    )


def _added() -> None:
    if name := place.widget_text(ADD):
        run_looks.add(name)
    place.set_widgets(**{ADD: None})


def _opened(names: Sequence[str]) -> None:
    position = place.reported(CHIPS, "opened")
    if isinstance(position, int) and 0 <= position < len(names):
        place.go(run=names[position])


def _removed(names: Sequence[str]) -> None:
    position = place.reported(CHIPS, "removed")
    if isinstance(position, int) and 0 <= position < len(names):
        run_looks.remove(names[position])
