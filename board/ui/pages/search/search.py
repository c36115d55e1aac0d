"""Search: where does a text stand, over all steps, and does it pay?"""

from typing import Final

import streamlit as st

from board.analysis.texts.concordance import CONTEXT, Order
from board.analysis.texts.text_search import COLUMNS, SearchText, checked
from board.errors import BoardError
from board.ui.frame import findings_watch
from board.ui.shared import search_results
from board.ui.shared.messages import notice, unfilled
from board.ui.shared.search_results import HOWS, Search
from board.ui.state import linked, place

ORDERS: Final[dict[Order, str]] = {"step": "step", "left": "what stands before", "right": "what stands after", "reward": "reward"}

_CASE_HELP: Final = "Capital letters are not small ones."
_TEXT_HELP: Final = (
    "A regular expression is RE2's: no looking back. ^ and $ are the ends of a line. A word is found where no other letters touch it; of "
    "scripts without spaces, such as Chinese, wherever it stands."
)

view = place.view()
run = view.run


def choices() -> Search:
    """What the reader looks for; every choice is in the link."""
    there = [name for name in COLUMNS if name in run.text_columns]
    with st.container(horizontal=True, vertical_alignment="bottom", gap="small", key="search_choices"):
        text = st.text_input("Search all steps", **linked.text("q"), type="search", help=_TEXT_HELP, width=320)
        how = st.segmented_control(
            "As", **linked.choice("search_as", list(HOWS), "phrase", label=lambda one: HOWS[one]), required=True
        )
        where = st.pills("In", **linked.choices("search_in", there, there), selection_mode="multi")
        order = st.selectbox("Sort by", **linked.choice("search_sort", list(ORDERS), label=lambda one: ORDERS[one]), width=190)
        exact = st.toggle("Match case", **linked.flag("search_case"), help=_CASE_HELP)
    return Search(SearchText(text or "", how or "phrase", exact), tuple(where or there), order)


search = choices()
if not search.columns:
    unfilled(["The search needs prompt or response"])
elif search.query.text:
    try:
        checked(search.query)
    except BoardError as error:
        notice(str(error), "error")
    else:
        search_results.draw(view, search)
else:
    st.text(f"Type what to look for: hits are counted over all steps, and listed with {CONTEXT} characters to either side.")
findings_watch.on_curves()
