"""Two runs on the prompts that both saw: the difference, by step and by prompt.

Two responses to one of the prompts are opened. Pairs and intervals are computed by `board.analysis.compare.run_pair`; here they are
cached for all readers, drawn, and saved as a file.
"""

from collections.abc import Sequence
from dataclasses import replace
from typing import Final

import streamlit as st

from board.analysis.compare import run_settings
from board.analysis.compare.paired_prompts import Visits
from board.analysis.compare.run_pair import RunPair, compare
from board.analysis.rollouts.selection import numeric_columns
from board.figures.step_panels import difference_panel
from board.schema import heading, unit
from board.text.counting import plural
from board.ui.components.curves import Card, CurvesPayload, build
from board.ui.frame import findings_watch
from board.ui.frame.compared_runs import ComparedSide
from board.ui.pages.compare import pair_prompts, pair_verdict
from board.ui.pages.compare import sides as compared_sides
from board.ui.shared.controls import step_curves
from board.ui.state import caches, linked, place

CURVES: Final = "pair_curves"
"""Key of the curve."""
PLOT_HEIGHT: Final = 140

SAME_STEP: Final = "at the same step"
THIS_STEP: Final = "at this step"
VISITS: Final[dict[str, Visits]] = {SAME_STEP: "same step", THIS_STEP: "same step", "last visits": "last"}
"""What is paired, as the screen and the link call it."""

Sides = tuple[ComparedSide, ComparedSide]


def draw(sides: Sequence[ComparedSide]) -> None:
    """The choices, the answer in numbers and by step, the prompts that differ most, one of them opened, and what must be known of it all."""
    with st.container(horizontal=True, vertical_alignment="bottom", key="same_prompts_choices"):
        a, b = compared_sides.pair(sides)
        shared = [name for name in numeric_columns(a.run.frame) if name in set(numeric_columns(b.run.frame))]
        number, visits_choice = _number(shared), _visits()
    if number is None:
        st.text(f"{a.name} and {b.name} share no number of a rollout: there is nothing to compare.")
        return
    visits = VISITS[visits_choice]
    if visits_choice == THIS_STEP:
        step = place.view().step
        a, b = (replace(side, run=side.run.of_steps(step, step)) for side in (a, b))
        if empty := [side.name for side in (a, b) if not len(side.run.frame)]:
            st.text(f"{' and '.join(empty)} {'have' if len(empty) > 1 else 'has'} no rollout of step {step:,}.")
            return
    with st.spinner(f"Pairing the prompts of {plural(len(a.run.frame) + len(b.run.frame), 'rollout')}", show_time=True):
        pair = caches.cached("run_pair", lambda: compare(a.run, b.run, number, visits), a.run, number, visits, other=b.run)
    pair_verdict.draw(pair, (a, b))
    differing = run_settings.compared(*(caches.settings_of(side.whole.location) for side in (a, b)))
    estimators = run_settings.pair_estimator_notes(differing)
    _notes([*pair.notes, *estimators, *compared_sides.caveats(a, b, number)])
    if pair.total.prompts:
        if visits_choice == SAME_STEP:
            _by_step(pair, (a, b))
        pair_prompts.draw(pair, (a, b))


def _number(shared: Sequence[str]) -> str | None:
    """Draw the choice of what is compared, and return it; None where the runs share no number."""
    if not shared:
        return None
    usual = shared.index("reward") if "reward" in shared else 0
    chosen = st.selectbox("Number", **linked.choice("compare_number", shared, shared[usual], label=heading), width=220)
    return chosen or shared[usual]


def _visits() -> str:
    """Draw the choice of what is paired, one of VISITS, and return it."""
    names = [*VISITS]
    chosen = st.segmented_control(
        "Prompts paired",
        **linked.choice("compare_visits", names),
        required=True,
        help="Prompts that both runs saw: at any step that both saw them at, at the step of the top line alone, or at the last of either run.",
    )
    return str(chosen)


def _notes(notes: Sequence[str]) -> None:
    """What must be known before the difference is believed, a quiet line each."""
    if notes:
        with st.container(key="pair_notes", gap=None):
            for sentence in notes:
                st.text(sentence)


def _by_step(pair: RunPair, sides: Sides) -> None:
    """The difference by step; a click goes to a step of the page's run."""
    a, b = sides
    payload = caches.cached(
        "pair_curves", lambda: _built(pair, b), a.run, pair.metric, b.color, f"{a.name}\n{b.name}", other=b.run
    )
    steps = place.view().run.steps
    step_curves(payload, CURVES, steps)
    findings_watch.on_curves("pair_curves_choice")


def _built(pair: RunPair, b: ComparedSide) -> CurvesPayload:
    panel = difference_panel(
        pair.by_step,
        title=f"At which steps does B lie above A in {heading(pair.metric)}?",
        unit=unit(pair.metric) if unit(pair.metric) != heading(pair.metric) else "",
        color=b.color,
    )
    span = (int(pair.by_step["step"].iloc[0]), int(pair.by_step["step"].iloc[-1]))
    return build([Card("difference", panel)], span=span, height=PLOT_HEIGHT, columns=1)
