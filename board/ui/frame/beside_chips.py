"""The row of the top line that names the runs which are laid side by side, in their colours, and lets one more be added or one be taken away.

Draws nothing where the link lays none beside the page's own. Opens no run.
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
from board.ui.frame import beside_runs
from board.ui.shared.messages import notice
from board.ui.state import place, run_looks

CHIPS: Final = "run_chips"
ADD: Final = "beside_add"


def draw(folders: Sequence[RunFolder], root: Path) -> None:
    """The row. To be called within the top line, once the link is settled."""
    if not place.beside():
        return
    looks = run_looks.looks(folders, root)
    own = place.part("run")
    asked = [*dict.fromkeys([*looks, *run_looks.names()])]
    with st.container(horizontal=True, vertical_alignment="center", gap="small", key="beside_line"):
        run_chips.show(
            [
                _chip(looks[name], here=name == own) if name in looks else RunChip(name, COLORS["reference"], gone=True)
                for name in asked
            ],
            key=CHIPS,
            on_open=lambda: _opened(asked),
            on_remove=lambda: _removed(asked),
        )
        _more(folders, root, asked)


def tell(folders: Sequence[RunFolder]) -> None:
    """Say what of the link is not there, or is too much; what is to be told of the others will stand there, too."""
    if not place.beside():
        beside_runs.begin(None)  # not even an empty place, which would move the page down
        return
    there = {folder.name for folder in folders}
    gone = [name for name in run_looks.names() if name not in there]
    if gone:
        notice(f"There is no run {' and no run '.join(map(repr, gone))} under this root to lay beside this one.")
    over = len(dict.fromkeys(place.beside())) - MOST_RUNS
    if over > 0:
        notice(f"At most {MOST_RUNS} runs are laid side by side: {over:,} of the link {'is' if over == 1 else 'are'} left out.")
    beside_runs.begin(st.container(key="beside_told"))


def _chip(look: run_looks.RunLook, *, here: bool) -> RunChip:
    path = "" if look.name == look.address else f"{look.address} · "
    return RunChip(look.name, look.color, f"{path}{'this page' if here else 'go to this run'}", here)


def _more(folders: Sequence[RunFolder], root: Path, asked: Sequence[str]) -> None:
    """What lays one more beside them."""
    called = run_looks.offered(folders, root, asked) if len(asked) < MOST_RUNS else {}
    if not called:
        return
    st.selectbox(
        "Add a run",
        [*called],
        index=None,
        format_func=called.__getitem__,
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


def _opened(asked: Sequence[str]) -> None:
    at = place.reported(CHIPS, "opened")
    if isinstance(at, int) and 0 <= at < len(asked):
        place.go(run=asked[at])


def _removed(asked: Sequence[str]) -> None:
    at = place.reported(CHIPS, "removed")
    if isinstance(at, int) and 0 <= at < len(asked):
        run_looks.remove(asked[at])
