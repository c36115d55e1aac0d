"""One prompt opened: its text, its rollouts over training, two of them compared."""

from functools import partial
from typing import Any, Final

import numpy as np
import pandas as pd
import streamlit as st
from numpy.typing import NDArray

from board.analysis.prompts.cohort_conditions import of_prompts
from board.analysis.prompts.prompt_list import text_column
from board.analysis.prompts.prompt_timeline import Timeline, timeline, usual_pair
from board.analysis.prompts.prompt_visits import length_column
from board.analysis.rollouts.selection import neighbours, numeric_columns
from board.figures.step_panels import NAMES
from board.metrics.formulas import kl_column
from board.schema import heading
from board.text.counting import plural
from board.text.display import shorten
from board.text.format_number import fmt
from board.text.system_prompts import without_system_prompt
from board.ui.components import prompt_timeline, verbatim
from board.ui.components.prompt_timeline import NumberNames
from board.ui.shared import rollout_pair
from board.ui.shared.controls import estimator, hiding_choice
from board.ui.shared.messages import in_line
from board.ui.shared.rollout_pair import Called
from board.ui.state import filter_chips, linked, place
from board.ui.state.place import View

TIMELINE: Final = "prompt_timeline"
"""Key of the timeline."""
PROMPT_HEIGHT: Final = 160
TEXT_WIDTH: Final = 440
"""Prompt and expected answer stand side by side while each has so many pixels."""
SHOWN_CHARS: Final = 20_000
"""So much of a prompt is shown; the rest is on the Responses page."""

_SIDES: Final = ("first", "second")

IntArray = NDArray[np.int64]


def draw(view: View, prompt: int, facts: "pd.Series[Any]", order: IntArray, cohort: str) -> list[str]:
    """Draw the prompt with that key, whose row of the leaderboard is `facts`; `order` are the keys of the reader's list, for the ways on.

    `cohort` is one of COHORTS, empty where it is of none. What the run cannot show of it, and what it needs.
    """
    run = view.run
    places = np.flatnonzero(run.prompt_keys == prompt)
    _head(prompt, facts, order, cohort)
    _text(view, int(run.frame.index[places[0]]))
    numeric = numeric_columns(run.frame)
    if not numeric:
        return ["Its rollouts over steps need a number"]
    by, color, size = _height(numeric), _kl_column(), length_column(run.frame)
    needed = [name for name in dict.fromkeys(["step", by, color, size, "reward"]) if name in run.frame.columns]
    rows = run.frame.iloc[places][needed]
    pair = _chosen(view, rows, "reward" if "reward" in needed else by)
    drawn = timeline(rows, by, color, size, np.array(pair or (), np.int64))
    _timeline(view, drawn, (by, color, size), pair)
    if pair is not None:
        _pair(view, rows["step"], pair)
    return [] if np.isfinite(drawn.color).any() else ["The colour of the dots, KL, needs logprobs and ref_logprobs"]


def _head(prompt: int, facts: "pd.Series[Any]", order: IntArray, cohort: str) -> None:
    """What became of the prompt, and the ways on: to those before and after it in the list, and back to all."""
    before, after = neighbours(order, prompt)
    with in_line("prompt_links"):
        st.button("All prompts", key="all_prompts", on_click=place.go, kwargs={"prompt": None})
        _move("◀ Prompt", before, "prompt_before")
        _move("Prompt ▶", after, "prompt_after")
        hiding_choice()
        st.text(said(facts, cohort))
        filter_chips.offer("Filter: this prompt", of_prompts([prompt]), "prompt_chip")


def _move(label: str, prompt: int | None, key: str) -> None:
    st.button(label, key=key, disabled=prompt is None, on_click=place.go, kwargs={"prompt": prompt})


def said(facts: "pd.Series[Any]", cohort: str) -> str:
    """One line on the prompt."""
    parts = [f"{plural(int(facts['rollouts']), 'rollout')} at {plural(int(facts['visits']), 'step')}"]
    if pd.notna(facts["reward"]):
        parts.append(f"mean reward {fmt(facts['reward'])}")
    if pd.notna(facts["gain"]):
        parts.append(f"{fmt(facts['first'])} → {fmt(facts['last'])}")
    if cohort:
        parts.append(NAMES[cohort])
    if pd.notna(facts["wins"]):
        parts.append(f"above the reference in {fmt(100 * facts['wins'])} %")
    return " · ".join(parts)


