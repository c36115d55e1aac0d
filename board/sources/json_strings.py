"""Flat lists of strings, as JSON without blanks writes them → Arrow, without a Python object per string.

Knows nothing of lines or rollouts.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
import orjson
import pyarrow as pa
from numpy.typing import NDArray

_QUOTE, _COMMA, _BACKSLASH = b'",\\'

_ESCAPED: Final = {b"n": b"\n", b"t": b"\t", b"r": b"\r", b"b": b"\b", b"f": b"\f", b'"': b'"', b"\\": b"\\", b"/": b"/"}

_MEANT: Final = np.zeros(256, np.uint8)
"""By the character after a backslash the one that both stand for; 0 where more characters belong to it."""
for _written, _meant in _ESCAPED.items():
    _MEANT[ord(_written)] = ord(_meant)


@dataclass(frozen=True, slots=True)
class Strings:
    """A list in JSON, whatever it holds."""

    json: bytes
    """Strict, and without blanks between its parts."""
    count: int
    """How many elements it has."""


def lists_of(given: Sequence[Strings | None]) -> pa.LargeListArray | None:
    """The lists as `large_list<large_string>`, null for None; None where one of them holds anything but strings."""
    lists = [one for one in given if one is not None]
    texts = _texts(b",".join([one.json[1:-1] for one in lists if one.count]), sum(one.count for one in lists))
    if texts is None:
        return None
    counts = [0 if one is None else one.count for one in given]
    missing = pa.array([one is None for one in given]) if len(lists) < len(given) else None
    return pa.LargeListArray.from_arrays(pa.array(_offsets(np.array(counts, np.int64))), texts, mask=missing)


def _texts(elements: bytes, count: int) -> pa.LargeStringArray | None:
    """So many strings with commas between them; None where they are anything else."""
    raw = np.frombuffer(bytearray(elements), np.uint8)
    escapes = _escapes(raw)
    meant = _MEANT[raw[escapes + 1]]
    if not meant.all():
        return _texts_by_object(elements)
    raw[escapes + 1] = meant
    dropped = raw == _QUOTE
    dropped[escapes + 1] = False  # a quote within a string
    quotes = np.flatnonzero(dropped)
    opened, closed = quotes[::2], quotes[1::2]
    if not _are_alone(raw, opened, closed, count):
        return None
    dropped[closed[:-1] + 1] = True
    dropped[escapes] = True
    lengths = closed - opened - 1 - np.bincount(np.searchsorted(opened, escapes) - 1, minlength=count)
    return pa.LargeStringArray.from_buffers(count, pa.py_buffer(_offsets(lengths)), pa.py_buffer(raw.compress(~dropped)))


def _escapes(raw: NDArray[np.uint8]) -> NDArray[np.int64]:
    """Where the backslashes stand that begin an escape: the first of those that follow each other, the third, and so on."""
    slashes = np.flatnonzero(raw == _BACKSLASH)
    nth = np.arange(len(slashes))
    first = np.maximum.accumulate(np.where(np.diff(slashes, prepend=-2) > 1, nth, 0))
    begins: NDArray[np.bool_] = (nth - first) % 2 == 0
    return slashes[begins]


def _are_alone(raw: NDArray[np.uint8], opened: NDArray[np.int64], closed: NDArray[np.int64], count: int) -> bool:
    """Whether the strings between these quotes are as many, and nothing but one comma stands between each and the next."""
    if not len(opened) == len(closed) == count:
        return False
    if not count:
        return not len(raw)
    follow = (opened[1:] == closed[:-1] + 2).all() and (raw[closed[:-1] + 1] == _COMMA).all()
    return bool(opened[0] == 0 and closed[-1] == len(raw) - 1 and follow)


def _texts_by_object(elements: bytes) -> pa.LargeStringArray | None:
    """The same where one of them is written with an escape of many characters, as hardly any is."""
    found = orjson.loads(b"[%s]" % elements)
    return pa.array(found, pa.large_string()) if all(type(one) is str for one in found) else None


def _offsets(lengths: NDArray[np.int64]) -> NDArray[np.int64]:
    return np.concatenate([[0], np.cumsum(lengths, dtype=np.int64)])
