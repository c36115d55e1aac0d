"""Location → shards, bytes → lines: which files of a folder may hold rollouts, and how those of lines are read.

A shard is a file at any depth under the run folder: `.jsonl`, also as `.gz` or `.zst`, `.parquet`, or one of the `.pt` and `.json` files
that trainers name after a step or an episode. This module knows what a line is; it does not know what a rollout is, and it never writes.
"""

import gzip
import io
import os
import re
import stat
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from hashlib import blake2b
from pathlib import Path, PurePosixPath
from typing import Any, BinaryIO, Final, Literal, cast

import numpy as np
import pyarrow as pa

from board.errors import RunNotFound

SUFFIXES: Final = (".jsonl", ".jsonl.gz", ".jsonl.zst", ".parquet")

_BY_NAME: Final = re.compile(r"(?:eval_)?[0-9]+(?:_[0-9]+)?\.pt|.*rollout.*\.pt|episode_.*\.json")
"""Of the many `.pt` and `.json` files of an experiment those that may hold rollouts; what is in them decides."""

BOM: Final = b"\xef\xbb\xbf"

_ZSTD_PIECE: Final = 1 << 16
"""Bytes decompressed at a time: so many at most are gone through one by one where a stream is cut."""

_LOOK_BACK: Final = 1 << 16
_GLANCE: Final = 4_096

Fingerprint = tuple[tuple[str, int, int], ...]
"""(name, size in bytes, modification time in ns) of every shard: changes when a shard appears, grows or is rewritten."""


@dataclass(frozen=True)
class Shard:
    """One file of a run."""

    path: Path
    name: str
    """Path relative to the run folder, with `/`: what the screen and the frame call it."""
    size: int
    mtime_ns: int
    objects: bool = False
    """Whether JSON objects take several lines each, so that a line is no record."""
    companions: tuple[str, ...] = ()
    """Paths of the files whose records belong to this one's; size and time are those of all of them."""

    @property
    def of_lines(self) -> bool:
        """Whether each line is a record."""
        return ".jsonl" in self.path.name and not self.objects


@dataclass(frozen=True)
class Problem:
    """One thing that is wrong with the data, and where."""

    shard: str
    line: int | None
    """1-based; None when the whole shard is meant."""
    reason: str
    severity: Literal["refused", "flagged"]
    """`refused`: not loaded. `flagged`: loaded, but something about it is odd."""

    def __str__(self) -> str:
        where = self.shard if self.line is None else f"{self.shard}:{self.line}"
        return f"{where}: {self.reason}"


@dataclass(frozen=True, slots=True)
class Line:
    """One line of a shard, as bytes without its line end."""

    number: int
    offset: int
    """Byte offset of the line in the (decompressed) shard."""
    data: bytes
    whole: bool
    """False when the shard ended before the line end: a job may still be writing it."""


def bare_name(name: str) -> str:
    """A shard's name without its ending: `a/rank_0` of `a/rank_0.jsonl.gz`."""
    ending = max((suffix for suffix in SUFFIXES if name.endswith(suffix)), key=len, default="")
    return name.removesuffix(ending or PurePosixPath(name).suffix)


def natural_key(name: str) -> tuple[tuple[int, str], ...]:
    """Sort key under which `rank_2` comes before `rank_10`; different names have different keys (`rank_1`, `rank_01`)."""
    texts_and_digits = enumerate(re.split(r"([0-9]+)", name))
    key = [_digits_key(part) if at % 2 else (-1, part) for at, part in texts_and_digits]
    return (*key, (-1, name))


def _digits_key(digits: str) -> tuple[int, str]:
    """Orders digits by value without making a number of them: Python refuses to, beyond 4,300 digits."""
    significant = digits.lstrip("0")
    return len(significant), significant


def find_shards(folder: Path, within: Path | None = None) -> tuple[list[Shard], list[Problem]]:
    """Every shard under `folder`, in natural order of name, and what could not be used.

    Links are followed only to files inside `within` (default: the folder itself), so that a run cannot show what lies outside the root.
    Raises RunNotFound when `folder` is no folder.
    """
    if folder.is_file():
        raise RunNotFound(f"{folder.name!r} is a file: name the folder that holds it.")
    if not folder.is_dir():
        raise RunNotFound(f"No folder {folder.name!r} here: choose another run.")
    allowed = (within or folder).resolve()
    shards: list[Shard] = []
    problems: list[Problem] = []

    def unreadable(error: OSError) -> None:
        name = Path(error.filename).relative_to(folder).as_posix()
        problems.append(Problem(name, None, f"cannot be read: {error.strerror}", "refused"))

    for parent, folders, files in os.walk(folder, onerror=unreadable):
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        for file in files:
            if file.startswith(".") or not (file.endswith(SUFFIXES) or _BY_NAME.fullmatch(file)):
                continue
            path = Path(parent, file)
            name = path.relative_to(folder).as_posix()
            found = _stat(path, name, allowed)
            (shards if isinstance(found, Shard) else problems).append(found)  # type: ignore[arg-type]
    return sorted(shards, key=lambda shard: natural_key(shard.name)), problems


