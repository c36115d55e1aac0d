"""Texts of many rollouts as flat arrays of UTF-16 units, and their n-grams.

A response may be a hundred thousand tokens; what is measured of its text is measured of its end, so that no rollout costs more than some
milliseconds. UTF-16 because four units are one 64-bit number, which makes an n-gram a key without arithmetic; a character outside the Basic
Multilingual Plane (an emoji) counts as two.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from board.runs.cache.parts import PADS, Part
from board.schema import TOKENS
from board.text.padding import COMMON_PADS, END_TOKENS

WINDOW: Final = 10_000
"""At most this many characters at the end of a text are measured; slime and Telescope compress as many."""

GRAM: Final = 4
"""Units, or tokens, of an n-gram."""

AT_ONCE: Final = 1 << 17
"""About so many bytes of text make a block: its arrays fit a processor's cache."""

_MOST_ROWS: Final = 1 << 16
"""Rows of a block: the row's number takes the top 16 bits of a key."""

_ODD: Final = np.uint64(0x9E3779B97F4A7C15)
"""2⁶⁴ over the golden ratio: multiplication by it spreads keys evenly (Knuth, The Art of Computer Programming 3, 6.4)."""

_NAMES_OF_BYTES: Final = (("Ġ", " "), ("▁", " "), ("Ċ", "\n"))


_SPECIAL: Final = "|".join(map(re.escape, sorted(COMMON_PADS | END_TOKENS))) + r"|<[|｜][^<>|｜\s]{1,40}[|｜]>"
_PADDING: Final = rf"(?:\s*(?:{_SPECIAL}))+\s*$"


def column(part: Part, name: str) -> pa.Array:
    """A text of each rollout, (n,) large_string, null where it has none."""
    if name not in part.texts.column_names:
        return pa.nulls(len(part), pa.large_string())
    return part.texts.column(name).combine_chunks().cast(pa.large_string())


def responses(part: Part) -> pa.Array:
    """The response of each rollout, its tokens joined where it has no text, null where it has neither. (n,) large_string.

    Without padding, and without special tokens at its end.
    """
    texts = without_padding(column(part, "response"))
    missing = np.flatnonzero(texts.is_null().to_numpy(zero_copy_only=False))
    if not len(missing) or TOKENS not in part.tokens.column_names:
        return texts
    rows = pa.array(missing)
    tokens = part.tokens.column(TOKENS).chunk(0).take(rows)
    pads = part.tokens.column(PADS).chunk(0).take(rows)
    alike = tokens.is_valid().to_numpy(zero_copy_only=False)
    unpadded = ~named(tokens, pads)
    sizes = over(np.add, unpadded.astype(np.int64), tokens.offsets.to_numpy()).astype(np.int64)
    lists = pa.LargeListArray.from_arrays(_offsets(sizes), tokens.values.filter(pa.array(unpadded)))
    joined = without_padding(pc.binary_join(lists, pa.scalar("", pa.large_string())))
    for mark, text in _NAMES_OF_BYTES:
        joined = pc.replace_substring(joined, mark, text)
    whole = texts.to_numpy(zero_copy_only=False).copy()
    whole[missing[alike]] = joined.to_numpy(zero_copy_only=False)[alike]
    return pa.array(whole, pa.large_string())


def without_padding(texts: pa.Array) -> pa.Array:
    """Texts without special tokens at their ends, which pad, and would be taken for a loop. Null stays null."""
    padded = np.flatnonzero(pc.match_substring_regex(texts, _PADDING).fill_null(False).to_numpy(zero_copy_only=False))
    if not len(padded):
        return texts
    whole = texts.to_numpy(zero_copy_only=False).copy()
    whole[padded] = pc.replace_substring_regex(texts.take(pa.array(padded)), _PADDING, "").to_numpy(zero_copy_only=False)
    return pa.array(whole, pa.large_string())


def named(tokens: pa.LargeListArray, marks: pa.LargeListArray) -> NDArray[np.bool_]:
    """The marks of all tokens end to end: a rollout whose tokens are null has marks for its numbers, which are left out. (tokens,)"""
    start, stop = marks.offsets[0].as_py(), marks.offsets[-1].as_py()
    values: NDArray[np.bool_] = marks.values.slice(start, stop - start).to_numpy(zero_copy_only=False)
    if not tokens.null_count:
        return values
    has: NDArray[np.bool_] = tokens.is_valid().to_numpy(zero_copy_only=False)
    return values[np.repeat(has, np.diff(marks.offsets.to_numpy()))]


def ends(texts: pa.Array) -> pa.Array:
    """The last WINDOW characters of each text, as it is where it has fewer. Null stays null."""
    if not pc.any(pc.greater(pc.binary_length(texts), WINDOW)).as_py():
        return texts
    return pc.utf8_slice_codeunits(texts, -WINDOW, None)


def blocks(*texts: pa.Array) -> Iterator[tuple[int, int]]:
    """Ranges of rows whose texts, of several columns of equally many, have about AT_ONCE bytes together, or one row."""
    bounds = np.sum([_bounds(one) - _bounds(one)[0] for one in texts], axis=0)
    rows, first = len(bounds) - 1, 0
    while first < rows:
        last = int(np.searchsorted(bounds, bounds[first] + AT_ONCE))
        last = min(max(last, first + 1), first + _MOST_ROWS, rows)
        yield first, last
        first = last


def utf8(texts: pa.Array) -> tuple[memoryview, NDArray[np.int64]]:
    """The bytes of some texts end to end, and where in them each begins and the last ends, (n + 1,). Null is an empty text."""
    bounds = _bounds(texts)
    data = texts.buffers()[2]
    return memoryview(data) if data is not None else memoryview(b""), bounds


