"""What the reader chooses on the page All tokens, as frozen dataclasses. Draws controls only; computes and loads nothing."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final, get_args

import streamlit as st

from board.analysis import token_places
from board.analysis.segments import Kind
from board.analysis.token_list import Sign, Wanted
from board.metrics.formulas import DEFAULT_ESTIMATOR
from board.ui import linked_widgets
from board.ui.controls import ALL_STEPS, THIS_STEP, estimator_choice

_FIRST: Final = ("log_ratio", "kl")
"""What is shown unless the link says otherwise: the first of them that the run has."""

_PARTS: Final[dict[token_places.Part, str]] = {"whole": "Whole response", "beginning": "First 64 tokens", "end": "Last 64 tokens"}


@dataclass(frozen=True)
class TokenChoices:
    """Which tokens, by what."""

    metric: str
    estimator: str
    all_steps: bool


def token_choices(metrics: Sequence[str], on_metric: Callable[[], None]) -> TokenChoices:
    """Draw the choice of metric and scope in one row and return them."""
    default = next((name for name in _FIRST if name in metrics), metrics[0])
    with st.container(horizontal=True, vertical_alignment="bottom"):
        metric = st.selectbox(
            "Token metric",
            list(metrics),
            index=list(metrics).index(default),
            key="of_tokens",
            bind="query-params",
            persist_state="session",
            on_change=on_metric,
            width=200,
        )
        scope = st.segmented_control(
            "Tokens of",
            [THIS_STEP, ALL_STEPS],
            default=THIS_STEP,
            required=True,
            key="tokens_scope",
            bind="query-params",
            persist_state="session",
            on_change=on_metric,
        )
        estimator = estimator_choice() if metric == "kl" else DEFAULT_ESTIMATOR
    return TokenChoices(str(metric), estimator, scope == ALL_STEPS)


def part_choice() -> token_places.Part:
    """Draw the choice of the part of the response that the picture shows, and return it."""
    titles = {title: part for part, title in _PARTS.items()}
    chosen = st.segmented_control(
        "Part of the response",
        list(titles),
        default=next(iter(titles)),
        required=True,
        key="token_part",
        bind="query-params",
        label_visibility="collapsed",
    )
    return titles.get(str(chosen), "whole")


def wanted_choices(*, named: bool, signed: bool) -> Wanted:
    """Draw what the listed tokens are narrowed by, and return it: `named` where the run has tokens, `signed` where it has advantages."""
    with st.container(horizontal=True, vertical_alignment="bottom", gap="small"):
        text = st.text_input("Token contains", key="token_text", bind="query-params", width=150) if named else ""
        with st.popover("List options"), linked_widgets.folded():
            segment = _segment_choice() if named else None
            first = st.number_input("From position", 1, value=1, key="token_from", bind="query-params", width=320)
            last = st.number_input(
                "To position", 1, value=None, key="token_to", bind="query-params", width=320, placeholder="the end"
            )
            sign = _sign_choice() if signed else "any"
    return Wanted(text or "", segment, int(first), None if last is None else int(last), sign)


def _segment_choice() -> Kind | None:
    kinds = get_args(Kind)
    chosen = st.selectbox(
        "Segment", ["", *kinds], key="token_segment", bind="query-params", format_func=lambda one: one or "any", width=320
    )
    return next((one for one in kinds if one == chosen), None)


def _sign_choice() -> Sign:
    signs = get_args(Sign)
    chosen = st.segmented_control("Advantage", signs, default="any", required=True, key="token_sign", bind="query-params")
    return next(one for one in signs if one == chosen)
