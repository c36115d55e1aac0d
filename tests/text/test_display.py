"""board.text.display: model text made ready for reading, with no character lost or given a meaning."""

import unicodedata

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from board.text import display

HOSTILE = "<script>alert(1)</script> ![x](http://x/y.png) $x^2$ &amp; <s> :red[hi] ~~no~~"

PREVIEWS: dict[str, tuple[str | None, int, str | None]] = {
    "short": ("abc", 10, "abc"),
    "cut": ("abcdef", 3, "abc…"),
    "line breaks": ("a\nb\r\nc\n", 10, "a↵b↵c↵"),
    "cut counts characters before marking": ("a\nbcd", 3, "a↵b…"),
    "null": (None, 10, None),
    "empty": ("", 10, ""),
    "chinese": ("白云一片去悠悠", 4, "白云一片…"),
    "beyond the first plane": ("😀😀😀", 2, "😀😀…"),
    "hostile": (HOSTILE, 200, HOSTILE),
}


@pytest.mark.parametrize(("text", "chars", "expected"), PREVIEWS.values(), ids=PREVIEWS)
def test_previews(text: str | None, chars: int, expected: str | None) -> None:
    """The beginning on one line, letter for letter, with … where it goes on; null stays null."""
    assert display.preview(pa.chunked_array([[text]], pa.large_string()), chars).to_pylist() == [expected]


def test_preview_of_nothing() -> None:
    """No rows, no previews."""
    assert display.preview(pa.chunked_array([], pa.large_string())).to_pylist() == []


VISIBLE = {
    "word": ("word", "word"),
    "leading space": (" word", "·word"),
    "trailing spaces": ("word  ", "word··"),
    "both": (" a ", "·a·"),
    "space within": ("a b", "a b"),
    "space alone": (" ", "·"),
    "spaces alone": ("   ", "···"),
    "empty": ("", ""),
    "line break": ("\n", "↵"),
    "line breaks": ("\n\n", "↵↵"),
    "tab": ("\t", "→"),
    "carriage return": ("\r\n", "␍↵"),
    "space and line break": (" \n", "·↵"),
    "line break and indent": ("\n  x", "↵  x"),
    "zero byte": ("\0", "⟨U+0000⟩"),
    "escape": ("\x1b[31m", "⟨U+001B⟩[31m"),
    "zero width space": ("a\u200bb", "a⟨U+200B⟩b"),
    "byte order mark": ("\ufeff", "⟨U+FEFF⟩"),
    "right to left override": ("\u202etxt", "⟨U+202E⟩txt"),
    "isolate": ("\u2066", "⟨U+2066⟩"),
    "soft hyphen": ("\u00ad", "⟨U+00AD⟩"),
    "no-break space": ("\u00a0", "⟨U+00A0⟩"),
    "ideographic space": ("\u3000", "⟨U+3000⟩"),
    "line separator": ("\u2028", "⟨U+2028⟩"),
    "private use": ("\ue000", "⟨U+E000⟩"),
    "unassigned": ("\u0378", "⟨U+0378⟩"),
    "beyond the first plane": ("\U000e0001", "⟨U+E0001⟩"),
    "chinese": ("威仪", "威仪"),
    "arabic": ("سلام", "سلام"),
    "accent on its own": ("e\u0301", "e\u0301"),
    "emoji": ("😀", "😀"),
    "joined emoji": ("👩\u200d👧", "👩\u200d👧"),
    "joined emoji with selector": ("❤\ufe0f\u200d🔥", "❤\ufe0f\u200d🔥"),
    "joiner alone": ("\u200d", "⟨U+200D⟩"),
    "joiner at the start": ("\u200d👧", "⟨U+200D⟩👧"),
    "joiner at the end": ("👩\u200d", "👩⟨U+200D⟩"),
    "joiner between letters": ("a\u200db", "a⟨U+200D⟩b"),
    "replacement of broken bytes": ("\ufffd", "\ufffd"),
    "tag": ("<s>", "<s>"),
    "hostile": (HOSTILE, HOSTILE),
    "marks of our own": ("·↵→", "·↵→"),
}


@pytest.mark.parametrize(("token", "expected"), VISIBLE.values(), ids=VISIBLE)
def test_tokens_are_visible(token: str, expected: str) -> None:
    """White space and what has no glyph become marks, everything else stays."""
    assert display.visible(token) == expected


@given(st.text(max_size=12))
def test_no_token_is_invisible(token: str) -> None:
    """Whatever the token: something is seen, and no control or format character acts, but for the joiner within an emoji."""
    shown = display.visible(token)

    assert bool(shown) == bool(token)
    assert not token or shown.strip()
    assert {unicodedata.category(one) for one in shown if one != "\u200d"}.isdisjoint({"Cc", "Cf", "Zl", "Zp", "Co", "Cn"})
    assert not shown.startswith(" ")
    assert not shown.endswith(" ")


SHORTENED: dict[str, tuple[str, int, str]] = {
    "short enough": ("abc", 3, "abc"),
    "cut": ("abcd", 3, "abc"),
    "accent goes with its letter": ("abe\u0301x", 3, "ab"),
    "accents go with their letter": ("abe\u0301\u0302x", 4, "ab"),
    "accent that fits": ("abe\u0301x", 4, "abe\u0301"),
    "emoji is not halved before the joiner": ("ab👩\u200d👧", 3, "ab"),
    "emoji is not halved after the joiner": ("ab👩\u200d👧", 4, "ab"),
    "selector goes with its sign": ("ab❤\ufe0fx", 3, "ab"),
    "nothing wanted": ("abc", 0, ""),
    "letter of endless accents is cut": ("a" + "\u0301" * 1_000, 100, "a" + "\u0301" * 99),
}


@pytest.mark.parametrize(("text", "limit", "expected"), SHORTENED.values(), ids=SHORTENED)
def test_shortened_between_characters(text: str, limit: int, expected: str) -> None:
    """Never longer than the limit, never within what a reader sees as one character, if there is such."""
    assert display.shorten(text, limit) == expected


@given(st.text(st.sampled_from("ab\u0301\u200d\ufe0f👩威"), max_size=80), st.integers(0, 80))
def test_shortened_text_is_a_beginning(text: str, limit: int) -> None:
    """Of at most so many characters, and not much less."""
    short = display.shorten(text, limit)

    assert text.startswith(short)
    assert len(short) <= limit
    assert short == text or len(short) >= limit - 32
