"""The results of a search, drawn.

Hits by step and what they earn, the places in context, and the rollout of the open place. The search itself is chosen on the pages.
"""

import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from typing import Final

import numpy as np
import pandas as pd
import streamlit as st
from numpy.typing import NDArray

from board.analysis.rollouts.selection import page, pages
from board.analysis.texts.concordance import Occurrence, Order, lines, ordered, spread, token_at
from board.analysis.texts.text_search import How, SearchText, by_step, count_hits
from board.analysis.texts.word_probability import BY, WordProbability, early_and_late, of_places
from board.errors import FieldMissing
from board.figures.step_panels import probability_panel, reward_panel, share_panel
from board.runs.run import Run
from board.sql.identifiers import literal
from board.text.counting import plural
from board.text.display import on_one_line
from board.text.format_number import fmt
from board.ui.components import concordance
from board.ui.components.concordance import OccurrenceRow
from board.ui.components.curves import Card, CurvesPayload, build
from board.ui.shared import rollout_detail
from board.ui.shared.controls import step_curves
from board.ui.shared.messages import in_line, unfilled
from board.ui.state import caches, filter_chips, linked, place
from board.ui.state.link_texts import mark_text
from board.ui.state.place import View

HOWS: Final[dict[How, str]] = {"words": "All words", "phrase": "Phrase", "expression": "Regular expression"}
"""How a text is looked for, as the page Search and its links call it."""

_MOST_ROLLOUTS: Final = 2_000
"""Of more rollouts with a hit, the places of so many are listed, evenly from all."""

_PAGE_LINES: Final = 100
_PLOT_HEIGHT: Final = 130
_CURVES: Final = "search_curves"
_LINES: Final = "search_lines"
_TICK_SECONDS: Final = 0.2


_MOST_SEARCHED: Final = 200_000
_FEW_OF: Final = 4
"""Under a filter all rollouts are searched, too: up to so many, and more where the filter leaves a fourth of them."""

_ALL_HELP: Final = "Draws the same of all rollouts, dashed: they are searched as well, which takes longer."


@dataclass(frozen=True)
class Hits:
    """What was found in the rollouts that were looked at."""

    places: int
    hit: int
    """Rollouts that hold what is looked for."""
    of: int
    """How many were looked at."""
    by_step: Callable[[], pd.DataFrame]
    rows: dict[str, pd.DataFrame]
    """By text the rollouts with a hit there: index key, step, reward, prompt_key."""


@dataclass(frozen=True)
class Search:
    """What is looked for, in which texts, and how its places are listed."""

    query: SearchText
    columns: tuple[str, ...]
    order: Order

    @property
    def key(self) -> tuple[str, ...]:
        """The cache key of the search; the order of its lines is not part of it."""
        return (self.query.how, str(self.query.exact_case), ",".join(self.columns), self.query.text)


def _compares_with_all(view: View) -> bool:
    """Whether curves of all rollouts are drawn with those of the filter's.

    Always where that takes hardly longer, else on the reader's choice. Never for a sample: what a filter leaves is not part of it.
    """
    every = view.unfiltered
    if view.run is every or every.sample is not None:
        return False
    if len(every.frame) <= _MOST_SEARCHED or len(view.run.frame) * _FEW_OF >= len(every.frame):
        return True
    return st.toggle("Compare with all rollouts", **linked.flag("search_all"), help=_ALL_HELP)


def _counted(search: Search, of: Run) -> pd.DataFrame:
    """How often the texts of each rollout of a run hold it; found once for all readers, with progress while it takes long."""
    slot = st.empty()
    began = time.monotonic()
    ticks = [began]

    def show(share: float) -> None:
        if time.monotonic() - ticks[0] >= _TICK_SECONDS:
            ticks[0] = time.monotonic()
            left = (ticks[0] - began) * (1 - share) / share
            slot.progress(share, text=f"Searching {plural(len(of.frame), 'rollout')} · {left:.0f} s left")

    found = caches.cached("search", lambda: count_hits(of, search.query, search.columns, show), of, *search.key, keep=2)
    slot.empty()
    return found


def _hits(view: View, search: Search, counts: pd.DataFrame) -> Hits:
    """Of the rollouts of the view, by the counts of places in each."""
    run, hit = view.run, _has_hit(counts)
    rows = {name: _rows(run, counts[name].to_numpy() > 0) for name in search.columns}
    return Hits(int(counts.to_numpy().sum()), int(hit.sum()), len(hit), lambda: _by_step(run, hit), rows)


