"""The records of a run's transaction log as W&B (`.wandb`) and SwanLab (`.swanlab`) keep it: framed, checked, bounded.

Knows nothing of what a record says. The layout is LevelDB's log behind a head of seven bytes: blocks of 32 KiB, in them pieces with a
checksum (CRC-32 of kind and bytes), a length and a kind, whole or first, middle and last of a record; a block's last bytes that cannot
hold a piece's head are zero.
"""

import struct
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from board.errors import BoardError
from board.sources.nearby_files import opened

Mark = tuple[bytes, int, int]
"""How a tracker's logs begin: letters, a number, the layout's version."""

WANDB: Final[Mark] = (b":W&B", 0xBEE1, 0)
SWANLAB: Final[Mark] = (b":SWL", 0xE1D6, 2)

MAX_RECORD: Final = 64 << 20
"""Bytes of one record; a step's numbers take kilobytes."""

_BLOCK: Final = 32 << 10
_HEAD: Final = struct.Struct("<4sHB")
_PIECE: Final = struct.Struct("<IHB")
_WHOLE, _FIRST, _MIDDLE, _LAST = range(1, 5)


def records(path: Path, mark: Mark, within: Path | None = None) -> Iterator[bytes]:
    """The bytes of each whole record, in order. A last record still being written is left out. `within` as of `opened`.

    Raises BoardError, naming the file and the byte, for a file that is no transaction log, and for one that is damaged.
    """
    record = bytearray()  # bytes would be copied for each piece, of which a record may have millions
    expected = (_WHOLE, _FIRST)
    for at, kind, piece in _pieces(path, mark, within):
        if kind not in expected:
            raise BoardError(f"{path}: damaged at byte {at:,}: a record's pieces are out of order.")
        record += piece
        if len(record) > MAX_RECORD:
            raise BoardError(f"{path}: a record of more than {MAX_RECORD:,} bytes at byte {at:,}.")
        if kind in (_WHOLE, _LAST):
            yield bytes(record)
            record.clear()
        expected = (_MIDDLE, _LAST) if kind in (_FIRST, _MIDDLE) else (_WHOLE, _FIRST)


def _pieces(path: Path, mark: Mark, within: Path | None) -> Iterator[tuple[int, int, bytes]]:
    """Each whole piece: where its head is, its kind and its bytes."""
    with opened(path, within) as file:
        start = 0
        while block := file.read(_BLOCK):
            at = _after_mark(block, path, mark) if start == 0 else 0
            while at + _PIECE.size <= len(block):
                checksum, length, kind = _PIECE.unpack_from(block, at)
                end = at + _PIECE.size + length
                if end > len(block) and len(block) < _BLOCK:
                    return
                piece = block[at + _PIECE.size : end]
                if end > len(block) or zlib.crc32(piece, zlib.crc32(bytes([kind]))) != checksum:
                    raise BoardError(f"{path}: damaged at byte {start + at:,}.")
                yield start + at, kind, piece
                at = end
            start += len(block)


def _after_mark(block: bytes, path: Path, mark: Mark) -> int:
    """Where the first piece begins. A file too short to have its mark is one that was just begun."""
    if len(block) < _HEAD.size:
        return len(block)
    if _HEAD.unpack_from(block) != mark:
        raise BoardError(f"{path}: no transaction log of this tracker, or one of a version that is not known.")
    return _HEAD.size
