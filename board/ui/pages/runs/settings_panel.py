"""What made a run: all settings in the files next to it, searchable."""

from pathlib import Path
from typing import Final

import pandas as pd
import streamlit as st

from board.analysis.compare import run_settings
from board.text.counting import plural
from board.ui.components import table
from board.ui.components.table import TableColumn
from board.ui.shared.setting_texts import as_text, matches
from board.ui.state import caches, linked

MOST_ROWS: Final = 2_000
"""So many settings are listed; the search looks at all of them."""

_MOST_HEIGHT: Final = 420
_COLUMNS: Final = {"setting": TableColumn(width=220, pinned=True)}


def draw(location: Path) -> None:
    """The settings of the run in that folder: from which files, and each by its dotted name; one line where there is none."""
    files = caches.settings_of(location)
    settings = run_settings.together(files)
    with st.container(border=True, key="settings_panel"):
        if not files:
            st.text("No settings next to this run: config.yaml, args.json, .hydra, W&B's, ...")
            return
        read = [file.name for file in files if not file.refused]
        st.text(f"{plural(len(settings), 'setting')} from {', '.join(read)}" if read else "None of its settings could be read.")
        for file in files:
            if file.refused:
                st.text(f"{file.name} {file.refused}.")
        if settings:
            _listed(settings)


def _listed(settings: dict[str, object]) -> None:
    query = st.text_input("Text in names and values", **linked.text("run_settings_text"), type="search") or ""
    left = {name: value for name, value in settings.items() if matches(query, name, value)}
    if len(left) < len(settings) or len(left) > MOST_ROWS:
        st.text(f"{len(left):,} of {len(settings):,}" + (f", the first {MOST_ROWS:,} listed" if len(left) > MOST_ROWS else ""))
    if not left:
        return
    shown = dict(list(left.items())[:MOST_ROWS])
    frame = pd.DataFrame({"setting": list(shown), "value": [as_text(value) for value in shown.values()]})
    table.show(frame, _COLUMNS, name="settings", key="run_settings", height=_MOST_HEIGHT)