def _rows(run: Run, chosen: NDArray[np.bool_]) -> pd.DataFrame:
    """Step, reward and prompt key of some rollouts of a frame."""
    frame = run.frame[chosen]
    rewards = frame["reward"].to_numpy() if "reward" in frame.columns else np.full(len(frame), np.nan)
    columns = {"step": frame["step"].to_numpy(), "reward": rewards, "prompt_key": run.prompt_keys[chosen]}
    return pd.DataFrame(columns, index=frame.index)


def _by_step(run: Run, hit: NDArray[np.bool_]) -> pd.DataFrame:
    return by_step(run.frame[[name for name in ("step", "reward") if name in run.frame.columns]], hit)


def _places_in_context(view: View, search: Search, hits: Hits) -> tuple[list[Occurrence], int]:
    """The places of as many rollouts as are listed, in order, and in how many rollouts there are any; a prompt counts once a step."""
    held = {name: _once(name, rows) for name, rows in hits.rows.items()}
    found = [
        line
        for name, rows in held.items()
        for line in lines(view.run, spread(rows.index.to_numpy(), _MOST_ROLLOUTS), name, search.query)
    ]
    known = pd.concat([*held.values()])
    steps, rewards = (dict(zip(known.index.tolist(), known[name].tolist(), strict=True)) for name in ("step", "reward"))
    return ordered(found, search.order, steps, rewards), sum(map(len, held.values()))


def _once(name: str, rows: pd.DataFrame) -> pd.DataFrame:
    """Of rollouts of one prompt in one step the first, where it is the prompt that holds it; in the order of steps."""
    rows = rows.sort_values("step", kind="stable")
    return rows if name != "prompt" else rows[~rows.duplicated(["step", "prompt_key"])]


def _condition(search: Search) -> str:
    """The search as a condition of the filter."""
    return " AND ".join(
        f"({' OR '.join(f'regexp_matches({name}, {literal(one)})' for name in search.columns)})" for one in search.query.required
    )


def _has_hit(counts: pd.DataFrame) -> NDArray[np.bool_]:
    """Which rollouts are hit, of counts of places."""
    found: NDArray[np.bool_] = (counts > 0).any(axis=1).to_numpy()
    return found


def _curves_of(view: View, search: Search, hits: Hits, every: pd.DataFrame | None) -> None:
    """Hits by step, and what they earn; with those of `every` rollout for comparison, where they are counted."""
    count = 1 if every is None else 2
    probable = _probability(view, search, hits)

    def made() -> CurvesPayload:
        found = [hits.by_step(), *([] if every is None else [_by_step(view.unfiltered, _has_hit(every))])]
        cards = [Card("share", share_panel(*found))]
        with suppress(FieldMissing):
            cards.append(Card("reward", reward_panel(*found)))
        if probable is not None:
            with suppress(FieldMissing):
                cards.append(Card("probability", probability_panel(probable.places)))
        return build(
            cards,
            span=(int(view.run.steps[0]), int(view.run.steps[-1])),
            height=_PLOT_HEIGHT,
            columns=2 if probable is None else 3,
        )

    payload = caches.cached("search curves", made, view.run, *search.key, str(count))
    step_curves(payload, _CURVES, view.run.steps)
    lacking = ["Whether it pays needs reward"] if "reward" not in payload.keys else []
    if "response" in search.columns and len(hits.rows["response"]):
        if probable is not None:
            _probability_line(view, hits, probable)
        else:
            lacking.append("How probable it is needs response_tokens and logprobs")
    if lacking:
        unfilled(lacking)


def _probability(view: View, search: Search, hits: Hits) -> WordProbability | None:
    """How probable it is at its places in responses; None where that is not known."""
    run = view.run
    if "response" not in search.columns or not (run.has_tokens and "logprobs" in run.token_metrics):
        return None

    def make() -> WordProbability:
        chosen = spread(hits.rows["response"].index.to_numpy(), _MOST_ROLLOUTS)
        return of_places(run, lines(run, chosen, "response", search.query))

    return caches.cached("word_probability", make, run, *search.key, keep=2)


def _probability_line(view: View, hits: Hits, probable: WordProbability) -> None:
    """Draw a line: the probability in the first and in the last third of the steps, and of how many places."""
    ends = {who: early_and_late(probable.places, who, view.run.steps.tolist()) for who in BY}
    both = [f"{who} {fmt(early)} → {fmt(late)}" for who, (early, late) in ends.items() if not np.isnan([early, late]).any()]
    said = [f"{', '.join(both)} (first to last third of the steps)"] if both else []
    left_out = probable.looked_at - len(probable.places)
    said.append(
        f"{plural(len(probable.places), 'place')}" + (f", {left_out:,} inside longer tokens left out" if left_out else "")
    )
    rollouts = len(hits.rows["response"])
    said += [f"of {_MOST_ROLLOUTS:,} rollouts, evenly from {rollouts:,}"] if rollouts > _MOST_ROLLOUTS else []
    st.text(f"Its probability: {' · '.join(said)}")


