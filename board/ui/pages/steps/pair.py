"""Step A against step B: how a number moved, and which prompts moved most.

B is the chosen step, A the place's `step_a`. Draws; what it shows is computed in `board.analysis.steps.step_shift`.
"""

from typing import Final

import numpy as np
import pandas as pd
import streamlit as st

from board.analysis.rollouts.selection import numeric_columns
from board.analysis.steps.step_shift import Shift, compare, quantile_shift, typical
from board.analysis.steps.step_stats import nearest_step
from board.figures.run_spreads import RunLine, outlines, shifts
from board.figures.theme import COLORS
from board.runs.run import Run
from board.schema import heading, unit
from board.text.counting import plural
from board.text.format_number import fmt
from board.ui.components import facts, table
from board.ui.components.table import TableColumn
from board.ui.shared import late_chart, rollout_pair
from board.ui.shared.controls import prompt_previews
from board.ui.shared.messages import unfilled
from board.ui.shared.rollout_pair import Called
from board.ui.state import caches, link_texts, linked, place
from board.ui.state.place import View

MOST_OPTIONS: Final = 500
MOST_PROMPTS: Final = 200
"""So many of the prompts that moved are listed."""
TABLE_HEIGHT: Final = 390
SURE: Final = 0.05


def draw(view: View) -> None:
    """The choices, the answer in numbers, both distributions, and the prompts that moved most."""
    run = caches.at_step(view.run, view.step)
    numbers = numeric_columns(run.frame)
    if len(run.steps) < 2 or not numbers:
        st.text("Two steps against each other need a second step." if numbers else "Two steps against each other need a number.")
        return
    number, against = _choices(view, numbers)
    if against == view.step:
        st.text(f"A and B are both step {view.step}: choose another for A, or another step in the top line for B.")
        return
    run = caches.at_step(run, against)
    with st.spinner("Comparing both steps", show_time=True):
        found = caches.cached("step_pair", lambda: compare(run, number, against, view.step), run, number, against, view.step)
    if not found.a.values.size or not found.b.values.size:
        empty = found.a.step if not found.a.values.size else found.b.step
        st.text(f"No rollout of step {empty} has {heading(number)}.")
        return
    _numbers(found, number)
    _charts(run, found, number)
    _prompts(view, found, number)


def _choices(view: View, numbers: list[str]) -> tuple[str, int]:
    """The number that is compared, and step A."""
    first = numbers.index("reward") if "reward" in numbers else 0
    against = _step_a(view)
    with st.container(horizontal=True, vertical_alignment="bottom", key="pair_choices"):
        number = st.selectbox("Number", **linked.choice("pair_number", numbers, numbers[first], label=heading), width=240)
        _step_a_picker(view, against)
        st.text(f"against step {view.step} (B), the one chosen in the top line")
        where = {"step": against, "step_a": view.step}
        st.button("Swap", key="pair_swap", on_click=place.go, kwargs=where, disabled=against == view.step)
    return str(number), against


def _step_a(view: View) -> int:
    """Step A: the reader's, else the first, or the last where B is the first. One that does not exist is reported, and dropped."""
    steps, step_a = view.run.steps, place.part("step_a")
    if isinstance(step_a, int) and step_a in steps.tolist():
        return step_a
    instead = int(steps[0] if steps[0] != view.step else steps[-1])
    if step_a is not None and view.run.reads_on:
        st.text(f"Step {step_a} is not read yet: B is compared with step {instead} until it is.")
        return instead
    if step_a is not None:
        st.text(f"There is no rollout of step {step_a} to compare with: B is compared with step {instead}.")
    place.fill_in(step_a=instead)
    return instead


