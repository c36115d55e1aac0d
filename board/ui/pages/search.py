"""Search: where does a text stand, over all steps, and does it pay? Choices, data, computing, drawing."""

import time
from contextlib import suppress
from dataclasses import dataclass
from typing import Final

import numpy as np
import pandas as pd
import streamlit as st
from numpy.typing import NDArray

from board.analysis.concordance import CONTEXT, Occurrence, Order, lines, ordered, spread, token_at
from board.analysis.selection import page, pages
from board.analysis.text_search import COLUMNS, How, SearchText, by_step, checked, count_hits
from board.errors import BoardError, FieldMissing
from board.figures.search_panels import reward_panel, share_panel
from board.runs.run import Run
from board.sql.identifiers import literal
from board.text.counting import plural
from board.text.display import on_one_line
from board.text.format_number import fmt
from board.ui import caches, filter_chips, findings_watch, place, rollout_detail
from board.ui.components import concordance, curves
from board.ui.components.concordance import OccurrenceRow
from board.ui.components.curves import Card, CurvesPayload, build
from board.ui.messages import notice, unfilled

HOWS: Final[dict[How, str]] = {"words": "All words", "phrase": "Phrase", "expression": "Regular expression"}
ORDERS: Final[dict[Order, str]] = {"step": "step", "left": "what stands before", "right": "what stands after", "reward": "reward"}

MOST_ROLLOUTS: Final = 2_000
"""Of more rollouts with a hit, the places of so many are listed, evenly from all."""

SEARCHED_UNASKED: Final = 200_000
FEW_OF: Final = 4
"""Under a filter all rollouts are searched, too: up to so many, and more where the filter leaves a fourth of them."""

PAGE_LINES: Final = 100
PLOT_HEIGHT: Final = 130
CURVES: Final = "search_curves"
LINES: Final = "search_lines"
TICK_SECONDS: Final = 0.2

_ALL_HELP: Final = "Draws the same of all rollouts, dashed: they are searched as well, which takes longer."
_CASE_HELP: Final = "Capital letters are not small ones."
_TEXT_HELP: Final = (
    "A regular expression is RE2's: no looking back. ^ and $ are the ends of a line. A word is found where no other letters touch it; of "
    "scripts without spaces, such as Chinese, wherever it stands."
)

view = place.view()
run = view.run


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


def choices() -> Search:
    """What the reader looks for; every choice is in the link."""
    there = [name for name in COLUMNS if name in run.text_columns]
    with st.container(horizontal=True, vertical_alignment="bottom", gap="small", key="search_choices"):
        text = st.text_input("Search all steps", type="search", key="q", bind="query-params", help=_TEXT_HELP, width=320)
        how = st.segmented_control(
            "As",
            list(HOWS),
            default="phrase",
            format_func=lambda one: HOWS[one],
            required=True,
            key="search_as",
            bind="query-params",
        )
        where = st.pills("In", there, default=there, selection_mode="multi", key="search_in", bind="query-params")
        order = st.selectbox(
            "Sort by", list(ORDERS), key="search_sort", format_func=lambda one: ORDERS[one], bind="query-params", width=190
        )
        exact = st.toggle("Match case", key="search_case", bind="query-params", help=_CASE_HELP)
    return Search(SearchText(text or "", how, exact), tuple(where or there), order)


def beside_all() -> bool:
    """Whether the curves of all rollouts stand beside those of the filter's: always where that takes hardly longer, else if it is asked for."""
    every = view.unfiltered
    if run is every:
        return False
    if len(every.frame) <= SEARCHED_UNASKED or len(run.frame) * FEW_OF >= len(every.frame):
        return True
    return st.toggle("Beside all rollouts", key="search_all", bind="query-params", help=_ALL_HELP)