def _text(view: View, key: int) -> None:
    """The prompt and the expected answer, as the first rollout has them."""
    rollout, name = view.run.rollout(key), text_column(view.run)
    prompt, cut = without_system_prompt(str((name and rollout.texts.get(name)) or ""), view.hiding)
    truth = rollout["ground_truth"]
    panes = [("Prompt" + (" · system prompt hidden" if cut else ""), prompt)] if prompt else []
    panes += [] if truth is None else [("Ground truth", str(truth))]
    cells = st.grid(max(1, len(panes)), min_column_width=TEXT_WIDTH, gap="medium")
    for at, (label, text) in enumerate(panes):
        with cells.cell():
            verbatim.show(shorten(text, SHOWN_CHARS), key=f"prompt_pane_{at}", caption=label, height=PROMPT_HEIGHT)


def _height(numeric: list[str]) -> str:
    """Draw the choice of what is drawn over steps, and return it: the reward unless the reader chooses another number."""
    usual = numeric.index("reward") if "reward" in numeric else 0
    with in_line():
        st.subheader("How did it go?", anchor=False, width="content")
        chosen: str | None = st.selectbox(
            "Over steps",
            **linked.choice("prompt_height", numeric, numeric[usual], label=heading),
            width=220,
            label_visibility="collapsed",
        )
    return chosen or numeric[usual]


def _kl_column() -> str:
    """The column of the KL by the estimator in force."""
    return kl_column(estimator())


def _chosen(view: View, rows: pd.DataFrame, by: str) -> tuple[int, int] | None:
    """The keys of the two rollouts to compare: those of the link, else the usual two; None where there are none."""
    linked_keys = [view.run.key_of(str(source)) if (source := place.part(side)) is not None else None for side in _SIDES]
    others = [side for side, key in zip(_SIDES, linked_keys, strict=True) if key is not None and key not in rows.index]
    if others:
        st.text("A rollout that the link compares is not one of these: the usual two are compared.")
        place.fill_in(**dict.fromkeys(_SIDES))
    elif linked_keys[0] is not None and linked_keys[1] is not None:
        return linked_keys[0], linked_keys[1]
    return usual_pair(rows, by)


def _timeline(view: View, drawn: Timeline, columns: tuple[str, str, str | None], pair: tuple[int, int] | None) -> None:
    """The points, or one line where there is none; a click on one compares it with the one chosen before."""
    by, color, size = columns
    if not drawn.total:
        st.text(f"No rollout of this prompt has a number for {heading(by)}.")
        return
    if len(drawn.keys) < drawn.total:
        st.text(
            f"{len(drawn.keys):,} of {drawn.total:,} rollouts are drawn: the highest and the lowest of each step or few steps, others evenly."
        )
    words = NumberNames(
        height=heading(by),
        color=heading(color) if np.isfinite(drawn.color).any() else "",
        size=heading(size) if size is not None and np.isfinite(drawn.size).any() else "",
        best="best" if by == "reward" else "highest",
    )
    prompt_timeline.show(
        prompt_timeline.payload(drawn, words),
        drawn,
        chosen=pair,
        step=view.step,
        key=TIMELINE,
        on_pick=_picked(view, drawn, pair),
    )


@place.callback
def _picked(view: View, drawn: Timeline, pair: tuple[int, int] | None) -> None:
    """A callback for the timeline: the point that was chosen is the second, and what was second is the first."""
    picked = place.reported(TIMELINE, "picked")
    if not isinstance(picked, int | float) or picked not in drawn.keys.tolist():
        return
    key = int(picked)
    if pair is not None and key in pair:
        return
    before = pair[1] if pair is not None else next((int(one) for one in drawn.keys if one != key), key)
    first, second = view.run.sources(np.array([before, key], np.int64))
    place.go(prompt=place.part("prompt"), first=first, second=second)


def _pair(view: View, steps: "pd.Series[int]", pair: tuple[int, int]) -> None:
    """The two against each other, the earlier one first."""
    names = dict(zip(pair, "AB", strict=True))
    earlier, later = sorted(names, key=lambda key: (steps.loc[key], key)) if len(names) > 1 else (pair[0], pair[0])
    with in_line("prompt_pair"):
        st.subheader("What tells them apart?" if steps.nunique() == 1 else "What changed?", anchor=False)
        for key in dict.fromkeys((earlier, later)):
            where = place.link(step=int(steps.loc[key]), rollout=view.run.sources(np.array([key], np.int64))[0])
            st.page_link("board/ui/pages/responses/responses.py", label=f"Open {names[key]}", query_params=where)
    called = partial(_called, view, steps, names)
    rollout_pair.draw(called(earlier), called(later))


def _called(view: View, steps: "pd.Series[int]", names: dict[int, str], key: int) -> Called:
    return Called(view, key, f"response {names[key]} of step {int(steps.loc[key]):,}")
