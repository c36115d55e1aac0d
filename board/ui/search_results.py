"""What a search found, drawn: hits by step and what they earn, the places in context, and the rollout of the one that is open.

Knows a search that is made already; what is looked for is chosen on the pages.
"""

import time
from contextlib import suppress
from dataclasses import dataclass
from typing import Final

import numpy as np
import pandas as pd
import streamlit as st
from numpy.typing import NDArray

from board.analysis.concordance import Occurrence, Order, lines, ordered, spread, token_at
from board.analysis.selection import page, pages
from board.analysis.text_search import How, SearchText, by_step, count_hits
from board.errors import FieldMissing
from board.figures.search_panels import reward_panel, share_panel
from board.runs.run import Run
from board.sql.identifiers import literal
from board.text.counting import plural
from board.text.display import on_one_line
from board.text.format_number import fmt
from board.ui import caches, filter_chips, place, rollout_detail
from board.ui.components import concordance, curves
from board.ui.components.concordance import OccurrenceRow
from board.ui.components.curves import Card, CurvesPayload, build
from board.ui.messages import unfilled
from board.ui.place import View

HOWS: Final[dict[How, str]] = {"words": "All words", "phrase": "Phrase", "expression": "Regular expression"}
"""How a text is looked for, as the page Search and its links call it."""

_MOST_ROLLOUTS: Final = 2_000
"""Of more rollouts with a hit, the places of so many are listed, evenly from all."""

_PAGE_LINES: Final = 100
_PLOT_HEIGHT: Final = 130
_CURVES: Final = "search_curves"
_LINES: Final = "search_lines"
_TICK_SECONDS: Final = 0.2


_SEARCHED_UNASKED: Final = 200_000
_FEW_OF: Final = 4
"""Under a filter all rollouts are searched, too: up to so many, and more where the filter leaves a fourth of them."""

_ALL_HELP: Final = "Draws the same of all rollouts, dashed: they are searched as well, which takes longer."


@dataclass(frozen=True)
class Search:
    """What is looked for, in which texts, and how its places are listed."""

    wanted: SearchText
    columns: tuple[str, ...]
    order: Order

    @property
    def key(self) -> tuple[str, ...]:
        """Tells one search from another, whatever the order of its lines."""
        return (self.wanted.how, str(self.wanted.exact_case), ",".join(self.columns), self.wanted.text)


def _beside_all(view: View) -> bool:
    """Whether the curves of all rollouts stand beside those of the filter's: always where that takes hardly longer, else if it is asked for."""
    every = view.unfiltered
    if view.run is every:
        return False
    if len(every.frame) <= _SEARCHED_UNASKED or len(view.run.frame) * _FEW_OF >= len(every.frame):
        return True
    return st.toggle("Beside all rollouts", key="search_all", bind="query-params", help=_ALL_HELP)


def _counted(asked: Search, of: Run) -> pd.DataFrame:
    """How often the texts of each rollout of a run hold it; found once for all readers, with progress while it takes long."""
    slot = st.empty()
    began = time.monotonic()
    ticks = [began]

    def show(share: float) -> None:
        if time.monotonic() - ticks[0] >= _TICK_SECONDS:
            ticks[0] = time.monotonic()
            left = (ticks[0] - began) * (1 - share) / share
            slot.progress(share, text=f"Searching {plural(len(of.frame), 'rollout')} · {left:.0f} s left")

    found = caches.built("search", lambda: count_hits(of, asked.wanted, asked.columns, show), of, *asked.key)
    slot.empty()
    return found


def _places_in_context(view: View, asked: Search, counts: pd.DataFrame) -> tuple[list[Occurrence], int]:
    """The places of as many rollouts as are listed, in order, and in how many rollouts there are any; a prompt counts once a step."""
    held = {name: _once(view, name, counts.index.to_numpy()[counts[name].to_numpy() > 0]) for name in asked.columns}
    found = [line for name, keys in held.items() for line in lines(view.run, spread(keys, _MOST_ROLLOUTS), name, asked.wanted)]
    rows = view.run.frame.loc[list({line.key for line in found})]
    steps = dict(zip(rows.index.tolist(), rows["step"].tolist(), strict=True))
    rewards = dict(zip(rows.index.tolist(), rows["reward"].tolist(), strict=True)) if "reward" in rows.columns else {}
    return ordered(found, asked.order, steps, rewards), sum(map(len, held.values()))


def _once(view: View, name: str, keys: NDArray[np.int64]) -> NDArray[np.int64]:
    """Of rollouts of one prompt in one step the first, where it is the prompt that holds it."""
    if name != "prompt":
        return keys
    at = view.run.frame.index.get_indexer(pd.Index(keys))
    groups = pd.DataFrame({"step": view.run.frame["step"].to_numpy()[at], "prompt": view.run.prompt_keys[at]})
    first: NDArray[np.bool_] = ~groups.duplicated().to_numpy()
    return keys[first]


def _condition(asked: Search) -> str:
    """The search as a condition of the filter."""
    return " AND ".join(
        f"({' OR '.join(f'regexp_matches({name}, {literal(one)})' for name in asked.columns)})" for one in asked.wanted.required
    )


def _has_hit(counts: pd.DataFrame) -> NDArray[np.bool_]:
    """Which rollouts are hit, of counts of places."""
    found: NDArray[np.bool_] = (counts > 0).any(axis=1).to_numpy()
    return found