def counted(asked: Search, of: Run) -> pd.DataFrame:
    """How often the texts of each rollout of a run hold it; found once for all readers, with progress while it takes long."""
    slot = st.empty()
    began = time.monotonic()
    ticks = [began]

    def show(share: float) -> None:
        if time.monotonic() - ticks[0] >= TICK_SECONDS:
            ticks[0] = time.monotonic()
            left = (ticks[0] - began) * (1 - share) / share
            slot.progress(share, text=f"Searching {plural(len(of.frame), 'rollout')} · {left:.0f} s left")

    found = caches.built("search", lambda: count_hits(of, asked.wanted, asked.columns, show), of, *asked.key)
    slot.empty()
    return found


def listed(asked: Search, counts: pd.DataFrame) -> tuple[list[Occurrence], int]:
    """The places of as many rollouts as are listed, in order, and in how many rollouts there are any; a prompt counts once a step."""
    held = {name: _once(name, counts.index.to_numpy()[counts[name].to_numpy() > 0]) for name in asked.columns}
    found = [line for name, keys in held.items() for line in lines(run, spread(keys, MOST_ROLLOUTS), name, asked.wanted)]
    rows = run.frame.loc[list({line.key for line in found})]
    steps = dict(zip(rows.index.tolist(), rows["step"].tolist(), strict=True))
    rewards = dict(zip(rows.index.tolist(), rows["reward"].tolist(), strict=True)) if "reward" in rows.columns else {}
    return ordered(found, asked.order, steps, rewards), sum(map(len, held.values()))


def _once(name: str, keys: NDArray[np.int64]) -> NDArray[np.int64]:
    """Of rollouts of one prompt in one step the first, where it is the prompt that holds it."""
    if name != "prompt":
        return keys
    at = run.frame.index.get_indexer(pd.Index(keys))
    groups = pd.DataFrame({"step": run.frame["step"].to_numpy()[at], "prompt": run.prompt_keys[at]})
    first: NDArray[np.bool_] = ~groups.duplicated().to_numpy()
    return keys[first]


def condition(asked: Search) -> str:
    """The search as a condition of the filter."""
    return " AND ".join(
        f"({' OR '.join(f'regexp_matches({name}, {literal(one)})' for name in asked.columns)})" for one in asked.wanted.required
    )


def has_hit(counts: pd.DataFrame) -> NDArray[np.bool_]:
    """Which rollouts are hit, of counts of places."""
    found: NDArray[np.bool_] = (counts > 0).any(axis=1).to_numpy()
    return found


def curves_of(asked: Search, counts: pd.DataFrame, every: pd.DataFrame | None) -> None:
    """Hits by step, and what they earn; beside them those of `every` rollout, where they are counted."""
    of = [(run, counts)] if every is None else [(run, counts), (view.unfiltered, every)]

    def made() -> CurvesPayload:
        found = [
            by_step(one.frame[[name for name in ("step", "reward") if name in one.frame.columns]], has_hit(found))
            for one, found in of
        ]
        cards = [Card("share", share_panel(*found))]
        with suppress(FieldMissing):
            cards.append(Card("reward", reward_panel(*found)))
        return build(cards, span=(int(run.steps[0]), int(run.steps[-1])), height=PLOT_HEIGHT, columns=2)

    payload = caches.curves("search", made, run, *asked.key, str(len(of)))
    curves.show(
        payload,
        key=CURVES,
        on_click=place.step_clicked(CURVES, run.steps),
        on_zoom=place.zoomed(CURVES),
        on_keep=place.steps_kept(CURVES),
    )
    if "reward" not in payload.keys:
        unfilled(["Whether it pays needs reward"])


