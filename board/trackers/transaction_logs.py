"""The transaction logs of W&B (`.wandb`) and SwanLab (`.swanlab`): where the log of a run lies, and its records, checked and bounded.

A run lies in a folder named after the time it was begun and its id; one that is gone on with gets one more folder, and a log of the same name
in it. The layout of a log is LevelDB's behind a head of seven bytes: blocks of 32 KiB, in them pieces with a checksum (CRC-32 of kind and
bytes), a length and a kind, whole or first, middle and last of a record; a block's last bytes that cannot hold a piece's head are zero.
"""

import itertools
import re
import struct
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from board.errors import BoardError
from board.sources.nearby_files import folders, listed_files, opened, walk
from board.trackers.contract import library

MAX_RECORD: Final = 64 << 20
"""Bytes of one record; a step's numbers take kilobytes."""

_BEGINNING: Final = 50
"""Records at a log's beginning among which the run's own is: both trackers write it first or second."""

_BLOCK: Final = 32 << 10
_HEAD: Final = struct.Struct("<4sHB")
_PIECE: Final = struct.Struct("<IHB")
_WHOLE, _FIRST, _MIDDLE, _LAST = range(1, 5)
_RUN_FOLDER: Final = re.compile(r"(offline-)?run-\d{8}_\d{6}-")


@dataclass(frozen=True)
class LogKind:
    """One tracker's logs."""

    tracker: str
    ending: str
    """Of a log's name."""
    mark: tuple[bytes, int, int]
    """How a log begins: letters, a number, the layout's version."""
    protobufs: str
    """The module of the tracker's library that has its records as `Record`."""
    named: tuple[str, str]
    """The kind of record that names the run, and its field that does."""

    def find(self, folder: Path) -> list[Path]:
        """The log of each run in a folder or below it; of several of one run the last."""
        logs = sorted(walk(folder, lambda name: name.endswith(self.ending)), key=_begun)
        return list({(path.parent.parent, path.name): path for path in logs}.values())

    def runs(self, path: Path, within: Path | None = None) -> dict[str, Path]:
        """The name of a log's run; {} for one without. No more than the log's beginning is read; raises as `messages` does."""
        begun = itertools.islice(self.messages(path, within), _BEGINNING)
        kind, field = self.named
        name = next((getattr(getattr(record, kind), field) for record in begun if record.HasField(kind)), "")
        return {name: path} if name else {}

    def parts(self, path: Path) -> list[Path]:
        """The logs of one run, in the order in which they were begun, given one of them or the folder that has it.

        A log that lies in no run's folder is alone. Raises BoardError where there is none.
        """
        log = next((file for file in listed_files(path) if file.suffix == self.ending), None) if path.is_dir() else path
        if log is None or log.suffix != self.ending or not log.is_file():
            raise BoardError(f"{path}: no run of {self.tracker}.")
        if not _RUN_FOLDER.match(log.parent.name):
            return [log]
        siblings = [folder / log.name for folder in folders(log.parent.parent) if _RUN_FOLDER.match(folder.name)]
        return sorted((part for part in siblings if part.is_file() and not part.is_symlink()), key=_begun)

    def messages(self, path: Path, within: Path | None = None) -> Iterator[Any]:
        """The records of a log as the tracker's protobufs, in order. A last one still being written is left out. `within` as of `opened`.

        Raises BoardError, naming the file and the byte, for a file that is no such log, and for one that is damaged; TrackerMissing.
        """
        damaged = library("google.protobuf.message", self.tracker, self.protobufs.split(".")[0]).DecodeError
        record = library(self.protobufs, self.tracker).Record
        for data in self.records(path, within):
            try:
                yield record.FromString(data)
            except damaged as error:
                raise BoardError(f"{path}: a record is none of {self.tracker}: {error}") from error

    def records(self, path: Path, within: Path | None = None) -> Iterator[bytes]:
        """The bytes of each whole record."""
        record = bytearray()  # bytes would be copied for each piece, of which a record may have millions
        expected = (_WHOLE, _FIRST)
        for at, kind, piece in self._pieces(path, within):
            if kind not in expected:
                raise BoardError(f"{path}: damaged at byte {at:,}: a record's pieces are out of order.")
            record += piece
            if len(record) > MAX_RECORD:
                raise BoardError(f"{path}: a record of more than {MAX_RECORD:,} bytes at byte {at:,}.")
            if kind in (_WHOLE, _LAST):
                yield bytes(record)
                record.clear()
            expected = (_MIDDLE, _LAST) if kind in (_FIRST, _MIDDLE) else (_WHOLE, _FIRST)

    def _pieces(self, path: Path, within: Path | None) -> Iterator[tuple[int, int, bytes]]:
        """Each whole piece: where its head is, its kind and its bytes."""
        with opened(path, within) as file:
            start = 0
            while block := file.read(_BLOCK):
                at = 0
                if start == 0:
                    at = min(_HEAD.size, len(block))  # a file too short to have its mark is one that was just begun
                    if at == _HEAD.size and _HEAD.unpack_from(block) != self.mark:
                        raise BoardError(f"{path}: no transaction log of this tracker, or one of a version that is not known.")
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


def _begun(log: Path) -> str:
    """The time in the name of a log's folder, and what follows it; a run may go on online after it was offline."""
    return log.parent.name.removeprefix("offline-")
