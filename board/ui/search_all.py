"""Search over a run that is larger than memory: what starts and stops the look through all its parts, how far that is, and what it found.

Draws and asks only; who searches is `board.analysis.stored_search`.
"""

from typing import Final

import streamlit as st

from board.analysis.stored_search import StoredHits, StoredSearch
from board.analysis.text_search import SearchText
from board.runs.progress import lasting
from board.runs.run import Run
from board.text.counting import plural
from board.ui import caches, place
from board.ui.messages import notice

LOOK_SECONDS: Final = 1.0

_AGAIN: Final = 2
"""The page is drawn anew once so many times as many parts were gone through."""

_HELP: Final = "Goes through the texts of all rollouts, in the background, while this page is open."


def search(run: Run, wanted: SearchText, columns: tuple[str, ...], key: tuple[str, ...]) -> StoredSearch | None:
    """The search of all rollouts, the same for all readers; None where the run's frame holds them all, or a filter leaves a sample."""
    if run.beyond is None or not run.beyond.exact:
        return None
    return caches.computed("stored_search", lambda: StoredSearch(run, wanted, columns), run, *key)


def draw(run: Run, all_of: StoredSearch | None) -> StoredHits | None:
    """The line on which rollouts are searched, and what changes that; what was found in all, None where that is nothing yet."""
    if all_of is None:
        if run.sample is not None:
            st.text("Searched in the sample: what a filter leaves of all rollouts is not looked through.")
        return None
    known = all_of.see()
    place.remember(search_shown=known.parts)
    if known.trouble:
        notice(f"The search of all rollouts stopped: {known.trouble}", "error")
    st.fragment(_progress, run_every=LOOK_SECONDS if known.is_running else None)(run, all_of)
    return known if known.parts else None


def _progress(run: Run, all_of: StoredSearch) -> None:
    """Alone is drawn anew while parts are gone through, and sees that the page is when there is more to show."""
    known = all_of.see()
    shown = int(place.remembered("search_shown") or 0)
    if known.parts >= max(1, _AGAIN * shown) or (known.parts > shown and not known.is_running):
        place.draw_anew()
    with st.container(horizontal=True, vertical_alignment="center", gap="small", key="search_all"):
        st.text(words(run, known))
        if known.is_running:
            if st.button("Stop", key="search_stop", type="tertiary"):
                all_of.stop()
                place.draw_anew()
        elif not known.is_done and not known.trouble:
            label = "Go on" if known.parts else f"Search all {plural(run.rollout_count, 'rollout')}"
            if st.button(label, key="search_go_on", help=_HELP):
                all_of.go_on()
                place.draw_anew()


def words(run: Run, known: StoredHits) -> str:
    """How far it is, in a line."""
    if known.is_done:
        return f"Searched all {plural(run.rollout_count, 'rollout')}."
    if not known.parts:
        beginning = "The search of all begins" if known.is_running else "Searched in the sample"
        return f"{beginning}."
    left = f" · {lasting(known.seconds_left)} left" if known.is_running else " · stopped"
    return f"Searched {known.parts:,} of {known.of:,} parts · {plural(known.places, 'place')} in {plural(known.hit, 'rollout')}{left}"