def _bounds(texts: pa.Array) -> NDArray[np.int64]:
    buffer = texts.buffers()[1]
    if buffer is None:
        return np.zeros(len(texts) + 1, np.int64)
    return np.frombuffer(buffer, np.int64, len(texts) + 1, texts.offset * 8)


def _offsets(sizes: NDArray[np.int64]) -> NDArray[np.int64]:
    return np.concatenate([[0], np.cumsum(sizes, dtype=np.int64)])


@dataclass(frozen=True)
class CodeUnits:
    """Some texts in UTF-16, end to end."""

    values: NDArray[np.uint16]
    """(N,)"""
    offsets: NDArray[np.int64]
    """(n + 1,): text i has the units from the i-th to before the next."""

    def __len__(self) -> int:
        return len(self.offsets) - 1

    @property
    def sizes(self) -> NDArray[np.int64]:
        """(n,): units of each."""
        return np.diff(self.offsets)

    def chosen(self, which: NDArray[np.int64]) -> "CodeUnits":
        """Some of the texts, in that order."""
        sizes = self.sizes[which]
        offsets = _offsets(sizes)
        return CodeUnits(self.values[np.arange(offsets[-1]) + np.repeat(self.offsets[which] - offsets[:-1], sizes)], offsets)

    def over(self, reduce: np.ufunc, values: NDArray[np.generic]) -> NDArray[np.generic]:
        """`values` (N,) reduced to one per text, (n,); 0 for an empty one."""
        return over(reduce, values, self.offsets)


def over(reduce: np.ufunc, values: NDArray[np.generic], offsets: NDArray[np.int64]) -> NDArray[np.generic]:
    """`values[offsets[i]:offsets[i + 1]]` reduced to one for every i, (n,) of (n + 1,); 0 for an empty one."""
    filled = np.diff(offsets) > 0
    found = np.zeros(len(filled), values.dtype)
    if filled.any():  # reduceat gives an empty segment its neighbour's first value
        found[filled] = reduce.reduceat(values[: offsets[-1]], offsets[:-1][filled])
    return found


def code_units(texts: pa.Array) -> CodeUnits:
    """Texts as UTF-16 units. Null is an empty text."""
    data, bounds = utf8(texts)
    raw = np.frombuffer(data, np.uint8)[bounds[0] : bounds[-1]]
    values = np.frombuffer(raw.tobytes().decode("utf-8", "surrogatepass").encode("utf-16-le", "surrogatepass"), np.uint16)
    if len(values) == len(raw):  # ASCII
        return CodeUnits(values, bounds - bounds[0])
    of_byte = np.ones(256, np.uint8)  # a character of four bytes has two units
    of_byte[0x80:0xC0], of_byte[0xF0:] = 0, 2
    sizes = over(np.add, of_byte[raw].astype(np.int64), bounds - bounds[0])
    return CodeUnits(values, _offsets(sizes.astype(np.int64)))


@dataclass(frozen=True)
class Shingles:
    """The n-grams of each of n texts, text by text, G in all."""

    keys: NDArray[np.uint64]
    """(G,): equal for equal n-grams, else different."""
    offsets: NDArray[np.int64]
    """(n + 1,): text i has the n-grams from the i-th to before the next."""


def shingles(text: CodeUnits) -> Shingles:
    """The GRAM-grams of units of each text."""
    if len(text.values) < GRAM:
        return Shingles(np.zeros(0, np.uint64), np.zeros(len(text) + 1, np.int64))
    everywhere = np.ndarray((len(text.values) - GRAM + 1,), np.dtype("<u8"), text.values.tobytes(), 0, (2,)).copy()
    places, offsets = shingle_places(text.offsets, GRAM)
    return Shingles(everywhere[places].astype(np.uint64), offsets)


def shingle_places(offsets: NDArray[np.int64], size: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Where n-grams of `size` begin in texts end to end, none of which reaches into the next text; and their own offsets, (n + 1,)."""
    counts = np.maximum(np.diff(offsets) - size + 1, 0)
    own = _offsets(counts)
    return np.arange(own[-1]) + np.repeat(offsets[:-1] - own[:-1], counts), own


def longer(short: Shingles) -> Shingles:
    """From GRAM-grams those of twice the size, identified by a hash of 64 bits."""
    places, offsets = shingle_places(short.offsets, GRAM + 1)
    keys = scattered(short.keys)
    return Shingles(keys[places] * _ODD + keys[places + GRAM], offsets)


def scattered(keys: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """Keys with their bits spread, different for different ones. Same shape."""
    mixed = keys * _ODD
    return mixed ^ (mixed >> np.uint64(32))


def repeated_share(found: Shingles) -> NDArray[np.float64]:
    """Share of a text's n-grams that stood in it before: 1 − different ones ÷ all, 0 to 1, (n,); NaN where it has none.

    Counted by sorting: the row in the top 16 bits, 48 bits of the scattered key below, in which two of 10,000 different n-grams are taken
    for one about once in 5 million texts.
    """
    counts = np.diff(found.offsets)
    rows = np.repeat(np.arange(len(counts), dtype=np.uint64) << np.uint64(48), counts)
    keys = np.sort((scattered(found.keys * _ODD) >> np.uint64(16)) | rows)
    new = np.ones(len(keys), np.bool_)
    np.not_equal(keys[1:], keys[:-1], out=new[1:])
    different = over(np.add, new.astype(np.int64), found.offsets)
    with np.errstate(invalid="ignore"):
        return np.where(counts > 0, 1 - different / np.maximum(counts, 1), np.nan)
