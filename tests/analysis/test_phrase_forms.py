"""Forms of one phrase: what folds into what, how the longest reads, and the expression that finds it."""

import numpy as np
import pyarrow as pa
import pytest

from board.analysis.texts.ngrams import frequent
from board.analysis.texts.phrase_forms import expression, phrases, whole
from board.analysis.texts.text_search import SearchText, checked, hits_in
from board.text.text_units import cut


def test_one_long_phrase() -> None:
    """A sentence that is longer than any n-gram is one phrase, read as far as the same texts hold it."""
    texts = [f"{word} this is a rather long sentence that comes again {word}" for word in "abcdefgh"] + ["this is", "long"] * 4
    units = cut(texts)
    grams = frequent(units, 4)
    long = np.flatnonzero(whole(grams) & (grams.counts == 8) & (grams.lengths == 5))
    (found,) = phrases(grams, units, texts, long)
    assert found.text == "this is a rather long sentence that comes again"
    assert len(found.forms) == len(long) - 1


def test_pieces() -> None:
    """A word is a mere piece of two where nearly all its texts hold both, and none where many do not."""
    texts = ["very good"] * 10 + ["good"] * 10
    grams = frequent(cut(texts), 5)
    kept = [
        (int(length), int(count)) for length, count in zip(grams.lengths[whole(grams)], grams.counts[whole(grams)], strict=True)
    ]
    assert kept == [(1, 20), (2, 10)]


FOUND: dict[str, tuple[str, int, str, bool]] = {
    "a word": ("cat", 1, "the cat.", True),
    "no part of a word": ("cat", 1, "concatenate", False),
    "marks are no expression": ("\\boxed{4}", 1, "so \\boxed{4}", True),
    "over a line end": (".\nNo", 1, "Yes.\nNo", True),
    "often enough": (",", 3, "a, b,\nc, d", True),
    "not often enough": (",", 3, "a, b, c", False),
    "Chinese within a text": ("今天", 1, "说今天好", True),
}


@pytest.mark.parametrize("name", FOUND)
def test_expression(name: str) -> None:
    """What the search finds by the expression of a phrase."""
    phrase, times, text, wanted = FOUND[name]
    search = checked(SearchText(expression(phrase, times), "expression", exact_case=True))
    assert bool(hits_in(pa.chunked_array([[text]], pa.large_string()), search)[0]) == wanted
