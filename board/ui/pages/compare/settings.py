"""Which settings of the runs differ, with the reward that each reached?"""

from collections.abc import Sequence
from typing import Any, Final

import numpy as np
import pandas as pd
import streamlit as st

from board.analysis.compare import run_settings
from board.analysis.compare.compared_run import compared
from board.analysis.compare.run_settings import UNSET
from board.errors import FieldMissing
from board.sources.settings_files import SettingsFile
from board.text.counting import plural
from board.ui.components import table
from board.ui.components.table import TableColumn
from board.ui.frame import compared_table
from board.ui.frame.compared_runs import ComparedSide
from board.ui.shared.setting_texts import as_text, matches
from board.ui.state import caches, linked

MOST_HEIGHT: Final = 560
"""In pixels; a longer table scrolls."""

_HELPS: Final = {
    "column": "What the columns of the settings below are called.",
    "last reward": "Mean of its last step that has a reward.",
    "best reward": "The highest mean of a step.",
}


def draw(sides: Sequence[ComparedSide]) -> None:
    """What each run has come to, and the settings that differ."""
    files = [caches.settings_of(side.run.location) for side in sides]
    settings = [run_settings.together(own) for own in files]
    _runs(sides, files)
    _notes(sides, files)
    known = [at for at, own in enumerate(settings) if own]
    if len(known) < 2:
        st.text(
            "Settings are compared where two runs or more have some next to their rollouts: config.yaml, args.json, .hydra, W&B's, ..."
        )
        return
    differing = run_settings.differing_among([settings[at] for at in known])
    for sentence in run_settings.estimator_notes(differing):
        st.text(sentence)
    query = st.text_input("Text in names and values", **linked.text("settings_text"), type="search", width=320) or ""
    left = {name: values for name, values in differing.items() if matches(query, name, *values)}
    every = len({name for own in settings for name in own})
    found = f" · {len(left):,} with these words" if query.split() else ""
    st.text(f"{plural(len(differing), 'setting')} of {every:,} differ{'s' if len(differing) == 1 else ''}{found}")
    if left:
        _table({name: dict(zip(known, values, strict=True)) for name, values in left.items()}, len(sides))


def _runs(sides: Sequence[ComparedSide], files: Sequence[tuple[SettingsFile, ...]]) -> None:
    frame = pd.DataFrame(
        [
            {
                "column": str(at + 1),
                **_rewards(side),
                "steps": len(side.run.steps),
                "rollouts": len(side.run.frame),
                "settings from": ", ".join(file.name for file in own if not file.refused),
            }
            for at, (side, own) in enumerate(zip(sides, files, strict=True))
        ]
    )
    compared_table.draw(sides, frame, "settings_runs", _HELPS)


def _rewards(side: ComparedSide) -> dict[str, float]:
    """The mean reward of the last step that has one, and the highest of a step."""

    def make() -> dict[str, float]:
        try:
            (own,) = compared([side.run], "reward")
        except FieldMissing:
            return unknown
        means = own.by_step.to_numpy(np.float64)
        return {"last reward": float(means[-1]), "best reward": float(means.max())} if means.size else unknown

    unknown = {"last reward": np.nan, "best reward": np.nan}
    found: dict[str, float] = caches.cached("last_and_best", make, side.run)
    return found


def _notes(sides: Sequence[ComparedSide], files: Sequence[tuple[SettingsFile, ...]]) -> None:
    """What could not be read, and which runs have none."""
    sentences = [
        f"{side.name}: {file.name} {file.refused}."
        for side, own in zip(sides, files, strict=True)
        for file in own
        if file.refused
    ]
    without = [side.name for side, own in zip(sides, files, strict=True) if not run_settings.together(own)]
    sentences += [f"No settings next to {', '.join(without)}."] if without else []
    for sentence in sentences:
        st.text(sentence)


def _table(left: dict[str, dict[int, Any]], runs: int) -> None:
    """A row for each setting, a column for each run by its number."""
    columns = {str(at + 1): [as_text(values.get(at, UNSET)) for values in left.values()] for at in range(runs)}
    frame = pd.DataFrame({"setting": list(left), **columns})
    shown = {"setting": TableColumn(width=220, pinned=True)}
    table.show(frame, shown, name="settings", key="settings_table", height=MOST_HEIGHT)
