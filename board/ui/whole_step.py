"""What a page of one step shows of a run that is larger than memory: all rollouts of the step, where elsewhere a sample stands for the run.

Says so in a line. Knows no page.
"""

from dataclasses import replace

import streamlit as st

from board.runs.run import Run
from board.ui import caches
from board.ui.place import View


def of(view: View) -> View:
    """The same view with all rollouts of its step; as it is where the run is in memory."""
    if view.run.beyond is None and view.whole_unfiltered.beyond is None:
        return view
    return replace(
        view,
        run=caches.at_step(view.run, view.step),
        whole=caches.at_step(view.whole, view.step),
        unfiltered=caches.at_step(view.unfiltered, view.step),
        whole_unfiltered=caches.at_step(view.whole_unfiltered, view.step),
    )


def tell(run: Run, step: int) -> None:
    """The line on how much of the run is shown, where that is not all."""
    if run.sample is not None:
        st.text(f"{run.sample} Pages of one step have all rollouts of step {step:,}.")
