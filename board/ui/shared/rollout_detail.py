"""One rollout next to the table: its numbers, its texts, where it came from."""

from contextlib import nullcontext
from typing import Any, Final, Literal

import pandas as pd
import streamlit as st

from board.analysis.rollouts import rollout_facts
from board.analysis.texts.measured_columns import is_measured
from board.errors import BoardError
from board.runs.cache.rollout import Rollout
from board.runs.prompt_keys import NO_PROMPT
from board.schema import DISCARDED, IDS, heading, is_trainers
from board.text.counting import plural
from board.text.display import shorten
from board.text.format_number import fmt
from board.text.system_prompts import without_system_prompt
from board.ui.components import facts, verbatim
from board.ui.components.shortcuts import ROLLOUT_AFTER, ROLLOUT_BEFORE, Shortcut
from board.ui.shared import rollout_breakdown, token_panel
from board.ui.shared.controls import estimator, hiding_choice
from board.ui.shared.messages import in_line, notice
from board.ui.state import filter_chips, place
from board.ui.state.place import View

SHOWN_CHARS: Final = 20_000
"""So much of a text is shown at first; the rest is one switch away."""

LONG_TEXT: Final = 1_500
PANE_HEIGHT: Final = 360
"""A text of more characters than this scrolls in a pane of so many pixels."""

_LINKS: Final = {"tokens": "Open its tokens", "responses": "Open its texts"}
_WITHOUT_TOKENS: Final = "Open its response"
"""What the link to the Tokens page says of a rollout that has none: there is its text."""

_NUMBERS: Final = ("reward", "ref_reward", "reward_gap", "valid_reward", "kl_k3_mean", "response_length")


def draw(view: View, key: int, around: tuple[int | None, int | None]) -> None:
    """Draw the rollout with that key; `around` are the keys before and after it in the reader's order."""
    rollout = view.run.rollout(key)
    top = st.container()
    _numbers(view, key)
    whole = rollout["prompt"] or ""
    prompt, cut = without_system_prompt(whole, view.hiding)
    _text("Prompt", prompt, "prompt", note="system prompt hidden" if cut else "", before=len(whole) - len(prompt))
    response(view, rollout)
    _tokens(view, rollout)
    for label, name in (("Reference response", "ref_response"), ("Ground truth", "ground_truth")):
        if rollout[name] is not None:
            _text(label, rollout[name], name)
        if name == "ref_response":
            rollout_breakdown.against_reference(view, rollout)
    for name in sorted(set(rollout.texts) - {"prompt", "response", "ref_response", "ground_truth"}):
        _text(name, rollout.texts[name], name)
    _raw(view, rollout)
    with top:  # filled last: its links carry what the reader has just pinned in the token view
        head(view, rollout, around, link="tokens")


def response(view: View, rollout: Rollout) -> None:
    """What the policy wrote, letter for letter."""
    if rollout["response"] is not None or rollout.tokens is None:
        _text("Response", rollout["response"] or "", "response", empty="(empty response)")
    else:
        _text("Response", "".join(rollout.tokens), "", note="the row has no response text: these are its tokens, joined")


def head(view: View, rollout: Rollout, around: tuple[int | None, int | None], *, link: Literal["tokens", "responses"]) -> None:
    """Where the rollout came from, and the ways on from it: to its neighbours, and to its other page."""
    with in_line("rollout_links"):
        _move(view, "Previous", around[0], ROLLOUT_BEFORE)
        _move(view, "Next", around[1], ROLLOUT_AFTER)
        where = place.link(step=rollout.step, rollout=rollout.source)
        label = _LINKS[link] if link == "responses" or len(rollout.counts) else _WITHOUT_TOKENS
        st.page_link(f"board/ui/pages/{link}/{link}.py", label=label, query_params=where)
        if (prompt := view.run.prompt_key(rollout.key)) != NO_PROMPT:
            of_prompt = place.link(step=rollout.step, rollout=rollout.source, prompt=prompt)
            st.page_link("board/ui/pages/prompts/prompts.py", label="Its prompt over training", query_params=of_prompt)
        hiding_choice()
        _filter_by(view, rollout.key)
        if link == "tokens":  # the Tokens page says it among the rollout's particulars
            st.text(f"step {rollout.step} · {rollout.source}")
        if rollout.key in view.run.frame.index and view.run.split_of(rollout.key) == DISCARDED:
            st.text("discarded by the trainer")


