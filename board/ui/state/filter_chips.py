"""Changes to the filter of the link, chip by chip, as callbacks make them.

Also draws the button that adds a chip. Runs no query. What a change asks for is tried when the page is drawn: `board.ui.frame.filter_bar`
puts the last good filter back where it is no condition.
"""

import re
from collections.abc import Sequence
from dataclasses import replace
from typing import Any, Final

import streamlit as st

from board.errors import BoardError
from board.settings import saved
from board.sql.chips import Chip, chip, parsed, written
from board.ui.components.filter_bar import Refused
from board.ui.state import link_texts, place

_STEPS: Final = re.compile(r"step BETWEEN -?[0-9]+ AND -?[0-9]+")
"""A range of steps, as curves and findings ask for it."""


def chips() -> list[Chip]:
    """Those of the filter in the link; none where it is not written as one."""
    try:
        return parsed(str(place.part("filter") or ""))
    except BoardError:
        return []


def add(condition: str) -> None:
    """Ask that this holds, too. A condition that is there already is switched on."""
    _add(condition, None)


def offer(label: str, condition: str, key: str = "") -> None:
    """A button that adds the condition."""
    st.button(label, key=key or label, type="tertiary", on_click=add, args=(condition,))


def toggle(condition: str) -> None:
    """Ask that this holds, or no longer: for a click on what a condition stands for."""
    others = [one for one in chips() if one.condition != condition]
    if len(others) < len(chips()):
        set_to(others)
    else:
        add(condition)


def keep_steps(first: int, last: int) -> None:
    """Filter by the steps from `first` to `last`, in place of an earlier range of steps: two ranges could leave nothing."""
    new = Chip(f"step BETWEEN {first} AND {last}")
    set_to([*(one for one in chips() if one.negated or not _STEPS.fullmatch(one.condition)), new])


@place.callback
def steps_filtered(curves: str) -> None:
    """A callback for the curves with that key: keep all pages to the steps that were zoomed to."""
    zoomed = link_texts.step_range(link_texts.range_text(place.reported(curves, "kept")) or "")
    if zoomed is not None:
        keep_steps(*zoomed)


def adopt_steps() -> None:
    """Take over the steps that an older link names outside its filter, written "10-40"."""
    steps = place.step_range("steps")
    place.fill_in(steps=None)
    if steps is not None:
        keep_steps(*steps)


def set_to(new: Sequence[Chip]) -> None:
    """These are the chips from now on."""
    place.remember(filter_problem=None)
    place.go(filter=written(new) or None)


def typed(given: Any) -> None:
    """Apply a condition that the reader wrote, in place of a chip or in addition to the others."""
    if isinstance(given, dict) and isinstance(given.get("condition"), str):
        _add(given["condition"], given.get("in_place_of"))


def chosen(given: Any) -> None:
    """A filter of before, whole."""
    if isinstance(given, str) and given:
        place.remember(filter_problem=None)
        place.go(filter=given)


def named(given: Any) -> None:
    """A name for the filter there is."""
    if not isinstance(given, str):
        return
    try:
        saved.save_filter(given, written(chips()))
    except BoardError as error:
        place.remember(filter_problem=Refused("", str(error)))
    else:
        place.remember(filter_problem=None)


def changed(given: Any) -> None:
    """All chips as the reader left them in the bar."""
    try:
        new = [replace(chip(str(one["condition"])), on=bool(one["on"]), negated=bool(one["negated"])) for one in given]
    except (BoardError, KeyError, TypeError):  # nothing that the bar sends
        return
    set_to(new)


def _add(condition: str, at: Any) -> None:
    try:
        new = chip(condition)
    except BoardError as error:
        place.remember(filter_problem=Refused(condition, str(error)))
        return
    current = chips()
    if isinstance(at, int) and 0 <= at < len(current):
        set_to([*current[:at], new, *current[at + 1 :]])
    else:
        set_to([*(one for one in current if (one.condition, one.negated) != (new.condition, new.negated)), new])
