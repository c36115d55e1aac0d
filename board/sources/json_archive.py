"""A zip of JSON files → its samples, as `inspect_ai` writes logs (`.eval`).

Each has what the archive says of all of them. What is unpacked is bounded by what each entry says of itself, and that by the archive's size.
"""

import struct
import zipfile
import zlib
from collections.abc import Callable, Iterator, Mapping
from typing import BinaryIO, Final

import pyarrow as pa

from board.errors import RowRefused
from board.sources import json_record
from board.sources.bounds import Given, TooMuch, is_dense
from board.sources.json_record import Record
from board.text.path_names import shown

_HEADERS: Final = ("header.json", "_journal/start.json")
"""What says whose samples these are; the second while the log is still being written."""

_FOLDER: Final = "samples/"
_LOCAL: Final = struct.Struct("<4s22xHH")
"""Before an entry's bytes: a mark, and how long its name and what follows that are."""

_ZSTD: Final = 93
"""Zip's number for it, which `zipfile` cannot unpack before Python 3.14."""


def records(stream: BinaryIO, size: int, longest: int) -> Iterator[tuple[int, Record | RowRefused, int]]:
    """(number, record, bytes) of each sample, or the reason instead: the header with the one sample in its list. Raises RowRefused."""
    try:
        with zipfile.ZipFile(stream) as archive:
            entries = archive.infolist()
    except (zipfile.BadZipFile, ValueError, NotImplementedError, struct.error) as error:
        raise RowRefused(f"cannot be read as a zip archive: {error}") from error
    given = Given(size)
    given.expect(len(entries), 0)
    by_name = {entry.filename: entry for entry in entries}
    header: Record = {}
    if named := next((by_name[name] for name in _HEADERS if name in by_name), None):
        header = json_record.parse(_unpacked(stream, named, longest))
    samples = [one for one in entries if one.filename.startswith(_FOLDER) and one.filename.endswith(".json")]
    for number, entry in enumerate(samples, 1):
        try:
            data = _unpacked(stream, entry, longest)
            given.take(1, len(data))  # of what is no sample, too: entries may lie over each other
            sample = json_record.parse(data)
        except TooMuch:
            raise
        except RowRefused as error:
            yield number, RowRefused(f"{shown(entry.filename)} {error}"), 0
        else:
            yield number, {**header, "samples": [sample]}, entry.file_size


def _unpacked(stream: BinaryIO, entry: zipfile.ZipInfo, longest: int) -> bytes:
    """The bytes of an entry, no more than it says it has. Raises RowRefused."""
    if entry.file_size > longest:
        raise RowRefused(f"is longer than {longest:,} bytes (RL_BOARD_LONGEST_LINE): it is left out")
    if is_dense(entry.compress_size, entry.file_size):
        raise RowRefused(
            f"says that {entry.compress_size:,} bytes become {entry.file_size:,} when they are unpacked: it is not read"
        )
    stream.seek(entry.header_offset)
    begins = stream.read(_LOCAL.size)
    if len(begins) < _LOCAL.size or not begins.startswith(b"PK\3\4"):
        raise RowRefused("is not where the archive says")
    _, *before = _LOCAL.unpack(begins)
    stream.seek(sum(before), 1)
    packed = stream.read(min(entry.compress_size, longest))
    try:
        data = _PACKINGS[entry.compress_type](packed, entry.file_size)
    except (KeyError, zlib.error, pa.ArrowException, OSError, ValueError) as error:
        raise RowRefused(f"cannot be unpacked: {error}") from error
    if len(data) != entry.file_size or zlib.crc32(data) != entry.CRC:
        raise RowRefused("is damaged: it is not what the archive says")
    return data


_PACKINGS: Final[Mapping[int, Callable[[bytes, int], bytes]]] = {
    zipfile.ZIP_STORED: lambda data, size: data[:size],
    zipfile.ZIP_DEFLATED: lambda data, size: zlib.decompressobj(-zlib.MAX_WBITS).decompress(data, max(1, size)),
    _ZSTD: lambda data, size: pa.Codec("zstd").decompress(data, size, asbytes=True),
}