def _filter_by(view: View, key: int) -> None:
    """What makes a filter of all that is like this rollout, on every page."""
    if key not in view.run.frame.index:
        return
    with st.popover("Filter by"):
        for said, condition in rollout_facts.conditions_of_alike(view.run, key).items():
            filter_chips.offer(said, condition, f"filter_by_{said}")


def _move(view: View, label: str, key: int | None, shortcut: Shortcut) -> None:
    target = view.run.rollout(key) if key is not None else None
    where: dict[str, str | int | None] = {"step": target.step, "rollout": target.source} if target else {}
    st.button(label, key=f"rollout_{label}", shortcut=shortcut.key, disabled=target is None, on_click=place.go, kwargs=where)


def _numbers(view: View, key: int) -> None:
    if key not in view.run.frame.index:  # of a step that is too large to be whole
        return
    row = view.run.frame.loc[[key]]
    facts.show({heading(name): fmt(float(row[name].iloc[0])) for name in _NUMBERS if name in row.columns}, key="rollout_numbers")
    if others := _others(row.iloc[0]):
        st.text(" · ".join(others), width="stretch")


def _others(row: "pd.Series[Any]") -> list[str]:
    """Whatever else the trainer wrote that is short: its own numbers, such as the parts of a reward, and ids."""
    own = [name for name in row.index if name in {*IDS, "group"} or (is_trainers(str(name)) and not is_measured(str(name)))]
    return [
        f"{heading(str(name))} {fmt(float(value)) if isinstance(value, (int, float)) else value}"
        for name, value in row[own].items()
        if pd.notna(value)
    ]


def _text(label: str, text: str, name: str, *, note: str = "", empty: str = "(empty)", before: int = 0) -> None:
    """A labelled text, letter for letter.

    `name` is its field, of which a stretch may be marked; `before` are the characters of it that stand before `text` and are not shown.
    """
    shown = text
    marked = place.marked(name) if name else None
    mark = (marked[0] - before, marked[1] - before) if marked else None
    length = plural(len(shown), "character")
    notes = [part for part in (label, note, length) if part]
    is_long = len(shown) > SHOWN_CHARS
    pane = st.container() if is_long else nullcontext()
    if is_long and not st.toggle(
        f"Show all {len(shown):,} characters", value=bool(mark), key=f"all_{label}", on_change=place.moved
    ):
        shown, mark = shorten(shown, SHOWN_CHARS), None
    height = None if len(shown) < LONG_TEXT else PANE_HEIGHT
    with pane:  # above the switch, which says how much stands in it
        verbatim.show(shown, key=f"text_{label}", caption=" · ".join(notes), empty=empty, height=height, mark=mark)


def _tokens(view: View, rollout: Rollout) -> None:
    """The response coloured by token, once opened."""
    if not len(rollout.counts):
        return
    with st.expander("By token", key="by_token", on_change=place.moved) as expander:
        if expander.open:
            token_panel.draw(token_panel.pane(view, rollout, estimator()), PANE_HEIGHT)


def _raw(view: View, rollout: Rollout) -> None:
    """The line as it stands in the shard, once opened."""
    with st.expander("Raw record", key="raw", on_change=place.moved) as expander:
        if expander.open:
            try:
                st.code(view.run.raw(rollout.key), language=None, wrap_lines=True, height=320)
            except BoardError as error:
                notice(str(error), "warning")
