"""Controls of the page All tokens, which return the choices as frozen dataclasses."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final, get_args

import streamlit as st

from board.analysis.tokens.position_profile import Part
from board.analysis.tokens.segments import Kind
from board.analysis.tokens.token_list import Sign, TokenFilter
from board.metrics.formulas import DEFAULT_ESTIMATOR
from board.ui.shared.controls import ALL_STEPS, THIS_STEP, estimator_choice
from board.ui.state import linked

_FIRST: Final = ("log_ratio", "kl")
"""What is shown unless the link says otherwise: the first of them that the run has."""

_PARTS: Final[dict[Part, str]] = {"whole": "Whole response", "beginning": "First 64 tokens", "end": "Last 64 tokens"}


@dataclass(frozen=True)
class TokenChoices:
    """Which tokens, by what."""

    metric: str
    estimator: str
    all_steps: bool


def token_choices(metrics: Sequence[str], on_metric: Callable[[], None]) -> TokenChoices:
    """Draw the choice of metric and scope in one row and return them."""
    default = next((name for name in _FIRST if name in metrics), metrics[0])
    with st.container(horizontal=True, vertical_alignment="bottom", key="token_choices"):
        metric = st.selectbox("Token metric", **linked.choice("of_tokens", list(metrics), default, then=on_metric), width=200)
        scope = st.segmented_control(
            "Tokens of", **linked.choice("tokens_scope", [THIS_STEP, ALL_STEPS], THIS_STEP, then=on_metric), required=True
        )
        estimator = estimator_choice() if metric == "kl" else DEFAULT_ESTIMATOR
    return TokenChoices(str(metric), estimator, scope == ALL_STEPS)


def part_choice() -> Part:
    """Draw the choice of the part of the response that the picture shows, and return it."""
    titles = {title: part for part, title in _PARTS.items()}
    chosen = st.segmented_control(
        "Part of the response", **linked.choice("token_part", list(titles)), required=True, label_visibility="collapsed"
    )
    return titles.get(str(chosen), "whole")


def token_filter_choices(*, named: bool, signed: bool) -> TokenFilter:
    """Draw what the listed tokens are narrowed by, and return it: `named` where the run has tokens, `signed` where it has advantages."""
    with st.container(horizontal=True, vertical_alignment="bottom", gap="small"):
        text = st.text_input("Token contains", **linked.text("token_text"), width=150) if named else ""
        with st.popover("List options"):
            segment = _segment_choice() if named else None
            first = st.number_input("From position", **linked.number("token_from", 1, 1), width=320)
            last = st.number_input(
                "To position", **linked.number("token_to", None, 1), value=None, width=320, placeholder="the end"
            )
            sign = _sign_choice() if signed else "any"
    return TokenFilter(text or "", segment, int(first), None if last is None else int(last), sign)


def _segment_choice() -> Kind | None:
    kinds = get_args(Kind)
    chosen = st.selectbox("Segment", **linked.choice("token_segment", ["", *kinds], label=lambda one: one or "any"), width=320)
    return next((one for one in kinds if one == chosen), None)


def _sign_choice() -> Sign:
    signs = get_args(Sign)
    chosen = st.segmented_control("Advantage", **linked.choice("token_sign", signs, "any"), required=True)
    return next(one for one in signs if one == chosen)
