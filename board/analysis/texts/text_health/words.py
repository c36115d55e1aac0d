"""Words of a response: those of second thoughts, and letters that make no word."""

from functools import cache
from typing import Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from board.analysis.texts.text_health.texts import CodeUnits
from board.metrics.formulas import BoolArray, Float64Array
from board.schema import Column
from board.text.code_points import PLANE, held

COLUMNS: Final = (
    Column(
        "reflections",
        "number",
        "words of second thoughts, English and Chinese (wait, hmm, let me check, 等等, 重新), in the last 10,000 characters",
        "per 1,000 characters",
        "reflection words",
    ),
    Column(
        "unspeakable",
        "number",
        "share of the Latin letters of the last 10,000 characters that stand in a word of five or more small consonants, or six in a row",
        "share",
        "unspeakable letters",
    ),
    Column(
        "odd_characters",
        "number",
        "share of the last 10,000 characters that are U+FFFD, unassigned, of private use, or control characters",
        "share",
        "odd characters",
    ),
)

REFLECTIONS: Final = (
    r"(?i)\b(?:wait|hmm+|on second thought|hold on|double[- ]check|re-?check"
    r"|(?:let me|let's|i should|i need to) (?:double[- ])?(?:check|verify|reconsider|rethink|re-?examine))\b"
    "|等等|等一下|重新|再检查|再想想|仔细检查|让我检查|让我再|验算一下|不对[，,。]"
)

IN_A_ROW: Final = 6
"""This many consonants in a row are letters without a word; `catchphrase` is a rare exception."""
WHOLE_WORD: Final = 5
"""A word of so many consonants alone is none."""

_CONSONANT, _LETTER, _ODD, _EDGE = 1, 2, 3, 4
_EDGES: Final = " \t\r\n.,!?;:\"'-、。，！？：；"
"""What may stand next to a word of prose; a name in code has other signs next to it."""


@cache
def _kinds() -> NDArray[np.uint8]:
    """What every UTF-16 unit is: a small Latin consonant, another Latin letter, odd, an edge of words, or anything else. Shape (65536,)."""
    found = np.zeros(PLANE, np.uint8)
    found[held(r"[\p{Cn}\p{Co}\p{Cc}\uFFFD--[\t\n\r]]")] = _ODD
    found[held(r"[\p{Latin}&&\p{L}]")] = _LETTER
    # a letter with an accent is a vowel, or next to one
    found[[ord(letter) for letter in "bcdfghjklmnpqrstvwxz"]] = _CONSONANT
    found[[ord(edge) for edge in _EDGES]] = _EDGE
    return found


def reflections(ends: pa.Array) -> dict[str, Float64Array]:
    """Reflection words of each text per 1,000 characters, (n,); NaN for an empty or missing one."""
    count, length = (
        found.fill_null(0).to_numpy(zero_copy_only=False).astype(np.float64)
        for found in (pc.count_substring_regex(ends, REFLECTIONS), pc.utf8_length(ends))
    )
    return {"reflections": np.where(length > 0, 1000 * count / np.maximum(length, 1), np.nan)}


def measure(text: CodeUnits) -> dict[str, Float64Array]:
    """Share of unspeakable letters, 0 where a text has no Latin letter, and of odd characters; (n,), NaN for an empty text."""
    kinds = _kinds()[text.values]
    empty = text.sizes == 0
    latin = text.over(np.add, ((kinds == _CONSONANT) | (kinds == _LETTER)).astype(np.int64))
    odd = text.over(np.add, (kinds == _ODD).astype(np.int64))
    return {
        "unspeakable": np.where(empty, np.nan, _stuck(text, kinds) / np.maximum(latin, 1)),
        "odd_characters": np.where(empty, np.nan, odd / np.maximum(text.sizes, 1)),
    }


def _stuck(text: CodeUnits, kinds: NDArray[np.uint8]) -> Float64Array:
    """Letters of each text in runs of consonants that are too long, (n,)."""
    starts, stops, row = _stuck_runs(text, kinds)
    return np.bincount(row, stops - starts, len(text)).astype(np.float64)


def odd_places(text: CodeUnits) -> BoolArray:
    """Which units are odd characters, or letters in such runs. Shape (N,)."""
    kinds = _kinds()[text.values]
    edges = np.zeros(len(kinds) + 1, np.int64)
    starts, stops, _ = _stuck_runs(text, kinds)
    np.add.at(edges, starts, 1)
    np.add.at(edges, stops, -1)
    found: BoolArray = (kinds == _ODD) | (np.cumsum(edges)[:-1] > 0)
    return found


def _stuck_runs(text: CodeUnits, kinds: NDArray[np.uint8]) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
    """Where runs of too many consonants begin and end (the place behind), and the texts they are of."""
    starts, stops = _runs(text, kinds == _CONSONANT)
    long = stops - starts >= WHOLE_WORD
    starts, stops = starts[long], stops[long]
    first, last = _runs(text, (kinds == _CONSONANT) | (kinds == _LETTER))
    word = np.searchsorted(first, starts, "right") - 1
    row = np.searchsorted(text.offsets, starts, "right") - 1
    begins, ends = first[word], last[word]
    prose = (begins == text.offsets[row]) | (kinds[begins - 1] == _EDGE)
    prose &= (ends == text.offsets[row + 1]) | (kinds[np.minimum(ends, len(kinds) - 1)] == _EDGE)
    stuck = prose & ((stops - starts >= IN_A_ROW) | ((begins == starts) & (ends == stops)))
    return starts[stuck], stops[stuck], row[stuck]


def _runs(text: CodeUnits, marks: BoolArray) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Where runs of marks begin and end (the place behind), none of which reaches into the next text."""
    bounds = np.ones(len(marks), np.bool_)
    bounds[1:] = marks[1:] != marks[:-1]
    bounds[text.offsets[:-1][text.sizes > 0]] = True
    starts = np.flatnonzero(bounds)
    stops = np.append(starts[1:], len(marks))
    return starts[marks[starts]], stops[marks[starts]]
