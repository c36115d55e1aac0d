"""The files of trackers: a bounded walk, bounded reading, names for folders.

What lies near a run is not ours: a walk follows no link, goes only so deep and ends after so many entries.
"""

import os
import re
import tempfile
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO, Final

from board.errors import BoardError
from board.sources import run_files

MAX_DEPTH: Final = 4
"""Folders below the one given that a walk enters."""

MAX_ENTRIES: Final = 20_000
"""Files and folders that a walk looks at."""

MAX_BYTES: Final = 2 << 30
"""No file over this size is read."""

_NAME_BYTES: Final = 120
"""Bytes of UTF-8 that a run's name takes of a folder's name; file systems end at 255, and trackers add to it."""


def walk(folder: Path, takes: Callable[[str], bool] = bool) -> Iterator[Path]:
    """The regular files in a folder and below it whose names `takes` accepts, nearest first, each folder's in the order of names.

    What cannot be listed is left out.
    """
    pending = deque([(str(folder), 0)])
    entries = 0
    while pending:
        inside, depth = pending.popleft()
        for entry in _entries_of(inside):
            entries += 1
            if entries > MAX_ENTRIES:
                return
            if entry.is_dir(follow_symlinks=False) and depth < MAX_DEPTH:
                pending.append((entry.path, depth + 1))
            elif takes(entry.name) and entry.is_file(follow_symlinks=False):
                yield Path(entry.path)


def listed_files(folder: Path) -> list[Path]:
    """The regular files directly in a folder, in the order of names; none where it cannot be listed."""
    return [Path(entry.path) for entry in _entries_of(folder) if entry.is_file(follow_symlinks=False)]


def folders(folder: Path) -> list[Path]:
    """The folders directly in a folder, links left out, in the order of names; at most MAX_ENTRIES."""
    return [Path(entry.path) for entry in _entries_of(folder)[:MAX_ENTRIES] if entry.is_dir(follow_symlinks=False)]


def _entries_of(folder: Path | str) -> list[os.DirEntry[str]]:
    try:
        with os.scandir(folder) as entries:
            return sorted(entries, key=lambda entry: entry.name)
    except OSError:  # gone since, or not ours to read: as if it were not there
        return []


@contextmanager
def opened(path: Path, within: Path | None = None) -> Iterator[BinaryIO]:
    """The bytes of a regular file of at most MAX_BYTES that lies `within`, where that is given.

    Raises BoardError where there is none, and where reading it fails.
    """
    try:
        with run_files.opened(path, within=within, most=MAX_BYTES) as file:
            yield file
    except OSError as error:
        raise BoardError(_unreadable(path, error)) from error


def text(path: Path, within: Path | None, most: int) -> str:
    """The beginning of a file as text, at most so many bytes. Raises as `opened`."""
    with opened(path, within) as file:
        return file.read(most).decode(errors="replace")


def each_line(path: Path, within: Path | None, longest: int, take: Callable[[bytes], object]) -> None:
    """Hand on the lines of a log that hold anything. A last one without its end that cannot be taken yet is left for the next time.

    Raises BoardError that names file, line and reason for any other that `take` refuses by a ValueError, and for one of more bytes.
    """
    with opened(path, within) as file:
        for number, line in enumerate(iter(lambda: file.readline(longest + 1), b""), 1):
            try:
                if len(line) > longest:
                    raise ValueError(f"longer than {longest:,} bytes")
                if line.strip():
                    take(line)
            except ValueError as error:
                if not line.endswith(b"\n") and len(line) <= longest:
                    return
                raise BoardError(f"{path}, line {number:,}: {error}.") from error


def check(path: Path, within: Path | None = None) -> os.stat_result:
    """For a library that opens paths by itself: raises BoardError as `opened` does, and for a link out of `within`."""
    try:
        return run_files.check(path, within=within, most=MAX_BYTES)
    except OSError as error:
        raise BoardError(_unreadable(path, error)) from error


def _unreadable(path: Path, error: OSError) -> str:
    return (
        f"{path}: no such file." if isinstance(error, FileNotFoundError) else f"{path} cannot be read: {error.strerror or error}."
    )


def checked_writable(folder: Path) -> None:
    """Make a folder and try to write in it, leaving nothing there. Raises BoardError that names it where that fails."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=folder):
            pass
    except OSError as error:
        raise BoardError(f"{folder}: no folder that can be written to ({error.strerror or error}).") from error


def folder_name(run: str) -> str:
    """A run's name as the name of one folder: no separators or control characters, no leading dot, not too long."""
    plain = re.sub(r'[\x00-\x1f\x7f/\\:*?"<>|\ud800-\udfff]+', "_", run).strip(" ").lstrip(".")
    return plain.encode()[:_NAME_BYTES].decode(errors="ignore") or "run"
