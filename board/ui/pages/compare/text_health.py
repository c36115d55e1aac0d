"""In what do the texts of two runs differ: repetition, loops, scripts, endings, lengths?"""

from collections.abc import Sequence
from typing import Final

import numpy as np
import pandas as pd
import streamlit as st

from board.analysis.compare.run_shift import run_means
from board.analysis.stats.bootstrap import COVERAGE
from board.analysis.steps.distribution_shift import Estimate
from board.analysis.texts import measured_columns, text_health
from board.runs.run import Run
from board.text.counting import plural
from board.text.format_number import fmt
from board.ui.components import table
from board.ui.components.table import TableColumn
from board.ui.frame import compared_table
from board.ui.frame.compared_runs import ComparedSide
from board.ui.pages.compare import sides as compared_sides
from board.ui.shared.messages import unfilled
from board.ui.shared.progress_line import progress
from board.ui.state import caches

NUMBERS: Final = ("response_length", "response_chars", *(one.name for one in text_health.COLUMNS))
"""In the order of their kinds; the table has them by effect."""

MOST_HEIGHT: Final = 700
"""In pixels; a longer table scrolls."""

_COLUMNS: Final = {
    "number": TableColumn(width=210, pinned=True),
    **{name: TableColumn(right=True) for name in ("A", "B", "B − A")},
    "effect": TableColumn(format="%.2f", help="The difference in standard deviations within a run (Cohen's d)."),
    "what it is": TableColumn(width=420),
}


def draw(sides: Sequence[ComparedSide]) -> None:
    """The choice of two runs, and the table of means."""
    with st.container(horizontal=True, vertical_alignment="bottom", key="text_health_choices"):
        a, b = compared_sides.pair(sides)
    reading = [side.name for side in (a, b) if side.run.reading]
    if reading:
        st.text(f"Texts are measured once all is read, and {' and '.join(reading)} {'is' if len(reading) == 1 else 'are'} not.")
        return
    of_a, of_b = _measured(a), _measured(b)
    with st.spinner("Comparing the means", show_time=True):
        found = caches.cached("text_health_means", lambda: run_means(of_a, of_b, NUMBERS), of_a, other=of_b)
    if found.empty:
        unfilled(["Means of texts: the runs share no response"])
        return
    same = found["effect"].isna() & (found["difference"] == 0)
    found = found[~same]
    apart = int(((found["low"] > 0) | (found["high"] < 0)).sum())
    st.text(
        f"{plural(len(found), 'number')} of every response, the largest effect first: the difference in standard deviations within a run. "
        f"{apart:,} have a {100 * COVERAGE:.0f} % interval (bootstrap over prompts) that leaves zero out, where chance alone gives about "
        f"{max(1, round((1 - COVERAGE) * len(found)))}."
    )
    for sentence in compared_sides.caveats(a, b):
        st.text(sentence)
    _table(found)
    missing = len(NUMBERS) - len(same)
    unfilled(
        [
            *(
                [f"{plural(int(same.sum()), 'number')} that {'is' if same.sum() == 1 else 'are'} the same in every response"]
                if same.any()
                else []
            ),
            *([f"{plural(missing, 'number')} that the texts of either run do not tell"] if missing else []),
        ]
    )


def _measured(side: ComparedSide) -> Run:
    """The run with what is measured of its texts, which takes a while the first time."""
    if all(one.name in side.run.frame.columns for one in text_health.COLUMNS):
        return side.run

    def make() -> Run:
        with progress(f"Measuring the texts of {plural(len(side.run.frame), 'rollout')}") as report:
            return measured_columns.with_measures(side.run, report)

    return caches.cached("measured for comparison", make, side.run)


def _table(found: pd.DataFrame) -> None:
    declared = [measured_columns.declared(str(name)) for name in found["number"]]
    means = found[["a", "b"]].to_numpy(np.float64)
    ends = found[["difference", "low", "high"]].to_numpy(np.float64)
    frame = pd.DataFrame(
        {
            "number": [one.title if one else name for one, name in zip(declared, found["number"], strict=True)],
            "A": [fmt(mean) for mean in means[:, 0].tolist()],
            "B": [fmt(mean) for mean in means[:, 1].tolist()],
            "B − A": [compared_table.interval(Estimate(*map(float, row))) for row in ends],
            "effect": found["effect"].to_numpy(),
            "unit": [one.unit if one else "" for one in declared],
            "what it is": [one.meaning if one else "" for one in declared],
        }
    )
    table.show(frame, _COLUMNS, name="numbers of texts", key="text_health_table", height=MOST_HEIGHT)
