"""Which words do the responses of one run hold, and those of another not?"""

from collections.abc import Sequence
from typing import Final, Literal

import pandas as pd
import streamlit as st

from board.analysis.prompts.shared_prompts import shared_prompts, shared_share
from board.analysis.stats.log_odds import Z_LIMIT
from board.analysis.texts import word_use
from board.analysis.texts.phrase_forms import expression
from board.analysis.texts.word_use import WordUse, word_differences
from board.text.counting import plural
from board.text.display import shorten, visible
from board.ui.components import table
from board.ui.components.table import TableColumn
from board.ui.frame.compared_runs import ComparedSide
from board.ui.pages.compare import sides as compared_sides
from board.ui.shared import search_results
from board.ui.shared.messages import in_line, unfilled
from board.ui.state import caches, linked, place

What = Literal["words", "tokens"]
WHATS: Final[dict[What, str]] = {"words": "Words", "tokens": "Tokens"}

MOST_ROWS: Final = 200
"""So many are listed of either run."""

MUCH_SHARED: Final = 0.9
"""Where a smaller share of the responses is to prompts that both runs saw, that is said."""

_HEIGHT: Final = 420
"""In pixels; a longer table scrolls."""

_LONGEST: Final = 200

Sides = tuple[ComparedSide, ComparedSide]


def draw(sides: Sequence[ComparedSide]) -> None:
    """The choices, what stands out in either run, and the way to the responses that hold it."""
    with st.container(horizontal=True, vertical_alignment="bottom", key="word_use_choices"):
        pair = compared_sides.pair(sides)
        what = _what(pair)
    lacking = [side.name for side in pair if "response" not in side.run.text_columns]
    if lacking and what == "words":
        unfilled([f"Words of {name}: it has no response" for name in lacking])
        return
    found, uses = _found(pair, what)
    _summary(pair, uses, what)
    columns = st.columns(2, gap="medium")
    for column, at in zip(columns, (1, 0), strict=True):
        with column:
            _side(found, pair, at, what)
    _ways(pair, found, what)


def _what(pair: Sides) -> What:
    """Words, or tokens where both runs name theirs."""
    if not all(side.run.has_tokens for side in pair):
        return "words"
    offered = linked.choice("word_use", list(WHATS), "words", label=lambda one: WHATS[one])
    return st.segmented_control("Show", **offered, required=True) or "words"


def _found(pair: Sides, what: What) -> tuple[pd.DataFrame, tuple[WordUse, WordUse]]:
    a, b = pair

    def compared() -> tuple[pd.DataFrame, tuple[WordUse, WordUse]]:
        uses = _use(a, what), _use(b, what)
        return word_differences(*uses), uses

    with st.spinner(f"Counting the {what} of {plural(len(a.run.frame) + len(b.run.frame), 'response')}", show_time=True):
        found: tuple[pd.DataFrame, tuple[WordUse, WordUse]] = caches.cached(
            "word_differences", compared, a.run, what, other=b.run
        )
    return found


def _use(side: ComparedSide, what: What) -> WordUse:
    count = word_use.words if what == "words" else word_use.tokens
    return caches.cached("word_use", lambda: count(side.run), side.run, what)


def _summary(pair: Sides, uses: tuple[WordUse, WordUse], what: What) -> None:
    """What was looked at, how it is ranked, and whether the prompts are the same."""
    looked = [
        f"{letter} {use.responses:,}" + (f" of {use.of:,}" if use.responses < use.of else "")
        for letter, use in zip("AB", uses, strict=True)
    ]
    st.text(
        f"Responses looked at: {', '.join(looked)}. Listed is what stands out beyond |z| = {Z_LIMIT:g}: log-odds that a response holds the "
        f"{what.removesuffix('s')}, with both runs as Dirichlet prior. It ranks, as responses of one prompt are alike."
    )
    for sentence in compared_sides.caveats(*pair):
        st.text(sentence)
    a, b = (side.run for side in pair)
    share = caches.cached("shared_share", lambda: shared_share(shared_prompts(a, b)), a, other=b)
    if share < MUCH_SHARED:
        st.text(
            f"Only {100 * share:.0f} % of the responses are to prompts that both runs saw: what stands out may be the prompts' own."
        )


