"""The records of a TensorBoard event file: framed, checked, bounded. Knows nothing of what a record says.

TensorFlow's TFRecord layout: length (uint64, little-endian), masked CRC-32C of the length, the bytes, masked CRC-32C of the bytes.
TensorBoard's reader stops silently at the first bad checksum and reads as many bytes as a length asks for; here both are errors.
Its checksum, a Python loop over bytes, takes 0.2 s for 1 MB; here the short records of a block are taken together, column by column, and
the long ones by google-crc32c where it is installed.
"""

import os
import struct
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import numpy as np
from numpy.typing import NDArray

from board.errors import BoardError
from board.sources.nearby_files import opened

MAX_RECORD: Final = 256 << 20
"""Bytes of one record; a step's numbers take kilobytes, an image or a model's graph some megabytes."""

Bytes = NDArray[np.uint8]
Places = NDArray[np.int64]

_BLOCK: Final = 4 << 20
_LENGTH: Final = 8
_HEAD: Final = struct.Struct("<QI")
_SUM: Final = struct.Struct("<I")
_SHORT: Final = 4096
"""Records up to so many bytes are checked together, which for scalars is faster than a call each; a longer one alone."""


def records(path: Path, within: Path | None = None) -> Iterator[bytes]:
    """The bytes of each whole record, in order. A last record still being written is left out. `within` as of `opened`.

    Raises BoardError, naming the file and the byte, for a record that is damaged or over MAX_RECORD, before anything of its block is given.
    """
    passed, missing, held = 0, 0, b""
    with opened(path, within) as file:
        left = file.seek(0, os.SEEK_END)
        file.seek(0)
        while left and (block := file.read(min(left, max(_BLOCK, missing)))):
            left -= len(block)
            held += block
            bounds, used, missing = _framed(held, f"{path}: damaged after byte {passed:,}")
            yield from (held[start:end] for start, end in bounds)
            passed, held = passed + used, held[used:]


def _framed(held: bytes, place: str) -> tuple[list[tuple[int, int]], int, int]:
    """Where each whole record starts and ends, the bytes they take with their frames, and how many the next one lacks."""
    heads, sums, bounds = [], [], []
    at, missing = 0, 0
    while at + _HEAD.size <= len(held):
        length, checksum = _HEAD.unpack_from(held, at)
        heads.append(at)
        sums.append(checksum)
        end = at + _HEAD.size + length
        if end + _SUM.size > len(held):
            missing = end + _SUM.size - len(held)
            break
        bounds.append((at + _HEAD.size, end))
        at = end + _SUM.size
    data = np.frombuffer(held, np.uint8)
    starts = np.array(heads, np.int64)
    _compare(data, starts, np.full(len(starts), _LENGTH), np.array(sums, np.uint32), place)
    if missing > MAX_RECORD:
        raise BoardError(f"{place}: a record of more than {MAX_RECORD:,} bytes.")
    starts, ends = np.array(bounds, np.int64).reshape(-1, 2).T
    _compare(data, starts, ends - starts, np.array([_SUM.unpack_from(held, end)[0] for end in ends], np.uint32), place)
    return bounds, at, missing


def _compare(data: Bytes, starts: Places, lengths: Places, sums: NDArray[np.uint32], place: str) -> None:
    """Raises BoardError where a stretch of bytes has not the checksum it came with."""
    short = lengths <= _SHORT
    wrong = not np.array_equal(_checksums(data, starts[short], lengths[short]), sums[short])
    long = zip(starts[~short], lengths[~short], sums[~short], strict=True)
    if wrong or any(_checksum(data[start : start + length].tobytes()) != checksum for start, length, checksum in long):
        raise BoardError(f"{place}: a checksum is wrong.")


def _checksum(data: bytes) -> int:
    """The masked CRC-32C of one stretch; by TensorBoard's own function, which takes hundreds of times as long, where there is no other."""
    try:
        import google_crc32c
    except ImportError:
        from tensorboard.compat.tensorflow_stub.pywrap_tensorflow import masked_crc32c

        return int(masked_crc32c(data))
    return int(_masked(np.array([google_crc32c.value(data)], np.uint32))[0])


def _checksums(data: Bytes, starts: Places, lengths: Places) -> NDArray[np.uint32]:
    """The masked CRC-32C of each stretch: byte by byte as ever, but of all stretches at once, the longest first."""
    from tensorboard.compat.tensorflow_stub.pywrap_tensorflow import CRC_TABLE

    table = np.array(CRC_TABLE, np.uint32)
    order = np.argsort(-lengths, kind="stable")
    places, sizes = starts[order], lengths[order]
    sums = np.full(len(order), 0xFFFFFFFF, np.uint32)
    for column in range(sizes[0] if len(sizes) else 0):
        active = int(np.searchsorted(-sizes, -column))
        sums[:active] = table[(sums[:active] ^ data[places[:active] + column]) & 0xFF] ^ (sums[:active] >> 8)
    sums = ~sums
    masked = np.empty_like(sums)
    masked[order] = _masked(sums)
    return masked


def _masked(sums: NDArray[np.uint32]) -> NDArray[np.uint32]:
    """Checksums as TFRecord keeps them: turned by 15 bits and moved on, since one of data that holds its own checksum would tell little."""
    return ((sums >> np.uint32(15)) | (sums << np.uint32(17))) + np.uint32(0xA282EAD8)
