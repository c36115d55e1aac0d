"""The strip of all steps in the top line, and its marks: where something departed.

What a mark says is computed elsewhere. Marks take long in a large run: they come once the page below is drawn.
"""

from collections.abc import Callable
from typing import Final

import pandas as pd
import streamlit as st

from board.analysis.steps.highlights import Highlight, highlights, range_departures, ranged
from board.analysis.steps.step_bars import bar_marks, step_bars
from board.analysis.steps.step_metrics import per_step_values
from board.metrics.formulas import DEFAULT_ESTIMATOR, kl_column
from board.runs.run import Run
from board.ui.components import step_strip
from board.ui.frame import findings_watch
from board.ui.state import caches, place

AT_ONCE: Final = 20_000
"""The marks of a run of more rollouts wait until the page below is drawn."""


def draw(run: Run) -> None:
    """All steps as bars of mean reward: one click goes to a step. Nothing where there is no reward, or no second step."""
    place.remember(unmarked=None)
    if "reward" not in run.frame.columns or len(run.steps) < 2:
        return
    found: list[Highlight] | None = caches.cached_before("marks", run)
    if found is None and run.reading is None:
        if len(run.frame) <= AT_ONCE:
            found = of_run(run)
        else:
            place.remember(unmarked=run)
    bars = step_bars(caches.step_stats(run, "reward"))
    chosen = int(place.part("step") or 0)
    marks = bar_marks(bars, [*findings_watch.highlights(), *(found or [])])
    step_strip.show(bars, chosen, marks, measure="mean reward", key="strip", on_click=place.bar_clicked("strip", bars.steps))


def catch_up() -> None:
    """Find the marks that the strip could not wait for, and draw it again with them; to be called when the page is drawn."""
    run = place.remembered("unmarked")
    if run is not None:
        place.remember(unmarked=None)
        of_run(run)
        st.rerun()


def of_run(run: Run) -> list[Highlight]:
    """What stands out in the run's steps, and where metrics left their healthy range; found once for all readers."""
    return caches.cached("marks", lambda: _found(run), run)


def _found(run: Run) -> list[Highlight]:
    kl = kl_column(DEFAULT_ESTIMATOR)
    columns = [name for name in ("reward", "valid_reward", kl, "response_length") if name in run.frame.columns]
    unfinished = findings_watch.newest(run)
    left_out = [one.step for one in unfinished]
    notable = highlights({name: caches.step_stats(run, name).drop(left_out, errors="ignore") for name in columns}, kl)
    return [*range_departures(ranged_values(run).drop(left_out, errors="ignore")), *notable, *unfinished]


def ranged_values(run: Run, progress: Callable[[float], None] = lambda share: None) -> pd.DataFrame:
    """By step the metrics that have a healthy range, computed once for all readers; `progress` receives the share that is done."""
    return caches.cached("ranged", lambda: per_step_values(run, ranged(run), progress), run)
