"""How improbable the words of texts are by their pairs of letters."""

from collections import Counter
from itertools import pairwise
from math import log2

import numpy as np
import pyarrow as pa
from hypothesis import given
from hypothesis import strategies as st

from board.analysis.texts.text_health.letter_pairs import ENOUGH, LEAST, surprisal
from board.metrics.formulas import Float64Array

LEARNT = "The miller counts the sacks of flour, and then he says how many of them there are. " * 30


def _array(texts: list[str | None]) -> pa.Array:
    return pa.array(texts, pa.large_string())


def _pairs(text: str) -> list[tuple[str, str]]:
    """One after the other, the obvious way."""
    end = [letter.lower() if letter.isascii() and letter.isalpha() else None for letter in text[-500:]]
    return [(one, other) for one, other in pairwise(end) if one and other]


def _slowly(texts: list[str | None], learnt: list[str | None]) -> Float64Array:
    known = Counter(pair for text in learnt for pair in _pairs(text or ""))
    firsts = Counter(pair[0] for pair in known.elements())
    found = []
    for text in texts:
        bits = [-log2((known[pair] + 1) / (firsts[pair[0]] + 26)) for pair in _pairs(text or "")]
        found.append(sum(bits) / len(bits) if len(bits) >= LEAST else np.nan)
    return np.array(found)


_TEXTS = st.lists(st.none() | st.text(alphabet=st.sampled_from("abcXYZ é中😀\n1_"), max_size=700), max_size=6)


@given(_TEXTS, _TEXTS)
def test_the_mean_is_that_of_a_slow_reader(texts: list[str | None], learnt: list[str | None]) -> None:
    """Texts of any characters, missing ones, empty ones, and ends of long ones; slices of arrays too."""
    learnt = [*learnt, *[LEARNT] * 8]
    held = pa.concat_arrays([_array(["before it"]), _array(texts)]).slice(1)
    np.testing.assert_allclose(surprisal(held, _array(learnt)), _slowly(texts, learnt), rtol=1e-9)


def test_letters_without_sense_are_far_from_words() -> None:
    """Drawn evenly they are more than 1.5 bits less probable than other words of the language."""
    dice = np.random.default_rng(2)
    random = " ".join("".join(dice.choice(list("abcdefghijklmnopqrstuvwxyz"), 6)) for _ in range(40))
    words = "so the flour is on the scales and the other man counts it again, then tells them what he has"
    drawn, sensible = surprisal(_array([random, words]), _array([LEARNT] * 8))
    assert drawn - sensible > 1.5


def test_few_pairs_tell_nothing() -> None:
    """Neither of a short text nor, for any, from prompts without Latin words."""
    assert np.isnan(surprisal(_array(["ab", None, ""]), _array([LEARNT] * 8))).all()
    assert np.isnan(surprisal(_array([LEARNT]), _array(["多少？" * ENOUGH]))).all()
    assert surprisal(_array([]), _array([LEARNT] * 8)).shape == (0,)