def concordance_of(asked: Search, counts: pd.DataFrame) -> Occurrence | None:
    """The places in context, a page at a time; the one that is open."""
    found, rollouts = caches.built("concordance", lambda: listed(asked, counts), run, *asked.key, asked.order)
    count = pages(len(found), PAGE_LINES)
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        number = st.pagination(count, key="search_page", bind="query-params") if count > 1 else 1
        numbers = page(np.arange(len(found)), number, PAGE_LINES)
        shown = [found[at] for at in numbers.tolist()]
        notes = [f"{int(numbers[0]) + 1:,} to {int(numbers[-1]) + 1:,} of {plural(len(found), 'line')}"]
        notes += ["a prompt once a step"] if "prompt" in asked.columns else []
        notes += (
            [f"of {MOST_ROLLOUTS:,} rollouts, evenly from {rollouts:,}"] if rollouts > MOST_ROLLOUTS * len(asked.columns) else []
        )
        st.text(" · ".join(notes))
    opened = next((at for at, line in enumerate(shown) if is_open(line)), None)
    has_reward = "reward" in run.frame.columns
    heads = ["step", *(["reward"] if has_reward else []), *(["in"] if len(asked.columns) > 1 else [])]
    concordance.show([row(line, heads) for line in shown], heads, opened=opened, key=LINES, on_open=lambda: go_to(shown))
    return shown[opened] if opened is not None else None


def row(line: Occurrence, heads: list[str]) -> OccurrenceRow:
    """A place as it is drawn: on one line, what cannot be seen made visible."""
    rollout = run.frame.loc[line.key].to_dict()
    known = {"step": f"{rollout['step']:,}", "reward": fmt(float(rollout.get("reward", np.nan))), "in": line.column}
    left, match, right = (on_one_line(text) for text in (line.left, line.match, line.right))
    return OccurrenceRow(left, match, right, tuple(known[head] for head in heads), line.column)


def go_to(shown: list[Occurrence]) -> None:
    """To be called when a place is clicked: its rollout becomes the reader's, marked there."""
    at = place.reported(LINES, "opened")
    if isinstance(at, int) and 0 <= at < len(shown):
        line = shown[at]
        rollout = run.rollout(line.key)
        place.go(step=rollout.step, rollout=rollout.source)
        token = token_at(rollout.tokens, line.start, line.match) if line.column == "response" and rollout.tokens else None
        place.fill_in(token=token, mark=f"{line.column}:{line.start}-{line.stop}")


def is_open(line: Occurrence) -> bool:
    """Whether this is the place that the link names."""
    return place.marked(line.column) == (line.start, line.stop) and place.asked_rollout(run) == line.key


def opened(line: Occurrence | None) -> None:
    """The rollout of the place that is open, with the ways to its texts and tokens."""
    if line is None:
        st.text("Click a line to open its rollout here.")
        return
    rollout_detail.draw(view, line.key, (None, None))


def results(asked: Search) -> None:
    """Everything below the choices."""
    every = counted(asked, view.unfiltered) if beside_all() else None
    counts = counted(asked, run) if every is None else every.loc[run.frame.index]
    hit = has_hit(counts)
    places, rollouts = int(counts.to_numpy().sum()), int(hit.sum())
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        st.text(f"{plural(places, 'place')} in {rollouts:,} of {plural(len(run.frame), 'rollout')} ({hit.mean():.1%})")
        if rollouts:
            st.button("Filter every page by it", key="search_filter", on_click=filter_chips.add, args=(condition(asked),))
    if not rollouts:
        return
    curves_of(asked, counts, every)
    with st.container(key="search_results"):
        left, right = st.columns([5, 3], gap="medium")
    with left:
        line = concordance_of(asked, counts)
    with right:
        opened(line)


asked = choices()
if not asked.columns:
    unfilled(["The search needs prompt or response"])
elif asked.wanted.text:
    try:
        checked(asked.wanted)
    except BoardError as error:
        notice(str(error), "error")
    else:
        results(asked)
else:
    st.text(f"Type what to look for: hits are counted over all steps, and listed with {CONTEXT} characters to either side.")
curves.choose(view.step, zoom=place.step_range("zoom"), marks=findings_watch.curve_marks(), key="curves_choice")
