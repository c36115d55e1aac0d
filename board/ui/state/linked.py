"""Widgets whose values stand in the link: the URL sets them, callbacks write there.

The URL wins. A function for each kind of widget returns what the widget is called with: `st.toggle("Log y", **linked.flag("log_y"))`. A
default is not written, so that links stay short; for a value that the widget does not offer the default is used.
"""

from collections.abc import Callable, Sequence
from typing import Any, Final, Generic, TypedDict, TypeVar

import streamlit as st

from board.ui.state import link_texts, place

T = TypeVar("T")
N = TypeVar("N", int, float)

_MOST_WHOLE: Final = 2**53 - 1
"""The largest whole number that a browser's numbers hold exactly: a widget refuses others."""


class Linked(TypedDict):
    """What every widget is called with."""

    key: str
    on_change: Callable[[], None]


class Offered(Linked, Generic[T]):
    """What a widget is called with that offers one of several, or some of them."""

    options: Sequence[T]
    format_func: Callable[[Any], str]


class Number(Linked, Generic[N]):
    """What a widget for a number is called with."""

    min_value: N | None
    max_value: N | None


def flag(key: str, default: bool = False) -> Linked:
    """For a toggle or an expander."""
    return _linked(key, default, lambda texts: {"true": True, "false": False}.get(texts[-1]))


def text(key: str) -> Linked:
    """For a field of text, empty by default."""
    return _linked(key, "", lambda texts: texts[-1], typed=True)


def number(key: str, default: N | None, least: N | None = None, most: N | None = None) -> Number[N]:
    """For a slider or a field that holds a number from `least` to `most`, a whole one where those are."""
    whole = isinstance(default if least is None else least, int)

    def read(texts: Sequence[str]) -> int | float | None:
        value = _number(texts[-1], whole)
        outside = value is None or (least is not None and value < least) or (most is not None and value > most)
        return None if outside else value

    return {"min_value": least, "max_value": most, **_linked(key, default, read, typed=True)}


def page(key: str, count: int, default: int = 1) -> Linked:
    """For the pages of a list of `count`, at least 1."""
    return _linked(key, default, lambda texts: page if (page := _number(texts[-1], True)) and 1 <= page <= count else None)


def choice(
    key: str,
    options: Sequence[T],
    default: T | None = None,
    *,
    label: Callable[[Any], str] = str,
    then: Callable[[], None] | None = None,
) -> Offered[T]:
    """For one of the options, the first by default; `label` is what each is called, `then` is called when another is chosen."""
    of_text = _by_text(options, label)
    first = options[0] if default is None else default
    return {"options": options, "format_func": label, **_linked(key, first, lambda texts: of_text.get(texts[-1]), then)}


def choices(key: str, options: Sequence[T], default: Sequence[T] = (), *, label: Callable[[Any], str] = str) -> Offered[T]:
    """For some of the options; one empty text in the link says that none is chosen where some are by default."""
    of_text = _by_text(options, label)

    def read(texts: Sequence[str]) -> list[T]:
        return [of_text[text] for text in dict.fromkeys(texts) if text in of_text]

    return {"options": options, "format_func": label, **_linked(key, [*default], read)}


def value(key: str, default: str = "") -> str:
    """The link's text for the widget with that key, whether it is drawn or not, and whether it offers that."""
    return st.query_params.get(key, default)


def put(**values: object) -> None:
    """Set the widgets with those keys, before they are drawn; None is the default."""
    for key, value in values.items():
        if value is None:
            st.session_state.pop(key, None)
        else:
            st.session_state[key] = value
    _write({key: [] if value is None else _texts(value) for key, value in values.items()})


def _write(texts: dict[str, list[str]]) -> None:
    """Change the URL, of all parameters at once: each change is a stop of the browser's Back button. An empty list takes one out."""
    place.moved()
    if any(st.query_params.get_all(key) != said for key, said in texts.items()):
        st.query_params.update(texts)


def _linked(
    key: str,
    default: Any,
    read: Callable[[Sequence[str]], Any],
    then: Callable[[], None] | None = None,
    *,
    typed: bool = False,
) -> Linked:
    """What a widget is called with that holds what `read` makes of the link's texts, None where they are nothing that it offers."""
    texts = st.query_params.get_all(key)
    said = read(texts) if texts else None
    value = default if said is None else said
    # Set anew a field would lose what the reader is just typing. All else is set each time: with another label it is another widget.
    if not typed or key not in st.session_state or st.session_state[key] != value:
        st.session_state[key] = value

    def changed() -> None:
        now = st.session_state[key]
        _write({key: [] if now == default else _texts(now)})
        if then is not None:
            then()

    return {"key": key, "on_change": changed}


def _texts(value: object) -> list[str]:
    if isinstance(value, bool):
        return [str(value).lower()]
    if isinstance(value, list | tuple):
        return [str(one) for one in value] or [""]
    return [link_texts.number_text(value) if isinstance(value, float) else str(value)]


def _by_text(options: Sequence[T], label: Callable[[Any], str]) -> dict[str, T]:
    """The options by what a link calls them; links of before 2026-11-26 say what the screen calls them."""
    return {label(one): one for one in options} | {str(one): one for one in options}


def _number(said: str, whole: bool) -> int | float | None:
    if whole:
        return int(said) if link_texts.is_whole(said) and abs(int(said)) <= _MOST_WHOLE else None
    return link_texts.number(said)