def _concordance_of(view: View, search: Search, hits: Hits) -> Occurrence | None:
    """The places in context, a page at a time; the one that is open."""
    found, rollouts = caches.cached(
        "concordance", lambda: _places_in_context(view, search, hits), view.run, *search.key, search.order, keep=2
    )
    count = pages(len(found), _PAGE_LINES)
    with in_line():
        number = st.pagination(count, **linked.page("search_page", count)) if count > 1 else 1
        numbers = page(np.arange(len(found)), number, _PAGE_LINES)
        shown = [found[at] for at in numbers.tolist()]
        notes = [f"{int(numbers[0]) + 1:,} to {int(numbers[-1]) + 1:,} of {plural(len(found), 'line')}"]
        notes += ["a prompt once a step"] if "prompt" in search.columns else []
        notes += (
            [f"of {_MOST_ROLLOUTS:,} rollouts, evenly from {rollouts:,}"]
            if rollouts > _MOST_ROLLOUTS * len(search.columns)
            else []
        )
        st.text(" · ".join(notes))
    opened = next((at for at, line in enumerate(shown) if _is_open(view, line)), None)
    has_reward = "reward" in view.run.frame.columns
    heads = ["step", *(["reward"] if has_reward else []), *(["in"] if len(search.columns) > 1 else [])]
    known = pd.concat([*hits.rows.values()])
    known = known[~known.index.duplicated()]
    key = place.key_of(_LINES, [{line.column: line.key, "start": line.start, "stop": line.stop} for line in shown])
    concordance.show(
        [_row(known, line, heads) for line in shown], heads, opened=opened, key=key, on_open=lambda: _go_to(view, key, shown)
    )
    return shown[opened] if opened is not None else None


def _row(rows: pd.DataFrame, line: Occurrence, heads: list[str]) -> OccurrenceRow:
    """A place as it is drawn: on one line, what cannot be seen made visible. `rows` has its rollout."""
    known = {"step": f"{rows['step'].loc[line.key]:,}", "reward": fmt(float(rows["reward"].loc[line.key])), "in": line.column}
    left, match, right = (on_one_line(text) for text in (line.left, line.match, line.right))
    return OccurrenceRow(left, match, right, tuple(known[head] for head in heads), line.column)


def _go_to(view: View, key: str, shown: list[Occurrence]) -> None:
    """To be called when a place is clicked: its rollout becomes the reader's, marked there."""
    at = place.reported(key, "opened")
    if isinstance(at, int) and 0 <= at < len(shown):
        line = shown[at]
        rollout = view.run.rollout(line.key)
        place.go(step=rollout.step, rollout=rollout.source)
        token = token_at(rollout.tokens, line.start, line.match) if line.column == "response" and rollout.tokens else None
        place.fill_in(token=token, mark=mark_text(line.column, line.start, line.stop))


def _is_open(view: View, line: Occurrence) -> bool:
    """Whether this is the place that the link names."""
    return place.marked(line.column) == (line.start, line.stop) and place.linked_rollout(view.run) == line.key


def _opened(view: View, line: Occurrence | None) -> None:
    """The rollout of the place that is open, with the ways to its texts and tokens."""
    if line is None:
        st.text("Click a line to open its rollout here.")
        return
    rollout_detail.draw(caches.with_step(view), line.key, (None, None))


def _found(view: View, search: Search) -> tuple[Hits, pd.DataFrame | None]:
    """What was found in the rollouts of the view, and the counts of all without the filter, where they are counted, too."""
    every = _counted(search, view.unfiltered) if _compares_with_all(view) else None
    counts = _counted(search, view.run) if every is None else every.loc[view.run.frame.index]
    return _hits(view, search, counts), every


def draw(view: View, search: Search) -> None:
    """Everything that is said of what is looked for."""
    hits, every = _found(view, search)
    if view.run.sample is not None:
        st.text(f"{view.run.sample.share}: these were searched. A filter that leaves fewer has all it leaves searched.")
    with in_line():
        st.text(
            f"{plural(hits.places, 'place')} in {hits.hit:,} of {plural(hits.of, 'rollout')} ({hits.hit / max(1, hits.of):.1%})"
        )
        if hits.hit:
            st.button("Filter every page by it", key="search_filter", on_click=filter_chips.add, args=(_condition(search),))
    if not hits.hit:
        return
    _curves_of(view, search, hits, every)
    with st.container(key="search_results"):
        left, right = st.container(), st.container()
    with left:
        line = _concordance_of(view, search, hits)
    with right:
        _opened(view, line)
