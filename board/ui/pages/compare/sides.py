"""Which two runs are compared: A, the page's own unless another is chosen, and B."""

import re
from collections.abc import Callable, Sequence
from typing import Literal

import streamlit as st

from board.ui.frame.compared_runs import ComparedSide
from board.ui.state import place

Side = Literal["compare_a", "compare_b"]
"""Parts of the place that name a run as `run` does."""


def pair(sides: Sequence[ComparedSide]) -> tuple[ComparedSide, ComparedSide]:
    """A and B, with what chooses them, side by side in the container that is open: a list for each, and what swaps them. At least two runs."""
    by_address = {side.address: side for side in sides}
    a = by_address.get(str(place.part("compare_a")), sides[0])
    others = [side for side in sides if side.address != a.address]
    b = next((side for side in others if side.address == place.part("compare_b")), others[0])
    _list("A", "compare_a", a, sides, by_address)
    _list("B", "compare_b", b, others, by_address)
    st.button("Swap", key="compare_swap", on_click=place.go, kwargs={"compare_a": b.address, "compare_b": a.address})
    return a, b


def caveats(a: ComparedSide, b: ComparedSide, number: str = "") -> list[str]:
    """Sentences on what of the link was not found and which rollouts of the two are left out; `number` is what is compared."""
    sentences = [
        f"The link compares {linked!r}, which is not among the compared runs: {side.name} is taken as {letter}."
        for letter, part, side in (("A", place.part("compare_a"), a), ("B", place.part("compare_b"), b))
        if (linked := part) is not None and linked != side.address
    ]
    reading = [letter for letter, side in (("A", a), ("B", b)) if side.run.reading]
    if reading:
        sentences.append(
            f"{' and '.join(reading)} {'are' if len(reading) > 1 else 'is'} not read whole: compared is what is read."
        )
    steps = {int(step) for side in (a, b) for step in side.run.steps}
    if len(steps) == 1 and any(len(side.whole.steps) > 1 for side in (a, b)):
        sentences.append(f"Compared is step {steps.pop():,} alone.")
    if place.part("filter"):
        sentences.append(f"Compared are only rollouts that the filter leaves: {place.part('filter')}")
        sentences += chosen_by(number, str(place.part("filter")))
    return sentences


def chosen_by(number: str, condition: str) -> list[str]:
    """A sentence where the filter names the number that is compared: rollouts are chosen by it then, and no interval knows that."""
    if not number or not re.search(rf"(?<![\w.]){re.escape(number)}(?!\w)", condition, re.IGNORECASE):
        return []
    return [
        f"The filter chooses rollouts by {number} itself, which is what is compared: the difference and its interval are of what is left, "
        "and say nothing of the runs. Compare without it, or filter by something else."
    ]


def baseline(sides: Sequence[ComparedSide]) -> ComparedSide:
    """The run that all others are compared with, which is A, with the list that chooses it."""
    by_address = {side.address: side for side in sides}
    a = by_address.get(str(place.part("compare_a")), sides[0])
    _list("Baseline", "compare_a", a, sides, by_address)
    return a


def _list(label: str, part: Side, now: ComparedSide, offered: Sequence[ComparedSide], sides: dict[str, ComparedSide]) -> None:
    key = f"{part}_list"
    place.set_widgets(**{key: now.address})
    st.selectbox(
        label,
        [side.address for side in offered],
        key=key,
        on_change=_chosen(part, key),
        format_func=lambda address: sides[address].name,
        width=210,
    )


def _chosen(part: Side, key: str) -> Callable[[], None]:
    return lambda: place.go(**{part: place.widget_text(key)})
