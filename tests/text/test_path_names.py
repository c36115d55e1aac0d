r"""board.text.path_names: names of files as they are shown, and back."""

import os
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from board.text import path_names

SHOWN = {
    "plain": (b"run_1", "run_1"),
    "any script": ("실행 é 🎲".encode(), "실행 é 🎲"),
    "no UTF-8": (b"bad\xff", r"bad\xff"),
    "a backslash where bytes are written out": (rb"bad\xff", r"bad\x5cxff"),
    "a backslash written out": (rb"bad\x5cxff", r"bad\x5cx5cxff"),
    "any other backslash": (rb"a\b\xg", r"a\b\xg"),
    "a backslash before an odd byte": (b"\\\xff", r"\\xff"),
    "a line end": (b"a\nb", r"a\x0ab"),
    "an escape sequence": (b"\x1b[31m", r"\x1b[31m"),
    "a mark of direction": ("a\u202eb".encode(), r"a\xe2\x80\xaeb"),
    "a line separator": ("a\u2028b".encode(), r"a\xe2\x80\xa8b"),
    "a surrogate as bytes": (b"\xed\xb3\xbf", r"\xed\xb3\xbf"),
    "folders": (b"a\xff/b\xfe/c.jsonl", r"a\xff/b\xfe/c.jsonl"),
    "Markdown": (b"**a** [b](c)", "**a** [b](c)"),
}


@pytest.mark.parametrize(("path", "text"), SHOWN.values(), ids=SHOWN)
def test_names_are_shown_with_their_odd_bytes(path: bytes, text: str) -> None:
    """What is shown is text, and says which bytes the name has."""
    assert path_names.shown(Path(os.fsdecode(path))) == text
    assert os.fsencode(path_names.path_of(text)) == path


PART = st.binary(max_size=12) | st.text("\\x5cf0\u202e\n\udcff", max_size=12).map(os.fsencode)


@given(PART)
def test_every_name_is_found_again(path: bytes) -> None:
    """Whatever the bytes, the text is printable UTF-8 and its path is the same again; so no two names are shown alike."""
    text = path_names.shown(os.fsdecode(path))

    assert text.encode().decode() == text
    assert "\n" not in text
    assert os.fsencode(path_names.path_of(text)) == path


@given(st.text(st.characters(), max_size=12))
def test_any_text_of_a_link_is_a_path(text: str) -> None:
    """A link may say anything: what it names need not be there, but nothing fails."""
    assert isinstance(os.fsencode(path_names.path_of(text)), bytes)