def _side(found: pd.DataFrame, pair: Sides, at: int, what: What) -> None:
    """What stands out in the responses of A (0) or of B (1), the most first."""
    sign = 1 if at else -1
    rows = found[(sign * found["z"] > Z_LIMIT) & (found["word"] != "")]
    rows = rows.sort_values("z", ascending=not at, kind="stable").head(MOST_ROWS)
    more = f", the first {MOST_ROWS:,} listed" if len(rows) == MOST_ROWS else ""
    st.text(f"{'AB'[at]} says more · {pair[at].name} · {plural(len(rows), what.removesuffix('s'))}{more}")
    if rows.empty:
        return
    own, other = "ab"[at], "ba"[at]
    expressions = [_expression(str(word), what) for word in rows["word"]]
    key = f"words_of_{own}_{pair[0].run.load_id}_{pair[1].run.load_id}_{what}"
    chosen = place.part("phrase")
    frame = pd.DataFrame(
        {
            "word": [visible(shorten(str(word), _LONGEST)) for word in rows["word"]],
            "share": 100 * rows[f"share_{own}"].to_numpy(),
            "other": 100 * rows[f"share_{other}"].to_numpy(),
            "z": rows["z"].to_numpy(),
            "log-odds": rows["delta"].to_numpy(),
            "count": rows[f"count_{own}"].to_numpy(),
            "other count": rows[f"count_{other}"].to_numpy(),
        }
    )
    table.show(
        frame,
        _columns("AB"[at], "BA"[at], what),
        name=f"{what} of {'AB'[at]}",
        key=key,
        on_click=place.row_clicked(key, [{"phrase": one} for one in expressions]),
        chosen=expressions.index(str(chosen)) if chosen in expressions else None,
        height=_HEIGHT,
    )


def _columns(own: str, other: str, what: What) -> dict[str, TableColumn]:
    held = f"Of the responses looked at, those that hold the {what.removesuffix('s')}."
    return {
        "word": TableColumn(what.removesuffix("s"), width=130),
        "share": TableColumn(f"in {own}, %", held, "%.3g"),
        "other": TableColumn(f"in {other}, %", held, "%.3g"),
        "count": TableColumn(f"times in {own}", "How often it is written there.", "%,d"),
        "other count": TableColumn(f"times in {other}", "How often it is written there.", "%,d"),
        "log-odds": TableColumn(
            help="That a response holds it, of B against A; drawn towards none where it is rare.", format="%.2f"
        ),
        "z": TableColumn(
            help="Log-odds over their error, as if every response were of a prompt of its own: it ranks.", format="%.1f"
        ),
    }


def _expression(word: str, what: What) -> str:
    return expression(word, bounded=what == "words")


def _ways(pair: Sides, found: pd.DataFrame, what: What) -> None:
    """Where the responses of either run are that hold the chosen word."""
    chosen = str(place.part("phrase") or "")
    rows = [
        row
        for row in found[["word", "responses_a", "responses_b"]].itertuples(index=False)
        if _expression(row[0], what) == chosen
    ]
    if not chosen or not rows:
        st.text(f"A click on a {what.removesuffix('s')} leads to the responses that hold it.")
        return
    word, *held = rows[0]
    with in_line("word_ways"):
        st.text(visible(shorten(str(word), _LONGEST)))
        searched: place.Parameters = {
            "q": chosen,
            "search_as": search_results.HOWS["expression"],
            "search_case": "true",
            "search_in": "response",
        }
        for letter, side, responses in zip("AB", pair, held, strict=True):
            label = f"{plural(int(responses), 'response')} of {letter}"
            st.page_link(
                "board/ui/pages/search/search.py",
                label=label,
                query_params=place.link_to_run(side.address) | searched,
                width="content",
            )
