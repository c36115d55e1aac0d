"""The answer of a comparison in numbers: difference, interval, prompts paired, wins."""

from collections.abc import Sequence
from html import escape
from typing import Final

import streamlit as st

from board.analysis.compare.pair_notes import FEW_PROMPTS
from board.analysis.compare.paired_prompts import PairedDifference
from board.analysis.compare.run_pair import RunPair
from board.analysis.stats.bootstrap import COVERAGE, RESAMPLES
from board.figures.theme import COLORS
from board.schema import heading, unit
from board.text.counting import plural
from board.text.format_number import fmt, signed
from board.ui.components import facts
from board.ui.frame.compared_runs import ComparedSide
from board.ui.pages.compare import pair_export

NO_VERDICT: Final = "The runs may be on different scales: the difference does not say which is better."

BAR_HEIGHT: Final = 14
BAR_WIDTH: Final = 420
"""In pixels."""


def draw(pair: RunPair, sides: tuple[ComparedSide, ComparedSide]) -> None:
    """The numbers in a row with wins, ties and losses as one bar; below it how to take them, and what saves them all as a file."""
    total, of = pair.total, f" {unit(pair.metric)}".rstrip() if unit(pair.metric) != heading(pair.metric) else ""
    with st.container(horizontal=True, vertical_alignment="center", gap="medium", key="pair_verdict"):
        numbers = {
            "Difference, B − A": f"{signed(total.difference)}{of}",
            f"{COVERAGE:.0%} interval": interval(total.low, total.high),
            "Prompts paired": f"{total.prompts:,}",
            "Unpaired of A": f"{pair.unpaired[0]:,}",
            "Unpaired of B": f"{pair.unpaired[1]:,}",
        }
        facts.show(numbers, key="pair_verdict_numbers")
        if total.prompts and not pair.has_scales_apart:
            with st.container(gap="xsmall", width=BAR_WIDTH):
                st.html(bar(total, [side.color for side in sides]))
                st.caption(counted(total))  # our own words and numbers: a caption reads Markdown
    with st.container(horizontal=True, vertical_alignment="center", gap="medium", key="pair_answer"):
        if total.prompts:
            st.text(NO_VERDICT if pair.has_scales_apart else verdict(total), width="content")
        pair_export.draw(pair, sides)
    if total.prompts:
        st.caption(method(pair))


def interval(low: float, high: float) -> str:
    """Both ends; a dash where there is none."""
    return f"{signed(low)} to {signed(high)}" if low == low else fmt(None)


def verdict(total: PairedDifference) -> str:
    """Whether the runs differ by more than chance; `total` has one prompt at least."""
    if total.prompts < FEW_PROMPTS:
        return "Too few prompts were paired to say whether the runs differ."
    if total.tie == total.prompts:
        return "The runs are level on every prompt."
    if total.excludes_zero:
        return f"B lies {'above' if total.low > 0 else 'below'} A by more than chance: the interval leaves zero out."
    return "The runs do not differ by more than chance: zero lies in the interval."


def method(pair: RunPair) -> str:
    """What was paired, and what the interval is."""
    seen = "at the same step" if pair.visits == "same step" else "at the last step of either run that saw them"
    pairs = plural(pair.total.pairs, "pair")
    return (
        f"Paired are prompts that both runs saw {seen}: {pairs}, each the means of a prompt's rollouts. "
        f"The interval is a bootstrap over prompts, {RESAMPLES:,} resamples. A win is a prompt on which B lies above A."
    )


def bar(total: PairedDifference, colors: Sequence[str]) -> str:
    """Wins, ties and losses as the parts of one bar: B's colour, grey, A's."""
    parts = [
        (total.win, colors[1], f"B above A in {plural(total.win, 'prompt')}"),
        (total.tie, COLORS["reference"], f"level in {plural(total.tie, 'prompt')}"),
        (total.loss, colors[0], f"B below A in {plural(total.loss, 'prompt')}"),
    ]
    drawn = "".join(
        f'<span style="flex:{count} 0 0;background:{color}" title="{escape(words)}"></span>'
        for count, color, words in parts
        if count
    )
    label = ", ".join(words for _, _, words in parts)
    return f'<div role="img" aria-label="{escape(label)}" style="display:flex;gap:2px;height:{BAR_HEIGHT}px">{drawn}</div>'


def counted(total: PairedDifference) -> str:
    """Wins, ties and losses in words, with shares."""
    parts = [("win", total.win), ("tie", total.tie), ("loss", total.loss)]
    return " · ".join(f"{name} {count:,} ({100 * count / total.prompts:.0f} %)" for name, count in parts)