def _stat(path: Path, name: str, allowed: Path) -> Shard | Problem:
    """The shard at `path`, or why it cannot be one."""
    try:
        if path.is_symlink() and not path.resolve().is_relative_to(allowed):
            return Problem(name, None, "is a link to a file outside the root, which the board does not read", "refused")
        status = path.stat()
    except OSError as error:
        return Problem(name, None, f"cannot be read: {error.strerror}", "refused")
    except RuntimeError:  # what pathlib before Python 3.13 makes of it
        return Problem(name, None, "cannot be read: a link that leads back to itself", "refused")
    if not stat.S_ISREG(status.st_mode):
        return Problem(name, None, "cannot be read: it is a pipe or a device, not a file", "refused")
    return Shard(path, name, status.st_size, status.st_mtime_ns)


def fingerprint(shards: list[Shard]) -> Fingerprint:
    """What identifies the content of a run without reading it."""
    return tuple((shard.name, shard.size, shard.mtime_ns) for shard in shards)


@contextmanager
def _open(shard: Shard) -> Iterator[tuple[BinaryIO, Callable[[], int]]]:
    """The shard's decompressed bytes, and a function that tells how many bytes of the file have been read."""
    if shard.name.endswith(".zst"):
        with io.BufferedReader(_Zstd(shard.path), _ZSTD_PIECE) as buffered:
            yield cast(BinaryIO, buffered), buffered.raw.compressed_position
        return
    with shard.path.open("rb") as raw:
        if shard.name.endswith(".gz"):
            with gzip.open(raw) as stream:
                yield cast(BinaryIO, stream), raw.tell
        else:
            yield raw, raw.tell


