"""Export, next to the filter's count: a link to a file of what the filter leaves.

Says about how large the file will be. It is made in `board.ui.frame.export_file`, and sent by `board.serving.downloads`.
"""

from functools import partial
from html import escape
from typing import Final

import streamlit as st

from board.runs.export import Format, about_bytes
from board.runs.run import Run
from board.serving import downloads
from board.text.counting import plural
from board.text.format_number import size
from board.ui.state import caches, place

_NAMES: Final[dict[Format, str]] = {"csv": "CSV", "jsonl": "JSON lines", "parquet": "Parquet"}

NO_SERVER: Final = (
    "This server sends no files: run the command `rl-logging-board export`, or serve the board with `rl-logging-board serve`."
)

FORMULAS: Final = "A spreadsheet may take a text that begins with =, +, - or @ for a formula: import such columns as text."


def draw(run: Run) -> None:
    """The button that opens the choices. To be called where the button stands."""
    st.fragment(_panel)(run)


def _panel(run: Run) -> None:
    """Alone is drawn anew when the reader opens it or chooses in it."""
    with st.container(width="content", key="export"):
        popover = st.popover("Export", key="export_choices", type="tertiary", on_change="rerun", width="content")
    if popover.open:
        with popover.container(width=300):
            _choices(run)


def _choices(run: Run) -> None:
    if not downloads.SERVED.is_set():
        st.text(NO_SERVER)
        return
    form: Format = st.radio(
        "File", list(_NAMES), format_func=_NAMES.__getitem__, horizontal=True, key="export_format", persist_state="session"
    )
    arrays = bool(run.list_columns) and st.toggle(
        "With token arrays",
        key="export_arrays",
        persist_state="session",
        help="Tokens and every number that a token has, as lists; in CSV as JSON. Columns and texts are always in it.",
    )
    bytes_about = caches.cached("export_size", partial(about_bytes, run, form, arrays), run, form, str(arrays))
    so_far = " so far: the file comes once all is read" if run.reads_on else ""
    st.text(f"{plural(len(run.frame), 'rollout')}, about {size(bytes_about)}{so_far}")
    address = downloads.link(_query(run, form, arrays))
    st.container(key="export_link").html(f'<a href="{escape(address)}" download="">Download</a>')
    if form == "csv":
        st.caption(FORMULAS)


def _query(run: Run, form: Format, arrays: bool) -> dict[str, str]:
    """What the address says: of the run what the page shows, as the filter and the split leave it."""
    chosen = {"run": place.part("run"), "filter": place.part("filter"), "split": run.splits[0] if run.splits else None}
    named = {name: str(value) for name, value in chosen.items() if value is not None}
    return named | {"format": form} | ({"arrays": "1"} if arrays else {})
