"""Improbability of words by pairs of letters: a Markov chain learnt from other texts.

Letters are those of ASCII, in any case; what stands between two words, and any other character, is no part of a pair.
"""

from typing import Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from board.analysis.texts.text_health.texts import utf8
from board.metrics.formulas import Float64Array

LEAST: Final = 30
"""Pairs of a text; fewer are too little evidence."""
ENOUGH: Final = 1_500
"""Pairs to learn from; fewer are too little evidence of a language."""
_WINDOW: Final = 500
"""Characters at the end of a text that are measured."""
_LETTERS: Final = 26
_CODES: Final = np.full(256, _LETTERS, np.uint8)
"""Of each byte its letter, 26 where it is none."""
_CODES[ord("a") : ord("z") + 1] = _CODES[ord("A") : ord("Z") + 1] = np.arange(_LETTERS)


def surprisal(texts: pa.Array, learnt: pa.Array) -> Float64Array:
    """Mean bits of the pairs of each text, (n,), by the frequencies of those of `learnt`, every pair counted once more than it is there.

    Both are large_string. NaN for a text of fewer than LEAST pairs, for a missing one, and for all where `learnt` has fewer than ENOUGH.
    """
    known, _ = _pairs(learnt)
    if len(known) < ENOUGH:
        return np.full(len(texts), np.nan)
    counts = np.bincount(known, minlength=_LETTERS**2).reshape(_LETTERS, _LETTERS) + 1.0
    bits = -np.log2(counts / counts.sum(axis=1, keepdims=True)).ravel()
    pairs, rows = _pairs(texts)
    number = np.bincount(rows, minlength=len(texts))
    mean = np.bincount(rows, bits[pairs], len(texts)) / np.maximum(number, 1)
    return np.where(number >= LEAST, mean, np.nan)


def end(text: str) -> tuple[int, int]:
    """The characters that are measured, from the first to behind the last."""
    return max(0, len(text) - _WINDOW), len(text)


def _pairs(texts: pa.Array) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The pairs of all texts, 26 × the first letter + the second, and which text each is of."""
    data, offsets = utf8(pc.utf8_slice_codeunits(texts, -_WINDOW).cast(pa.large_string()))
    letters = _CODES[np.frombuffer(data, np.uint8)[offsets[0] : offsets[-1]]]
    bounds = offsets - offsets[0]
    paired = (letters[:-1] < _LETTERS) & (letters[1:] < _LETTERS)
    paired[bounds[(bounds > 0) & (bounds < len(letters))] - 1] = False  # the last letter of a text and the first of the next
    places = np.flatnonzero(paired)
    rows = np.repeat(np.arange(len(texts)), np.diff(bounds))[places]
    return _LETTERS * letters[places].astype(np.int64) + letters[places + 1], rows
