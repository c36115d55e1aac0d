"""Words: which phrases pay, and which tokens rise and fall in training?"""

from typing import Final, Literal

import streamlit as st

from board.analysis.stats.log_odds import Z_LIMIT
from board.analysis.texts import phrases, vocabulary
from board.analysis.texts.phrases import LEAST, Phrases
from board.analysis.texts.text_search import SearchText, checked
from board.analysis.texts.vocabulary import Vocabulary, summary
from board.errors import BoardError
from board.text.counting import plural
from board.ui.frame import findings_watch
from board.ui.pages.words import phrase_table, vocabulary_table
from board.ui.pages.words.phrase_table import PhraseOrder
from board.ui.shared import search_results
from board.ui.shared.messages import in_line, notice, unfilled
from board.ui.shared.progress_line import progress
from board.ui.shared.search_results import Search
from board.ui.state import caches, linked, place

What = Literal["phrases", "tokens"]
WHATS: Final[dict[What, str]] = {"phrases": "Phrases that pay", "tokens": "Tokens that rise and fall"}

LEAST_TOKENS: Final = 50

_LEAST_HELP: Final = "A phrase stands in at least so many of the rollouts that are looked at."
_LEAST_TOKENS_HELP: Final = "A token is written at least so often in the run."

view = place.view()
run = view.run


def what_choice() -> What:
    """Phrases or tokens."""
    offered = linked.choice("words", list(WHATS), "phrases", label=lambda one: WHATS[one])
    return st.segmented_control("Show", **offered, required=True) or "phrases"


def found_phrases(least: int) -> Phrases:
    """The phrases of the run, found once for all readers."""

    def make() -> Phrases:
        with progress(f"Looking for phrases in {plural(len(run.frame), 'rollout')}") as report:
            return phrases.of_run(run, least, report)

    return caches.cached("phrases", make, run, least, keep=2)


def phrases_shown() -> None:
    """The table of phrases."""
    with choices:
        offered = linked.choice("phrases_by", list(phrase_table.ORDERS), "pays", label=lambda one: phrase_table.ORDERS[one])
        order: PhraseOrder = st.segmented_control("List", **offered, required=True) or "pays"
        least = int(
            st.number_input(
                "In rollouts, at least", **linked.number("phrases_least", LEAST, 5, 100_000), step=5, help=_LEAST_HELP, width=170
            )
        )
    if "response" not in run.text_columns:
        unfilled(["Phrases need response"])
        return
    found = found_phrases(least)
    st.text(phrase_table.summary(found, Z_LIMIT))
    if run.sample is not None:
        st.text("These rollouts are of the sample, which is even over steps: phrases of all rollouts are not looked for.")
    if order in ("pays", "costs") and found.listed["reward_z"].isna().all():
        st.text("Which phrases pay needs rewards that differ, and steps alone tell which rise and fall.")
        return
    rows = phrase_table.ordered(found, order, Z_LIMIT)
    if rows.empty:
        st.text(f"No phrase is beyond |z| = {Z_LIMIT:g} here.")
        return
    phrase_table.draw(found, rows, key=f"phrases_{run.load_id}_{order}_{least}")


def counted_tokens() -> Vocabulary:
    """The tokens of the run, counted once for all readers."""

    def make() -> Vocabulary:
        with progress(f"Counting the tokens of {plural(len(run.frame), 'rollout')}") as report:
            return vocabulary.of_run(run, report)

    return caches.cached("vocabulary", make, run, keep=2)


def tokens_shown() -> None:
    """The table of tokens."""
    if not run.has_tokens:
        unfilled(["Tokens that rise and fall need response_tokens"])
        return
    found = counted_tokens()
    if run.sample is not None:
        st.text(f"{run.sample.share}: their tokens alone are counted.")
    if not found.total:
        st.text("No token of these rollouts counts.")
        return
    table = caches.cached("vocabulary_summary", lambda: summary(found), run)
    orders = vocabulary_table.orders(table)
    with choices:
        order = st.selectbox(
            "Sort by", **linked.choice("tokens_by", orders, label=lambda one: vocabulary_table.ORDERS[one][0]), width=190
        )
        least = int(
            st.number_input(
                "Written at least",
                **linked.number("tokens_least", LEAST_TOKENS, 1, 1_000_000),
                step=10,
                help=_LEAST_TOKENS_HELP,
                width=170,
            )
        )
    rows = vocabulary_table.ordered(table, order, least)
    st.text(vocabulary_table.summary(found, len(rows), int((table["count"] >= least).sum())))
    if rows.empty:
        st.text(f"No token is written {least:,} times here.")
        return
    vocabulary_table.draw(found, rows, key=f"tokens_{run.load_id}_{order}_{least}")


def chosen_phrase() -> None:
    """Where the phrase or the token of the link stands, and what those rollouts earn."""
    phrase = str(place.part("phrase") or "")
    if not phrase or "response" not in run.text_columns:
        st.text("Click a row to see where it stands, and what it earns.")
        return
    query = SearchText(phrase, "expression", exact_case=True)
    try:
        checked(query)
    except BoardError as error:
        notice(str(error), "error")
        return
    with in_line():
        st.subheader("Where does it stand, and does it pay?", anchor=False)
        there = {
            **place.link(),
            "q": phrase,
            "search_as": search_results.HOWS["expression"],
            "search_case": "true",
            "search_in": "response",
        }
        st.page_link("board/ui/pages/search/search.py", label="Open in Search", query_params=there)
    search_results.draw(view, Search(query, ("response",), "reward" if "reward" in run.frame.columns else "step"))


choices = st.container(horizontal=True, vertical_alignment="bottom", gap="small", key="word_choices")
with choices:
    what = what_choice()
if what == "phrases":
    phrases_shown()
else:
    tokens_shown()
chosen_phrase()
findings_watch.on_curves()