class _Zstd(io.RawIOBase):
    """A zstd file decompressed; every byte before a cut comes out before the error does.

    Arrow's own stream throws away what one read has gathered when it meets the cut. So at an error the file is opened again,
    skipped to what was given out so far, and read byte by byte from there.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._given = 0
        self._careful = False
        self._open()

    def _open(self) -> None:
        self._file = self._path.open("rb")
        self._stream = pa.CompressedInputStream(pa.PythonFile(self._file, mode="r"), "zstd")

    def readable(self) -> bool:
        return True

    def compressed_position(self) -> int:
        """How many bytes of the file have been read."""
        return self._file.tell()

    def readinto(self, buffer: Any) -> int:
        """Fill the buffer, or one byte of it while careful; 0 at the end."""
        try:
            data = self._stream.read(1 if self._careful else len(buffer))
        except OSError:
            if self._careful:
                raise
            self._reopen_carefully()
            return self.readinto(buffer)
        buffer[: len(data)] = data
        self._given += len(data)
        return len(data)

    def _reopen_carefully(self) -> None:
        self._stream.close()
        self._open()
        self._careful = True
        left = self._given
        while left:
            left -= len(self._stream.read(min(left, _ZSTD_PIECE)))

    def close(self) -> None:
        self._stream.close()
        self._file.close()
        super().close()


def read_lines(shard: Shard, on_bytes: Callable[[int], None] | None = None) -> Iterator[Line | Problem]:
    """The lines of a shard in order; blank lines are skipped, a damaged or vanished file ends in one Problem.

    `on_bytes` is called now and then with the number of file bytes read so far.
    """
    number = 0
    try:
        with _open(shard) as (stream, position):
            offset = 0
            for number, data in enumerate(stream, 1):
                if data.strip() and (number > 1 or data.strip() != BOM):
                    skipped = len(BOM) if offset == 0 and data.startswith(BOM) else 0
                    yield Line(number, offset + skipped, data[skipped:].rstrip(b"\r\n"), data.endswith(b"\n"))
                offset += len(data)
                if on_bytes and not number % 64:
                    on_bytes(position())
    except (EOFError, OSError, zlib.error, pa.ArrowException) as error:
        yield _reading_problem(shard, number or None, error)


def is_plain(shard: Shard) -> bool:
    """Whether the shard is of lines and not compressed, so that it can be read from any line on."""
    return shard.of_lines and not shard.name.endswith((".gz", ".zst"))


def last_line_end(shard: Shard) -> int:
    """Bytes of a plain shard up to and with its last line end, as far as it was written when it was found."""
    with shard.path.open("rb") as stream:
        stop = shard.size
        while stop:
            start = max(0, stop - _LOOK_BACK)
            stream.seek(start)
            at = stream.read(stop - start).rfind(b"\n")
            if at >= 0:
                return start + at + 1
            stop = start
    return 0


def cuts(shard: Shard, start: int, stop: int, size: int) -> list[tuple[int, int]]:
    """A stretch of a plain shard, whose ends are line ends, in pieces of about `size` bytes whose ends are line ends too."""
    ends = [start]
    with shard.path.open("rb") as stream:
        while stop - ends[-1] > size * 3 // 2:
            stream.seek(ends[-1] + size)
            stream.readline()
            if stream.tell() >= stop:
                break
            ends.append(stream.tell())
    return [*zip(ends, [*ends[1:], stop], strict=True)] if start < stop else []


def read_stretch(shard: Shard, start: int, stop: int) -> tuple[Iterator[Line], int, str]:
    """The lines of a plain shard between two line ends, blank ones skipped, how many there are with the blank ones, and their seal.

    Numbers count from the stretch's first line, 1; what follows the last line end is a line that is not whole.
    Raises RunNotFound when the shard does not reach so far any more.
    """
    try:
        with shard.path.open("rb") as stream:
            stream.seek(start)
            data = stream.read(stop - start)
    except OSError as error:
        raise RunNotFound(f"cannot be read: {error.strerror}") from error
    if len(data) < stop - start:
        raise RunNotFound("was cut while it was being read: load the run again")
    return (
        _lines(data, start),
        int(np.count_nonzero(np.frombuffer(data, np.uint8) == ord("\n"))),
        _sealed(data[:_GLANCE], data[-_GLANCE:]),
    )


def _lines(data: bytes, start: int) -> Iterator[Line]:
    """The lines of the bytes from `start` on, each cut out when it is asked for: memory just used is used again."""
    at, number = 0, 0
    while at < len(data):
        number += 1
        end = data.find(b"\n", at)
        stop = len(data) if end < 0 else end
        offset = start + at
        skipped = len(BOM) if offset == 0 and data.startswith(BOM) else 0
        piece = data[at + skipped : stop].rstrip(b"\r")
        if piece.strip():
            yield Line(number, offset + skipped, piece, end >= 0)
        at = stop + 1


def seal(shard: Shard, start: int, stop: int) -> str:
    """A digest of the first and last bytes of a stretch: another one when the shard was rewritten, as far as a glance can tell.

    Bytes changed in the middle of a stretch, in place, are not seen when the file has grown as well. Raises RunNotFound when the shard
    cannot be read any more.
    """
    try:
        with shard.path.open("rb") as stream:
            stream.seek(start)
            head = stream.read(min(_GLANCE, stop - start))
            stream.seek(max(start, stop - _GLANCE))
            return _sealed(head, stream.read(min(_GLANCE, stop - start)))
    except OSError as error:
        raise RunNotFound(f"cannot be read: {error.strerror}") from error


def _sealed(head: bytes, tail: bytes) -> str:
    return blake2b(head + tail, digest_size=16).hexdigest()


def _reading_problem(shard: Shard, line: int | None, error: Exception) -> Problem:
    """What to say when reading stopped after `line`: a cut compressed stream is normal while a job still writes it."""
    if isinstance(error, EOFError) or "Truncated" in str(error):
        return Problem(shard.name, line, "the compressed stream ends early: cut off, or still being written", "flagged")
    reason = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
    return Problem(shard.name, line, f"cannot be read further: {reason}", "refused")


def read_raw(shard: Shard, line_number: int, offset: int) -> bytes:
    """One line as it stands in the shard, without its line end.

    Seeks in a plain file; a compressed one is read up to the line. Raises RunNotFound when the line is not there any more.
    """
    try:
        if not shard.name.endswith((".gz", ".zst")):
            with shard.path.open("rb") as stream:
                stream.seek(max(0, offset - 1))
                before = stream.read(min(offset, 1))
                data = stream.readline() if before in (b"", b"\n", BOM[-1:]) else b""
        else:
            data = next((item.data for item in read_lines(shard) if isinstance(item, Line) and item.number == line_number), b"")
    except OSError as error:
        raise RunNotFound(f"{shard.name} cannot be read any more: {error.strerror}.") from error
    if not data.strip():
        raise RunNotFound(f"{shard.name} has no line {line_number} any more: it was rewritten since the run was loaded.")
    return data.rstrip(b"\r\n")


def no_shards(folder: Path) -> RunNotFound:
    """The error for a folder without a single shard: what was looked for, and what is there instead."""
    seen = sorted(path.name for path in folder.iterdir() if not path.name.startswith("."))[:8]
    there = f"It holds {', '.join(seen)}." if seen else "It is empty."
    wanted = f"{', '.join('*' + suffix for suffix in SUFFIXES)} and *.pt or *.json named after a step or an episode"
    return RunNotFound(f"No rollouts in {folder.resolve().name!r}: looked for {wanted} at any depth. {there}")
