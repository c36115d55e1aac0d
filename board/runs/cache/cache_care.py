"""Care of the cache: which runs it holds, what of it is removed, and whether its disk has room.

It neither grows for ever nor holds useless files. Only folders that the board itself names are touched. What is removed is parsed again when
it is needed. No part is opened.
"""

import os
import re
import shutil
import time
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from board.errors import ArgumentRefused, RunNotFound
from board.runs.cache.code_version import version
from board.runs.cache.store import LOCATION
from board.settings import user_folders
from board.sources import presence
from board.text.format_number import size

SETTING: Final = "RL_BOARD_CACHE_BYTES"
"""Environment variable: beyond so many bytes the runs that were used longest ago are removed from the cache."""

MOST_BYTES: Final = 20_000_000_000

_RECENT_SECONDS: Final = 86_400
"""What was used within so long may be in use, by this version of the board or by another: it stays."""

PARSED: Final = 1.0
"""Bytes of parts to a byte of JSON lines, rather more than less: 0.67 and 0.79 were measured of the runs that ship with the board."""

SPARE: Final = 200_000_000
"""Bytes that are left to others."""

_VERSION: Final = re.compile(r"v-[0-9a-f]{16}")
_RUN: Final = re.compile(r"[0-9a-f]{24}-.*", re.DOTALL)


@dataclass(frozen=True)
class CachedRun:
    """The parts of one run."""

    folder: Path
    location: Path | None
    """Of the run; None where an earlier version of the board did not say it."""
    bytes: int
    used: float
    """When it was opened last, in seconds of the epoch."""

    @property
    def is_current(self) -> bool:
        """Whether this version of the board reads it."""
        return self.folder.parent.name == version()

    @property
    def is_gone(self) -> bool:
        """Whether the run is not where it was, though the folder it was in is: a disk that is not there now may come back."""
        if self.location is None:
            return False
        try:
            self.location.stat()
        except FileNotFoundError:
            return self.location.parent.is_dir()
        except OSError:  # it may be there, or on a disk that is not there now
            pass
        return False


def most_bytes() -> int:
    """How large the cache may be. Raises ArgumentRefused where SETTING is no whole number."""
    given = os.environ.get(SETTING) or str(MOST_BYTES)
    if not given.isdecimal() or len(given) > 18:  # more bytes than any disk has
        raise ArgumentRefused(f"{SETTING} is a whole number of bytes, not {given[:100]!r}.")
    return int(given)


def runs(root: Path) -> list[CachedRun]:
    """The runs in a cache, those used last first."""
    found = list[CachedRun]()
    for folder in (one for version_folder in _folders(root, _VERSION) for one in _folders(version_folder, _RUN)):
        with suppress(OSError):  # it is removed at the same time
            said = folder.with_name(folder.name + LOCATION)
            is_said = said.is_file()
            location = _location(said.read_bytes()) if is_said else None
            found.append(CachedRun(folder, location, size_of(folder), (said if is_said else folder).stat().st_mtime))
    return sorted(found, key=lambda one: one.used, reverse=True)


def size_of(folder: Path) -> int:
    """Bytes of all files below a folder; what vanishes meanwhile has none, and links are not followed."""
    total = 0
    for above, _, names in os.walk(folder):
        for name in names:
            with suppress(OSError):
                total += Path(above, name).lstat().st_size
    return total


def tidy(root: Path, most: int) -> list[CachedRun]:
    """Remove runs of other versions of the board, runs that are gone, and beyond `most` bytes those used longest ago; what was removed.

    What was used within a day stays, and the run that was used last.
    """
    held, removed, now = runs(root), list[CachedRun](), time.time()
    left = sum(one.bytes for one in held)
    for one in reversed(held[1:]):
        useless = not one.is_current or one.is_gone or left > most
        if useless and now - one.used > _RECENT_SECONDS and _remove(one.folder):
            left -= one.bytes
            removed.append(one)
    for folder in _folders(root, _VERSION):
        with suppress(OSError):  # another board may be making a run there
            if folder.name != version() and not any(_RUN.fullmatch(one.name) for one in folder.iterdir()):
                _remove(folder)
    return removed


def empty(root: Path) -> None:
    """Remove all that the board keeps in a cache."""
    for folder in (*_folders(root, _VERSION), root / presence.FOLDER):
        _remove(folder)


def refuse_without_room(lines: int) -> None:
    """Raises RunNotFound, which says what is needed and what there is, where to parse so many bytes of lines would fill the disk."""
    parsed = round(PARSED * lines)
    folder, free = free_bytes()
    if parsed + SPARE > free:
        raise RunNotFound(
            f"This run needs about {size(parsed)} in the cache for what is read of it. "
            f"{folder} has {size(free)} left: make room there, or name a folder on a larger disk in RL_BOARD_CACHE."
        )


def free_bytes() -> tuple[Path, int]:
    """The folder of the cache, or what there is of the way to it, and how many bytes its disk has left. Raises OSError."""
    cache = user_folders.cache()
    folder = next(above for above in (cache, *cache.parents) if above.exists())
    return folder, shutil.disk_usage(folder).free


def _remove(folder: Path) -> bool:
    """Remove a folder, all below it, and what says of which run it is; whether it is gone: what another user made stays."""
    shutil.rmtree(folder, ignore_errors=True)
    with suppress(OSError):
        folder.with_name(folder.name + LOCATION).unlink()
    return not os.path.lexists(folder)


def _folders(above: Path, named: re.Pattern[str]) -> list[Path]:
    """The folders in a folder whose names fit, links left out; none where it cannot be read, as another user's cannot."""
    with suppress(OSError):
        return [one for one in above.iterdir() if named.fullmatch(one.name) and one.is_dir() and not one.is_symlink()]
    return []


def _location(said: bytes) -> Path | None:
    """The folder that a file names; None where it is damaged and names none."""
    location = Path(os.fsdecode(said))
    return location if location.is_absolute() and b"\0" not in said else None
