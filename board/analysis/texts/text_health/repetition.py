"""Repetition in a response, by n-grams of characters and of tokens."""

from typing import Final

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from board.analysis.texts.text_health.texts import GRAM, WINDOW, Shingles, named, repeated_share, shingle_places
from board.metrics.formulas import Float64Array
from board.runs.cache.parts import PADS, Part
from board.schema import TOKENS, Column

COLUMNS: Final = (
    Column(
        "repeated_characters",
        "number",
        "share of the 4-grams of characters, of the last 10,000, that stood there before; it grows with length, and is less in Chinese",
        "share",
        "repeated characters",
    ),
    Column(
        "repeated_tokens",
        "number",
        "share of the 4-grams of tokens, of the last 10,000 without padding, that stood there before; over 0.3 is much",
        "share",
        "repeated tokens",
    ),
)

_MIX: Final = tuple(np.uint64(odd) for odd in (0x9E3779B97F4A7C15, 0xC2B2AE3D27D4EB4F, 0x165667B19E3779F9, 0xD6E8FEB86659FD93))
"""Odd constants with no simple relation: four codes times these, added, are a 64-bit hash of an n-gram of tokens."""

_ROWS: Final = 2_000
"""Rollouts whose tokens are measured together."""


def of_characters(four: Shingles) -> dict[str, Float64Array]:
    """Share of repeated character 4-grams of each text, (n,); NaN for a text of fewer than four."""
    return {"repeated_characters": repeated_share(four)}


def of_tokens(part: Part) -> dict[str, Float64Array]:
    """Share of repeated token 4-grams of each rollout, (n,); NaN where it has fewer than four tokens."""
    found = np.full(len(part), np.nan)
    if TOKENS in part.tokens.column_names:
        tokens, pads = (part.tokens.column(name).chunk(0) for name in (TOKENS, PADS))
        for first in range(0, len(part), _ROWS):
            rows = slice(first, first + _ROWS)
            found[rows] = _repeated(tokens[rows], pads[rows])
    return {"repeated_tokens": found}


def _repeated(tokens: pa.LargeListArray, pads: pa.LargeListArray) -> Float64Array:
    """As `of_tokens`, for some rollouts whose lists of tokens are null or as long as those of pads."""
    codes = _codes(tokens)
    offsets = tokens.offsets.to_numpy() - tokens.offsets[0].as_py()
    own = ~named(tokens, pads)
    if own.all() and (np.diff(offsets) <= WINDOW).all():
        return repeated_share(_grams(codes, offsets))
    behind = np.cumsum(own)  # tokens up to each but padding, so that the window is of these alone
    total = np.concatenate([[0], behind])[offsets]
    own &= np.repeat(total[1:], np.diff(offsets)) - behind < WINDOW
    counts = np.diff(np.concatenate([[0], np.cumsum(own)])[offsets])
    return repeated_share(_grams(codes[own], np.concatenate([[0], np.cumsum(counts)])))


def _codes(tokens: pa.LargeListArray) -> NDArray[np.uint64]:
    start, stop = tokens.offsets[0].as_py(), tokens.offsets[-1].as_py()
    indices = tokens.values.slice(start, stop - start).dictionary_encode().indices
    codes: NDArray[np.uint64] = indices.fill_null(-1).to_numpy(zero_copy_only=False).astype(np.uint64)
    return codes


def _grams(codes: NDArray[np.uint64], offsets: NDArray[np.int64]) -> Shingles:
    places, own = shingle_places(offsets, GRAM)
    keys = np.zeros(len(places), np.uint64)
    for at, odd in enumerate(_MIX):
        keys += codes[places + at] * odd
    return Shingles(keys, own)
