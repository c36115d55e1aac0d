"""A tour of tokens picked from a whole run, and the keys that go on in it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import streamlit as st

from board.ui.components import keys
from board.ui.components.shortcuts import TOKEN_AFTER, TOKEN_BEFORE
from board.ui.state import place

_KEY = "token_tour"
_TOKENS_PAGE = "board/ui/pages/tokens/tokens.py"

Place = Mapping[str, str | int]
"""Where a token is: step, rollout, token, metric."""


@dataclass(frozen=True)
class _Tour:
    places: Sequence[Place]
    run: str | int | None


def offer(places: Sequence[Place]) -> None:
    """These are the tokens of the list that is shown; a tour begins once one of them is gone to."""
    place.remember(offered_tour=_Tour(places, place.part("run")))


def begin(at: int) -> None:
    """Go to a token of the offered list, by its number, and walk through that list from now on. For callbacks."""
    offered: _Tour | None = place.remembered("offered_tour")
    if offered is not None and 0 <= at < len(offered.places):
        place.remember(tour=offered)
        place.go(**offered.places[at])


def listen(*, opening: bool) -> None:
    """Hear `]` and `[`, which go to the next and the previous token of the tour; with `opening` Enter, too, which opens the Tokens page."""
    if place.remembered("open_tokens"):
        place.remember(open_tokens=None)
        st.switch_page(_TOKENS_PAGE, query_params=place.link())
    meant = {TOKEN_AFTER.key: "next", TOKEN_BEFORE.key: "previous"} | ({"Enter": "open"} if opening else {})
    keys.listen(meant, key=_KEY, on_press=_pressed)


def position_in_list() -> str:
    """Where in the tour the reader is, in a few words; empty where he is at none of its tokens."""
    tour, at = _here()
    return f"Token {at + 1:,} of the {len(tour.places):,} listed on All tokens: ] and [ go on" if tour and at is not None else ""


def _here() -> tuple[_Tour | None, int | None]:
    """The tour through this run, and which of its tokens the reader is at."""
    known: list[_Tour | None] = [place.remembered("offered_tour"), place.remembered("tour")]
    here = (place.part("rollout"), place.part("token"))
    tours = [tour for tour in known if tour is not None and tour.run == place.part("run")]
    for tour in tours:
        at = next((at for at, one in enumerate(tour.places) if (one["rollout"], one["token"]) == here), None)
        if at is not None:
            return tour, at
    return next(iter(tours), None), None


def _pressed() -> None:
    pressed = place.reported(_KEY, "pressed")
    tour, at = _here()
    if pressed == "open":
        place.remember(open_tokens=place.part("token") is not None)
    elif tour is not None and tour.places:
        by = 1 if pressed == "next" else -1
        to = (0 if by > 0 else len(tour.places) - 1) if at is None else at + by
        if 0 <= to < len(tour.places):
            place.remember(tour=tour)
            place.go(**tour.places[to])
