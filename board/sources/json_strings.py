"""Flat lists of strings in JSON, one blank at most behind a comma → Arrow, without a Python object per string.

Knows nothing of lines or rollouts.
"""

from collections.abc import Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from typing import Final, NamedTuple

import numpy as np
import orjson
import pyarrow as pa
from numpy.typing import NDArray

_QUOTE, _COMMA, _BACKSLASH, _SPACE = b'",\\ '

_NARROW, _WIDE = 2, 3
"""From the end of a string to the beginning of the next: with a comma between them, or a comma and a blank."""

_ESCAPED: Final = {b"n": b"\n", b"t": b"\t", b"r": b"\r", b"b": b"\b", b"f": b"\f", b'"': b'"', b"\\": b"\\", b"/": b"/"}

_MEANT: Final = np.zeros(256, np.uint8)
"""By the character after a backslash the one that both stand for; 0 where more characters belong to it."""
for _written, _meant in _ESCAPED.items():
    _MEANT[ord(_written)] = ord(_meant)


@dataclass(frozen=True, slots=True)
class Strings:
    """A list in JSON, whatever it holds."""

    json: bytes
    """With a comma between its parts and one blank at most behind that, and none beside the brackets, where all of them are strings."""


def lists_of(given: Sequence[Strings | None]) -> pa.LargeListArray | None:
    """The lists as `large_list<large_string>`, null for None; None where one of them is no strict JSON, or holds anything but strings."""
    lists = [b"" if one is None else one.json[1:-1] for one in given]
    found = _texts([one for one in lists if one])
    if found is None:
        return None
    counts = np.zeros(len(lists), np.int64)
    counts[[bool(one) for one in lists]] = found.counts
    missing = pa.array([one is None for one in given]) if None in given else None
    return pa.LargeListArray.from_arrays(pa.array(_offsets(counts)), found.texts, mask=missing)


class _Texts(NamedTuple):
    """Strings of several lists end to end."""

    texts: pa.LargeStringArray
    counts: NDArray[np.int64]
    """How many there are of each list."""


def _texts(lists: Sequence[bytes], *, again: bool = False) -> _Texts | None:
    """Of lists without their brackets, of one part or more each; None where they hold anything but strings, or are not strict."""
    elements = bytearray(b",").join(lists)
    raw = np.frombuffer(elements, np.uint8)
    if not _may_be_strict(elements, raw):
        return None
    bounds = _offsets(np.array([len(one) + 1 for one in lists], np.int64))
    escapes = _escapes(raw)
    meant = _MEANT[raw[escapes + 1]]
    if not meant.all():
        unread = {*(np.searchsorted(bounds, escapes[meant == 0], "right") - 1).tolist()}
        return _by_object(lists) if again else _rewritten(lists, unread)
    raw[escapes + 1] = meant
    dropped = raw == _QUOTE
    dropped[escapes + 1] = False  # a quote within a string
    quotes = np.flatnonzero(dropped)
    opened, closed = quotes[::2], quotes[1::2]
    between = _between(raw, opened, closed)
    if between is None or not _has_all(opened, bounds[:-1]) or not _has_all(closed, bounds[1:] - 2):
        return None
    for one in (*between, escapes):
        dropped[one] = True
    lengths = closed - opened - 1 - np.bincount(np.searchsorted(opened, escapes) - 1, minlength=len(opened))
    data = pa.py_buffer(raw.compress(~dropped))
    texts = pa.LargeStringArray.from_buffers(len(opened), pa.py_buffer(_offsets(lengths)), data)
    return _Texts(texts, np.diff(np.searchsorted(opened, bounds)))


def _may_be_strict(elements: bytearray, raw: NDArray[np.uint8]) -> bool:
    """Whether these bytes are UTF-8 without the characters that JSON has escaped."""
    try:
        elements.decode()
    except UnicodeDecodeError:
        return False
    return not (raw < _SPACE).any()


def _escapes(raw: NDArray[np.uint8]) -> NDArray[np.int64]:
    """Where the backslashes stand that begin an escape: the first of those that follow each other, the third, and so on."""
    slashes = np.flatnonzero(raw == _BACKSLASH)
    nth = np.arange(len(slashes))
    first = np.maximum.accumulate(np.where(np.diff(slashes, prepend=-2) > 1, nth, 0))
    begins: NDArray[np.bool_] = (nth - first) % 2 == 0
    return slashes[begins]


def _between(
    raw: NDArray[np.uint8], opened: NDArray[np.int64], closed: NDArray[np.int64]
) -> tuple[NDArray[np.int64], NDArray[np.int64]] | None:
    """Where the commas stand between strings with these quotes, and the blanks behind those; None where anything else does."""
    if len(opened) != len(closed):
        return None
    gaps, commas = opened[1:] - closed[:-1], closed[:-1] + 1
    blanks = commas[gaps == _WIDE] + 1
    fits = ((gaps == _WIDE) | (gaps == _NARROW)).all() and (raw[commas] == _COMMA).all() and (raw[blanks] == _SPACE).all()
    return (commas, blanks) if fits else None


def _has_all(among: NDArray[np.int64], wanted: NDArray[np.int64]) -> bool:
    """Whether numbers are among others; both ascend."""
    if not len(among):
        return not len(wanted)
    return bool((among.take(np.searchsorted(among, wanted), mode="clip") == wanted).all())


def _rewritten(lists: Sequence[bytes], which: AbstractSet[int]) -> _Texts | None:
    """The same where some of them are written with an escape of many characters: with the character itself, where that may be."""
    try:
        written = [orjson.dumps(orjson.loads(b"[%s]" % one))[1:-1] if at in which else one for at, one in enumerate(lists)]
    except orjson.JSONDecodeError:
        return None
    return _texts(written, again=True)


def _by_object(lists: Sequence[bytes]) -> _Texts | None:
    """The same where a character may not be written but by such an escape, as hardly any is."""
    try:
        found = [orjson.loads(b"[%s]" % one) for one in lists]
    except orjson.JSONDecodeError:
        return None
    texts = [one for values in found for one in values]
    if not all(type(one) is str for one in texts):
        return None
    return _Texts(pa.array(texts, pa.large_string()), np.array([*map(len, found)], np.int64))


def _offsets(lengths: NDArray[np.int64]) -> NDArray[np.int64]:
    return np.concatenate([[0], np.cumsum(lengths, dtype=np.int64)])
