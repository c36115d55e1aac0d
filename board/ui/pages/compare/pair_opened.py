"""One prompt that two runs saw, opened: its text, and a response of either run."""

from dataclasses import replace
from typing import Final

import streamlit as st

from board.analysis.compare import run_pair
from board.analysis.compare.run_pair import RESPONSES, VISITS, Response, RunPair, Visit
from board.analysis.prompts.prompt_list import text_column
from board.text.counting import plural
from board.text.display import shorten
from board.text.format_number import fmt
from board.text.system_prompts import without_system_prompt
from board.ui.components import verbatim
from board.ui.frame.compared_runs import ComparedSide
from board.ui.shared import rollout_pair
from board.ui.shared.messages import in_line
from board.ui.shared.rollout_pair import Called
from board.ui.state import linked, place
from board.ui.state.place import View

PROMPT_HEIGHT: Final = 140
"""Longer prompts scroll in a pane of so many pixels."""
SHOWN_CHARS: Final = 20_000
"""So much of a prompt is shown; the rest is on the Responses page."""

Sides = tuple[ComparedSide, ComparedSide]


def draw(pair: RunPair, sides: Sides, prompt: int) -> None:
    """The prompt with that key in `pair.prompts`, and the two rollouts that the reader chose to stand for it."""
    st.subheader("What did they answer?", anchor=False)
    with st.container(horizontal=True, vertical_alignment="bottom", gap="small", key="pair_opened"):
        visit, response = _choices(pair)
        st.button("Close", key="pair_close", on_click=place.go, kwargs={"pair_prompt": None}, type="tertiary")
    keys = run_pair.rollouts_of_prompt(pair, prompt, visit, response)
    both = [_called(letter, side, key) for letter, side, key in zip("AB", sides, keys, strict=True)]
    st.text(_said(pair, prompt))
    _prompt(both[0])
    with in_line("pair_links"):
        for letter, side, called in zip("AB", sides, both, strict=True):
            _links(letter, side, called)
    rollout_pair.draw(both[0], both[1])


def _choices(pair: RunPair) -> tuple[Visit, Response]:
    """Draw the choices of the visit and of its response, and return them."""
    visit: Visit = VISITS[0]
    if pair.visits == "same step":
        visit = st.segmented_control("Step", **linked.choice("compare_visit", VISITS), required=True, help=_VISIT) or visit
    response = st.segmented_control("Response", **linked.choice("compare_response", RESPONSES), required=True, help=_RESPONSE)
    return visit, response or RESPONSES[0]


_VISIT: Final = "The step at which both saw it and their means lie furthest apart, or the last of either run."
_RESPONSE: Final = "Of several responses at that step the one with the largest number, with the least, or the first written."


def _called(letter: str, side: ComparedSide, key: int) -> Called:
    run = side.run
    view = replace(place.view(), run=run, whole=side.whole, unfiltered=run, whole_unfiltered=side.whole)
    return Called(view, key, f"{letter} at step {int(run.frame['step'].loc[key]):,}", side.name)


def _said(pair: RunPair, prompt: int) -> str:
    """The prompt's numbers in one line."""
    (row,) = pair.prompts.loc[[prompt]].to_dict("records")
    means = f"mean {fmt(row['mean_a'])} in A, {fmt(row['mean_b'])} in B"
    counts = f"{plural(row['rollouts_a'], 'rollout')} of A and {row['rollouts_b']:,} of B"
    return f"{means} · {plural(row['pairs'], 'visit')} of both, {counts}"


def _prompt(called: Called) -> None:
    """The prompt, as A has it."""
    view: View = called.view
    name = text_column(view.run)
    text = (called.rollout.texts.get(name) if name else None) or ""
    prompt, cut = without_system_prompt(text, view.hiding)
    if prompt:
        caption = "Prompt" + (" · system prompt hidden" if cut else "")
        shown = shorten(prompt, SHOWN_CHARS)
        verbatim.show(shown, key="pair_prompt_pane", caption=caption, height=PROMPT_HEIGHT)


def _links(letter: str, side: ComparedSide, called: Called) -> None:
    """The ways to the rollout in its own run."""
    where = place.link(run=side.address, step=called.rollout.step, rollout=called.rollout.source)
    st.page_link("board/ui/pages/responses/responses.py", label=f"Response of {letter}", query_params=where)
    if called.rollout.tokens is not None:
        st.page_link("board/ui/pages/tokens/tokens.py", label=f"Tokens of {letter}", query_params=where)