def _curves_of(view: View, asked: Search, counts: pd.DataFrame, every: pd.DataFrame | None) -> None:
    """Hits by step, and what they earn; beside them those of `every` rollout, where they are counted."""
    of = [(view.run, counts)] if every is None else [(view.run, counts), (view.unfiltered, every)]

    def made() -> CurvesPayload:
        found = [
            by_step(one.frame[[name for name in ("step", "reward") if name in one.frame.columns]], _has_hit(found))
            for one, found in of
        ]
        cards = [Card("share", share_panel(*found))]
        with suppress(FieldMissing):
            cards.append(Card("reward", reward_panel(*found)))
        return build(cards, span=(int(view.run.steps[0]), int(view.run.steps[-1])), height=_PLOT_HEIGHT, columns=2)

    payload = caches.curves("search", made, view.run, *asked.key, str(len(of)))
    curves.show(
        payload,
        key=_CURVES,
        on_click=place.step_clicked(_CURVES, view.run.steps),
        on_zoom=place.zoomed(_CURVES),
        on_keep=filter_chips.steps_kept(_CURVES),
    )
    if "reward" not in payload.keys:
        unfilled(["Whether it pays needs reward"])


def _concordance_of(view: View, asked: Search, counts: pd.DataFrame) -> Occurrence | None:
    """The places in context, a page at a time; the one that is open."""
    found, rollouts = caches.built(
        "concordance", lambda: _places_in_context(view, asked, counts), view.run, *asked.key, asked.order
    )
    count = pages(len(found), _PAGE_LINES)
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        number = st.pagination(count, key="search_page", bind="query-params") if count > 1 else 1
        numbers = page(np.arange(len(found)), number, _PAGE_LINES)
        shown = [found[at] for at in numbers.tolist()]
        notes = [f"{int(numbers[0]) + 1:,} to {int(numbers[-1]) + 1:,} of {plural(len(found), 'line')}"]
        notes += ["a prompt once a step"] if "prompt" in asked.columns else []
        notes += (
            [f"of {_MOST_ROLLOUTS:,} rollouts, evenly from {rollouts:,}"]
            if rollouts > _MOST_ROLLOUTS * len(asked.columns)
            else []
        )
        st.text(" · ".join(notes))
    opened = next((at for at, line in enumerate(shown) if _is_open(view, line)), None)
    has_reward = "reward" in view.run.frame.columns
    heads = ["step", *(["reward"] if has_reward else []), *(["in"] if len(asked.columns) > 1 else [])]
    concordance.show(
        [_row(view, line, heads) for line in shown], heads, opened=opened, key=_LINES, on_open=lambda: _go_to(view, shown)
    )
    return shown[opened] if opened is not None else None


def _row(view: View, line: Occurrence, heads: list[str]) -> OccurrenceRow:
    """A place as it is drawn: on one line, what cannot be seen made visible."""
    rollout = view.run.frame.loc[line.key].to_dict()
    known = {"step": f"{rollout['step']:,}", "reward": fmt(float(rollout.get("reward", np.nan))), "in": line.column}
    left, match, right = (on_one_line(text) for text in (line.left, line.match, line.right))
    return OccurrenceRow(left, match, right, tuple(known[head] for head in heads), line.column)


def _go_to(view: View, shown: list[Occurrence]) -> None:
    """To be called when a place is clicked: its rollout becomes the reader's, marked there."""
    at = place.reported(_LINES, "opened")
    if isinstance(at, int) and 0 <= at < len(shown):
        line = shown[at]
        rollout = view.run.rollout(line.key)
        place.go(step=rollout.step, rollout=rollout.source)
        token = token_at(rollout.tokens, line.start, line.match) if line.column == "response" and rollout.tokens else None
        place.fill_in(token=token, mark=f"{line.column}:{line.start}-{line.stop}")


def _is_open(view: View, line: Occurrence) -> bool:
    """Whether this is the place that the link names."""
    return place.marked(line.column) == (line.start, line.stop) and place.asked_rollout(view.run) == line.key


def _opened(view: View, line: Occurrence | None) -> None:
    """The rollout of the place that is open, with the ways to its texts and tokens."""
    if line is None:
        st.text("Click a line to open its rollout here.")
        return
    rollout_detail.draw(view, line.key, (None, None))


def draw(view: View, asked: Search) -> None:
    """Everything that is said of what is looked for."""
    every = _counted(asked, view.unfiltered) if _beside_all(view) else None
    counts = _counted(asked, view.run) if every is None else every.loc[view.run.frame.index]
    hit = _has_hit(counts)
    places, rollouts = int(counts.to_numpy().sum()), int(hit.sum())
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        st.text(f"{plural(places, 'place')} in {rollouts:,} of {plural(len(view.run.frame), 'rollout')} ({hit.mean():.1%})")
        if rollouts:
            st.button("Filter every page by it", key="search_filter", on_click=filter_chips.add, args=(_condition(asked),))
    if not rollouts:
        return
    _curves_of(view, asked, counts, every)
    with st.container(key="search_results"):
        left, right = st.columns([5, 3], gap="medium")
    with left:
        line = _concordance_of(view, asked, counts)
    with right:
        _opened(view, line)
