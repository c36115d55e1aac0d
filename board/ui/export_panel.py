"""Export, beside the filter's count: what the filter leaves as a file, about how large it will be, and how far it is. Draws and asks only.

What is written is in `board.runs.export`, how it reaches the browser in `board.serving`.
"""

from functools import partial
from typing import Final

import streamlit as st

from board.errors import BoardError
from board.runs.export import MEDIA, Format, about_bytes, pieces
from board.runs.run import Run
from board.serving import downloads
from board.serving.exports import EXPORTS, Export
from board.text.counting import plural
from board.text.format_number import size
from board.ui import caches, place
from board.ui.components import save_file
from board.ui.messages import notice

LOOK_SECONDS: Final = 1.0

_NAMES: Final[dict[Format, str]] = {"csv": "CSV", "jsonl": "JSON lines", "parquet": "Parquet"}

NO_SERVER: Final = (
    "This server sends no files: run the command `rl-logging-board export`, or serve the board with `rl-logging-board serve`."
)

FORMULAS: Final = "A spreadsheet may take a text that begins with =, +, - or @ for a formula: import such columns as text."


def draw(run: Run) -> None:
    """The button that opens the choices, and how far a file is that is being saved. To be called where the button stands."""
    st.fragment(_panel)(run)


def _panel(run: Run) -> None:
    """Alone is drawn anew when the reader opens it or chooses in it."""
    asked: Export | None = place.remembered("export")
    with st.container(horizontal=True, vertical_alignment="center", gap="small", width="content", key="export"):
        if asked is not None and (asked.is_open or asked.state == "failed"):
            st.fragment(_progress, run_every=LOOK_SECONDS if asked.is_open else None)(asked)
        popover = st.popover("Export", key="export_choices", type="tertiary", on_change="rerun", width="content")
    if popover.open:
        with popover.container(width=300):
            _choices(run, asked)
    if address := place.remembered("export_address"):
        place.remember(export_address=None)
        save_file.start(address, key="save_file")


def _choices(run: Run, asked: Export | None) -> None:
    if not EXPORTS.served:
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
    bytes_about = caches.computed("export_size", partial(about_bytes, run, form, arrays), run, form, str(arrays))
    st.text(f"{plural(len(run.frame), 'rollout')}, about {size(bytes_about)}{', of what is read so far' if run.reading else ''}")
    st.button("Download", key="export_ask", type="primary", on_click=_ask, args=(run, form, arrays))
    if form == "csv":
        st.caption(FORMULAS)
    if refusal := place.remembered("export_refused"):
        notice(refusal, "warning")
    elif asked is not None and asked.state == "done":
        st.text(f"Sent: {plural(asked.rows_sent, 'rollout')}, {size(asked.bytes_sent)}.")


def _ask(run: Run, form: Format, arrays: bool) -> None:
    """Get a ticket for the file; the browser begins to save it as soon as this is drawn."""
    export = Export(file_name(run, form), MEDIA[form], len(run.frame), partial(pieces, run, form, arrays))
    try:
        ticket = EXPORTS.ask(export)
    except BoardError as error:
        place.remember(export_refused=str(error))
    else:
        place.remember(export=export, export_address=f"{downloads.PATH}/{ticket}", export_refused=None)


def file_name(run: Run, form: Format) -> str:
    """What the file is called: after the run, with the number of rollouts where they are not all."""
    count = f"-{plural(len(run.frame), 'rollout').replace(',', '').replace(' ', '-')}" if run.selection else ""
    return f"{run.name}{count}.{form}"


def _progress(asked: Export) -> None:
    """How far it is; once it has ended, the page is drawn without this, and nobody looks any more."""
    if asked.state == "failed":
        st.text(f"Export failed: {asked.reason}")
    elif not asked.is_open:
        st.rerun()
    else:
        st.text(progress_words(asked))


def progress_words(asked: Export) -> str:
    """`31,000 of 100,000 rollouts · 12 s left`."""
    if asked.state == "asked for":
        return "Starting the download"
    left = asked.seconds_left
    return f"{asked.rows_sent:,} of {plural(asked.rows, 'rollout')}" + ("" if left is None else f" · {left:.0f} s left")