def _step_a_picker(view: View, step: int) -> None:
    """The list of steps to choose A from."""
    steps = view.run.steps
    at = int(np.searchsorted(steps, step))
    many = len(steps) > MOST_OPTIONS
    first = min(max(0, at - MOST_OPTIONS // 2), len(steps) - MOST_OPTIONS) if many else 0
    place.set_widgets(pair_step_a=step)

    def chosen() -> None:
        given = place.widget_value("pair_step_a")
        if isinstance(given, str) and link_texts.is_whole(given):
            given = nearest_step(steps, int(given))
        place.go(step_a=given if isinstance(given, int) else None, first=None, second=None)

    st.selectbox(
        "Step A",
        steps[first : first + MOST_OPTIONS].tolist(),
        key="pair_step_a",
        on_change=chosen,
        width=130,
        format_func=str,
        accept_new_options=many,
        help=f"Lists the nearest {MOST_OPTIONS:,} steps. Type any other." if many else None,
    )


def _numbers(found: Shift, number: str) -> None:
    """How far the two lie apart, and whether by more than chance: whose units are permuted is said."""
    a, b, test = found.a, found.b, found.test
    of = f" {unit(number)}" if unit(number) else ""
    means, middles = ([float(way(side.values)) for side in (a, b)] for way in (np.mean, np.median))
    numbers = {
        "Mean, A → B": f"{fmt(means[0])} → {fmt(means[1])}",
        "Median, A → B": f"{fmt(middles[0])} → {fmt(middles[1])}",
        "Wasserstein-1 distance": f"{fmt(found.distance)}{of}",
        "Kolmogorov–Smirnov": fmt(test.statistic),
        "p, by permutation": f"{test.p:.3g}",
    }
    facts.show(numbers, key="pair_numbers")
    what = "whole prompts" if test.whole_prompts else "rollouts"
    verdict = "by more than chance" if test.p <= SURE else "by no more than chance may give"
    few = f" With so few of them p cannot be below {fmt(test.least)}." if test.least > SURE else ""
    st.text(
        f"The two differ {verdict}: {test.permutations:,} permutations (seed 0) deal {what} to A and B anew, "
        f"{test.units[0]:,} to A and {test.units[1]:,} to B.{few} "
        f"A is step {a.step} with {plural(a.values.size, 'rollout')}, B step {b.step} with {plural(b.values.size, 'rollout')}."
    )


def _charts(run: Run, found: Shift, number: str) -> None:
    """Both distributions, and how far each quantile moved."""
    a, b, what = found.a, found.b, heading(number)
    of_a, of_b = RunLine(f"step {a.step}", COLORS["reference"], "dash"), RunLine(f"step {b.step}", COLORS["policy"])
    key = (number, a.step, b.step)
    moved = [(of_b, quantile_shift(a.values, b.values))]
    drawn = {
        "pair_spread": caches.chart("pair_spread", lambda: outlines([(of_a, a.values), (of_b, b.values)], what), run, *key),
        "pair_shift": caches.chart("pair_shift", lambda: shifts(moved, of_a.name, what), run, *key),
    }
    late_chart.draw(drawn)


def _prompts(view: View, found: Shift, number: str) -> None:
    """The prompts of both steps by how far their means moved; a click on one opens a rollout of each step below."""
    moved = found.moved.head(MOST_PROMPTS)
    if moved.empty:
        unfilled(["Which prompts moved most: no prompt is in both steps"])
        return
    st.subheader("Which prompts moved most?")
    more = f", the {MOST_PROMPTS:,} that moved most listed" if len(found.moved) > MOST_PROMPTS else ""
    st.text(
        f"{plural(len(found.moved), 'prompt')} in both steps{more} · mean {heading(number)} of each · "
        "a click compares the rollout of A nearest to its mean with that of B"
    )
    pairs = [tuple(typical(side, prompt) for side in (found.a, found.b)) for prompt in moved["prompt"].tolist()]
    sources = [view.run.sources(np.array([pair[side] for pair in pairs])) for side in (0, 1)]
    places: list[dict[str, str | int]] = [{"first": one, "second": other} for one, other in zip(*sources, strict=True)]
    key = f"moved_{view.run.load_id}_{found.a.step}_{found.b.step}_{hash(number)}"
    chosen = (place.part("first"), place.part("second"))
    texts = (
        prompt_previews(view.run.texts("prompt", np.array([pair[1] for pair in pairs]))).to_pandas()
        if "prompt" in view.run.text_columns
        else None
    )
    frame = pd.DataFrame(
        {
            **({"prompt": texts} if texts is not None else {}),
            "mean at A": moved["mean_a"],
            "mean at B": moved["mean_b"],
            "change": moved["change"],
            "rollouts A": moved["rollouts_a"],
            "rollouts B": moved["rollouts_b"],
        }
    )
    table.show(
        frame,
        {"prompt": TableColumn(width=300)},
        name="prompts that moved",
        key=key,
        on_click=place.row_clicked(key, places),
        chosen=next((at for at, one in enumerate(places) if (one["first"], one["second"]) == chosen), None),
        height=TABLE_HEIGHT,
    )
    _opened(view, found)


def _opened(view: View, found: Shift) -> None:
    """The two rollouts that were chosen, where they are of these steps, and the way to all of their prompt."""
    keys = [view.run.key_of(str(place.part(name))) if place.part(name) is not None else None for name in ("first", "second")]
    if keys[0] in found.a.keys and keys[1] in found.b.keys and keys[0] is not None and keys[1] is not None:
        prompt = int(found.b.prompts[found.b.keys == keys[1]][0])
        there = place.link(prompt=prompt)
        st.page_link(
            "board/ui/pages/prompts/prompts.py", label="Open the prompt, with its rollouts of all steps", query_params=there
        )
        rollout_pair.draw(Called(view, keys[0], f"step {found.a.step}"), Called(view, keys[1], f"step {found.b.step}"))
