"""Two rollouts compared: their numbers, their texts word by word, their tokens.

The first is what the second is compared with: what it alone says is struck through, what the second alone says is underlined. The colours,
their range and what one colour stands for are those of the link, in both views alike, be they of one run or of two; what is pinned is each
view's own.
"""

from dataclasses import dataclass
from functools import partial
from typing import Final, Literal

import pandas as pd
import streamlit as st

from board.analysis.rollouts import pair_differences
from board.analysis.stats.text_diff import Diff, compare, fold
from board.analysis.tokens.color_ranges import joint_ends
from board.runs.cache.rollout import Rollout
from board.text.counting import plural
from board.ui.components import diff_view, table, token_view
from board.ui.shared import token_panel
from board.ui.shared.controls import estimator
from board.ui.shared.messages import absent
from board.ui.shared.rollout_breakdown import UNITS
from board.ui.shared.token_panel import Pane
from board.ui.state import caches, place
from board.ui.state.place import View

DIFF_HEIGHT: Final = 360
TEXT_HEIGHT: Final = 300
NUMBERS_HEIGHT: Final = 120
"""Longer comparisons, texts and tables scroll in panes of so many pixels."""
VIEW_WIDTH: Final = 480
"""The token views stand side by side while each has so many pixels."""

_RANGES: Final = ("q", "step", "run", "fixed")
"""Colour ranges that mean the same in two views; where the link has another, that of both responses is taken."""

Side = Literal["first", "second"]
_SIDES: Final[tuple[Side, ...]] = ("first", "second")
_KEYS: Final[dict[Side, str]] = {"first": "pair_first", "second": "pair_second"}


@dataclass(frozen=True)
class Called:
    """One of the two: the run it is of, as the page views it, its key, and what the page calls it ("the worst", "step 12"), shown as text."""

    view: View
    key: int
    name: str
    run: str = ""
    """What the page calls its run; empty where both are of one."""

    @property
    def rollout(self) -> Rollout:
        """The rollout itself."""
        return self.view.run.rollout(self.key)


def draw(first: Called, second: Called) -> None:
    """Draw the two, once on a page. The choice of them is the page's, which keeps it in the place."""
    both = (first, second)
    _numbers(both)
    if first.key == second.key and first.view.run.address == second.view.run.address:
        st.text("Both are the same rollout: choose another for one of them.")
        return
    difference = caches.cached(
        "pair_diff",
        lambda: compare(text_of(first.rollout), text_of(second.rollout)),
        first.view.run,
        first.key,
        second.key,
        other=second.view.run,
    )
    st.text(difference_line(difference, first.name, second.name))
    diff_view.show(fold(difference.runs), key="pair_diff", height=DIFF_HEIGHT)
    _tokens({"first": first, "second": second})


def text_of(rollout: Rollout) -> str:
    """The response, or its tokens joined where the row has no text of it."""
    return str(rollout["response"]) if rollout["response"] is not None else "".join(rollout.tokens or ())


def difference_line(difference: Diff, first: str, second: str) -> str:
    """One line on how the two texts differ, and how to read the marks."""
    if all(run.side == "both" for run in difference.runs):
        return f"The two responses are the same: {plural(difference.words('both'), 'word')}."
    parts = [
        f"{plural(difference.words('new'), 'word')} only in {second}, underlined",
        f"{difference.words('old'):,} only in {first}, struck through",
        f"{difference.words('both'):,} in both",
        UNITS[difference.unit],
    ]
    return " · ".join(filter(None, parts))


def _numbers(both: tuple[Called, Called]) -> None:
    """The numbers of the two, a row each; the columns of either, those of the first in front."""
    found = [pair_differences.numbers(one.view.run, [one.key]) for one in both]
    columns = list(dict.fromkeys(name for one in found for name in one.columns))
    frame = pd.concat([one.reindex(columns=columns) for one in found], ignore_index=True)
    frame.insert(0, "which", [one.name for one in both])
    if any(one.run for one in both):
        frame.insert(1, "run", [one.run for one in both])
    frame["rollout"] = [one.rollout.source for one in both]
    table.show(frame, {}, name="numbers of both", key="numbers_of_both", height=NUMBERS_HEIGHT)


def _tokens(sides: dict[Side, Called]) -> None:
    """The two token views, each beginning where their tokens part."""
    if any(side.rollout.tokens is None for side in sides.values()):
        absent("Comparing token by token", "response_tokens", of="rollout")
        return
    panes = {name: token_panel.pane(side.view, side.rollout, estimator()) for name, side in sides.items()}
    shown = {name: [pane.tokens[at] for at in pane.shown] for name, pane in panes.items()}
    at = pair_differences.parting(shown["first"], shown["second"])
    st.text(
        f"All {plural(len(shown['first']), 'token')} are the same."
        if at is None
        else f"The first {f'{at:,} tokens are' if at > 1 else 'token is'} the same; where they part is pinned in both. "
        "Colours mean the same in both."
        if at
        else "They part at the first token. Colours mean the same in both."
    )
    cells = st.grid(2, min_column_width=VIEW_WIDTH, gap="medium")
    slots = {name: cells.cell() for name in panes}
    # The one the reader has just used comes first: what he chose there is in the place when the other asks for it.
    for name in sorted(panes, key=lambda name: name != place.remembered("pair_used")):
        with slots[name]:
            st.text(" · ".join(filter(None, (sides[name].name, sides[name].run, sides[name].rollout.source))))
            _view(panes, name, at)


def _view(panes: dict[Side, Pane], side: Side, parting: int | None) -> None:
    """One of the two token views: its colours, and where they end, are those of both."""
    pane, both = panes[side], [*panes.values()]
    joint = joint_ends((one.arrays, one.rollout.counts) for one in both)
    key, total = _KEYS[side], len(pane.shown)
    window = token_view.window(total, parting or 0)
    built = token_panel.payload(pane, window, TEXT_HEIGHT, key=key, joint=joint)
    earlier = place.remembered(key)
    at = None if parting is None or not total else min(parting, total - 1)
    pinned, others, stretch = earlier[1:] if earlier and earlier[0] == built.stamp else (at, (), None)
    scale = str(place.part("scale") or token_panel.DEFAULT_SCALE)
    choice = token_view.Choice(
        token_panel.shown_metric(*both) or token_panel.shown_metric(pane),
        pinned,
        scale=scale if scale.partition(":")[0] in _RANGES else token_panel.DEFAULT_SCALE,
        others=others,
        granularity=str(place.part("granularity") or token_panel.DEFAULT_GRANULARITY),
        window=stretch,
    )
    result = token_view.mount(
        built,
        choice,
        lambda scope: token_panel.joined_ends(both, scope),
        on_change=partial(place.remember, pair_used=side),
        on_estimator=partial(token_panel.take_estimator, key),
    )
    place.remember(**{key: (built.stamp, result.pinned, result.others, result.window)})
    place.fill_in(metric=result.metric, granularity=result.granularity)
    if result.scale != choice.scale:
        place.fill_in(scale=result.scale)
