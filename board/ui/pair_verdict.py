"""The answer of a comparison in numbers: the difference and its interval, how many prompts matched, and on how many B wins. Draws only."""

from collections.abc import Sequence
from html import escape
from typing import Final

import streamlit as st

from board.analysis.bootstrap import COVERAGE, RESAMPLES
from board.analysis.paired_prompts import PairedDifference
from board.analysis.run_pair import RunPair
from board.figures.theme import COLORS
from board.schema import heading, unit
from board.text.counting import plural
from board.text.format_number import fmt
from board.ui.beside_runs import BesideRun

BAR_HEIGHT: Final = 14


def draw(pair: RunPair, sides: tuple[BesideRun, BesideRun]) -> None:
    """The numbers in a row, a sentence that says how to take them, and wins, ties and losses as one bar."""
    total, of = pair.total, f" {unit(pair.metric)}".rstrip() if unit(pair.metric) != heading(pair.metric) else ""
    with st.container(horizontal=True, gap="small", key="pair_numbers_row"):
        st.metric("Difference, B − A", f"{signed(total.difference)}{of}", width="content")
        st.metric(f"{COVERAGE:.0%} interval", interval(total.low, total.high), width="content")
        st.metric("Prompts in both", f"{total.prompts:,}", width="content")
        st.metric("Only in A", f"{pair.unpaired[0]:,}", width="content")
        st.metric("Only in B", f"{pair.unpaired[1]:,}", width="content")
    if total.prompts:
        st.text(verdict(pair))
        st.html(bar(total, [side.color for side in sides]))
        st.text(counted(total))


def signed(value: float) -> str:
    """A difference with its sign."""
    return f"{'+' if value > 0 else ''}{fmt(value)}"


def interval(low: float, high: float) -> str:
    """Both ends; a dash where there is none."""
    return f"{signed(low)} to {signed(high)}" if low == low else fmt(None)


def verdict(pair: RunPair) -> str:
    """Whether the runs are told apart, and what the interval is of."""
    total = pair.total
    seen = "at the same step" if pair.visits == "same step" else "at their last visits"
    if total.low != total.low:
        said = "One prompt has no interval."
    elif total.told_apart:
        said = f"B lies {'above' if total.low > 0 else 'below'} A by more than chance: the interval leaves zero out."
    else:
        said = "The runs are not told apart: zero lies in the interval."
    pairs = plural(total.pairs, "pair")
    return f"{said} {pairs} {seen}, each the mean of a prompt's rollouts in either run; bootstrap over prompts, {RESAMPLES:,} resamples."


def bar(total: PairedDifference, colors: Sequence[str]) -> str:
    """Wins, ties and losses as the parts of one bar: B's colour, grey, A's."""
    parts = [
        (total.win, colors[1], f"B above A in {plural(total.win, 'prompt')}"),
        (total.tie, COLORS["reference"], f"level in {plural(total.tie, 'prompt')}"),
        (total.loss, colors[0], f"B below A in {plural(total.loss, 'prompt')}"),
    ]
    drawn = "".join(
        f'<span style="flex:{count} 0 0;background:{color}" title="{escape(told)}"></span>'
        for count, color, told in parts
        if count
    )
    label = ", ".join(told for _, _, told in parts)
    return f'<div role="img" aria-label="{escape(label)}" style="display:flex;gap:2px;height:{BAR_HEIGHT}px">{drawn}</div>'


def counted(total: PairedDifference) -> str:
    """The same in words, with shares."""
    parts = [("win: B above A", total.win), ("tie", total.tie), ("loss: B below A", total.loss)]
    return " · ".join(f"{count:,} {name} ({100 * count / total.prompts:.0f} %)" for name, count in parts)
