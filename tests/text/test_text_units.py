"""Text cut into units: words, characters, marks and lines, and what counts as the same."""

from itertools import groupby

import pytest
from hypothesis import given
from hypothesis import strategies as st

from board.text.text_units import GAP, cut

CASES: dict[str, tuple[str, list[str]]] = {
    "words and spaces": ("The  cat\tsat", ["The", "cat", "sat"]),
    "an apostrophe in a word": ("don't 'quote' it’s", ["don't", "'", "quote", "'", "it’s"]),
    "marks in runs of one": ("**bold**,,,, ?!", ["**", "bold", "**", ",,,,", "?", "!"]),
    "LaTeX": (r"\boxed{4_2}", ["\\", "boxed", "{", "4_2", "}"]),
    "code": ("if x>=1:\n    y += 1", ["if", "x", ">", "=", "1", ":", "\n", "y", "+", "=", "1"]),
    "lines": ("a\r\n\nb", ["a", "\r\n\n", "b"]),
    "Chinese and Japanese by characters": ("今天很好。はい yes", ["今", "天", "很", "好", "。", "は", "い", "yes"]),
    "accents, whether one character or two": ("été e\u0301te\u0301", ["été", "e\u0301te\u0301"]),
    "Cyrillic": ("да нет", ["да", "нет"]),
    "an emoji without its joiners": ("ok ✅\ufe0f✅\ufe0f", ["ok", "✅", "✅"]),
    "what was left out": (f"a{GAP}b", ["a", GAP, "b"]),
    "nothing": ("", []),
}


@pytest.mark.parametrize("name", CASES)
def test_units(name: str) -> None:
    """A text's units, in whatever company it is cut."""
    text, wanted = CASES[name]
    for texts in ([text], ["before ", text, " after"]):
        at = texts.index(text)
        found = cut(texts)
        own = slice(found.offsets[at], found.offsets[at + 1])
        assert [text[start:stop] for start, stop in zip(found.starts[own], found.stops[own], strict=True)] == wanted


ALIKE: dict[str, tuple[str, str, bool]] = {
    "a word wherever it stands": ("cat", "  cat", True),
    "another word": ("cat", "act", False),
    "capital letters": ("Cat", "cat", False),
    "long runs of a mark": ("----", "-" * 40, True),
    "short runs of a mark": ("--", "---", False),
    "empty lines": ("\n\n", "\r\n\r\n\r\n", True),
    "a line and an empty line": ("\n", "\n\n", False),
}


@pytest.mark.parametrize("name", ALIKE)
def test_what_is_the_same_unit(name: str) -> None:
    """Equal units have equal hashes, others have others."""
    first, second, same = ALIKE[name]
    found = cut([first, "x", second])
    assert (found.hashes[0] == found.hashes[-1]) == same


@given(st.lists(st.text(st.sampled_from("ab \n,,今'_ﬁ\u200d😀"), max_size=12), max_size=4))
def test_nothing_is_lost(texts: list[str]) -> None:
    """Units lie in order within their texts, and between them there is white space and what is not seen alone."""
    found = cut(texts)
    for at, text in enumerate(texts):
        own = slice(found.offsets[at], found.offsets[at + 1])
        end = 0
        for start, stop in zip(found.starts[own].tolist(), found.stops[own].tolist(), strict=True):
            assert not text[end:start].strip(" \u200d")
            assert end <= start < stop
            end = stop
        assert not text[end:].strip(" \u200d")
    by_hash = sorted(
        (int(found.hashes[unit]), texts[at][found.starts[unit] : found.stops[unit]][:4].replace("\n\n", "\n"))
        for at in range(len(texts))
        for unit in range(found.offsets[at], found.offsets[at + 1])
    )
    assert all(len({piece.strip("\n") for _, piece in same}) == 1 for _, same in groupby(by_hash, key=lambda one: one[0]))
