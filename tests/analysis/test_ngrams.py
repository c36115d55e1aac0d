"""n-grams of many texts against a loop over each text."""

from collections import defaultdict

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from board.analysis.texts.ngrams import MOST_CHARACTERS, MOST_WORDS, REPEATS, Grams, frequent
from board.text.text_units import GAP, Units, cut

Found = dict[tuple[tuple[str, ...], int], set[int]]


def pieces(units: Units, texts: list[str]) -> list[list[str]]:
    """The units of each text, as text."""
    return [
        [text[units.starts[at] : units.stops[at]] for at in range(units.offsets[row], units.offsets[row + 1])]
        for row, text in enumerate(texts)
    ]


def slow(texts: list[str], least: int) -> Found:
    """Which texts hold which n-gram how often at least."""
    found: Found = defaultdict(set)
    for row, words in enumerate(pieces(cut(texts), texts)):
        counts: dict[tuple[str, ...], int] = defaultdict(int)
        for length in range(1, MOST_CHARACTERS + 1):
            for start in range(len(words) - length + 1):
                gram = tuple(words[start : start + length])
                if GAP not in gram and (length <= MOST_WORDS or all(word >= "一" for word in gram)):
                    counts[gram] += 1
        for gram, count in counts.items():
            found[gram, 1].add(row)
            if len(gram) <= 2 and any(word in "\n,.;" for word in gram):
                for times in REPEATS:
                    if count >= times:
                        found[gram, times].add(row)
    return {gram: rows for gram, rows in found.items() if len(rows) >= least}


def quick(grams: Grams, texts: list[str]) -> Found:
    """The same of what was found."""
    words = [word for text in pieces(cut(texts), texts) for word in text]
    return {
        (tuple(words[first : first + length]), times): set(grams.held_by(at).tolist())
        for at, (first, length, times) in enumerate(
            zip(grams.first_at.tolist(), grams.lengths.tolist(), grams.times.tolist(), strict=True)
        )
    }


@given(
    st.lists(st.lists(st.sampled_from(["a", "b", "cc", ",", ".", "\n", "今", "天", GAP]), max_size=14).map(" ".join), max_size=8),
    st.integers(1, 3),
)
def test_against_a_loop(texts: list[str], least: int) -> None:
    """The same n-grams, held by the same texts."""
    assert quick(frequent(cut(texts), least), texts) == slow(texts, least)


def test_of_what_they_are_made() -> None:
    """Of a longer one both pieces are named, of a repeated one the form of half as many times; a lone character is only a piece."""
    texts = ["a, b, c, d, 今天"] * 3
    grams = frequent(cut(texts), 2)
    names = dict(enumerate(quick(grams, texts)))
    at = {name: at for at, name in names.items()}
    pair = at[("a", ",", "b"), 1]
    assert names[int(grams.prefixes[pair])] == (("a", ","), 1)
    assert names[int(grams.suffixes[pair])] == ((",", "b"), 1)
    assert names[int(grams.prefixes[at[(",",), 4]])] == ((",",), 2)
    assert not grams.listable[at[("今",), 1]]
    assert grams.listable[at[("今", "天"), 1]]


@pytest.mark.parametrize("texts", [[], [""], ["a"]])
def test_nothing_frequent(texts: list[str]) -> None:
    """No text, an empty one, and one of which nothing is frequent."""
    grams = frequent(cut(texts), 2)
    assert len(grams.lengths) == 0
    assert grams.chosen(np.zeros(0, np.int64))[1].size == 0
