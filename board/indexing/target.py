"""Which run is made into an index, how it is read, and where the index is: checked before anything is written. Knows no byte of a shard."""

import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final
from uuid import uuid4

from filelock import FileLock, Timeout

from board.errors import ArgumentRefused, RunNotFound
from board.remote import addresses
from board.runs.opening import mapping_text, reading_key
from board.runs.read_options import ReadOptions
from board.runs.store import version
from board.sources import index_file, shards
from board.sources.shards import Problem, Shard
from board.text.path_names import shown

_LOCK: Final = ".index.lock"

_OURS: Final = re.compile(rf"{re.escape(_LOCK)}|\.[0-9a-f]{{32}}\.tmp")
"""What an index that was stopped at its very beginning leaves."""


@dataclass(frozen=True)
class IndexTarget:
    """A run that is there, and a folder that can be its index."""

    location: Path
    folder: Path
    """Of the index."""
    owner: str
    """The index's id: another one where nothing of what the folder holds may stay."""
    reading: ReadOptions
    key: str
    """Names the reading, and the tokenizer by what is in it."""
    found: list[Shard]
    problems: list[Problem]
    before: dict[str, Any] | None
    """What the file of the index said, of this run read in this way by this code; None where there was none."""


@contextmanager
def opened(
    location: Path | str,
    folder: Path | str,
    *,
    extra_pads: Sequence[str] = (),
    tokenizer: Path | None = None,
    mapping: Path | None = None,
    family: str = "",
) -> Iterator[IndexTarget]:
    """The target, for this process alone until the context ends.

    Raises RunNotFound where there is no run, ArgumentRefused where the folder cannot be its index, OSError where it cannot be written.
    """
    for given in (location, folder):
        if addresses.is_address(str(given)):
            address = addresses.parsed(str(given))  # which repeats no password
            raise ArgumentRefused(f"`index` takes folders: mount what is at {address}, or open that address itself.")
    location, folder = Path(location).resolve(), Path(folder).resolve()
    _check_apart(location, folder)
    found, problems = shards.find_shards(location)
    if index_file.is_there(location):
        raise ArgumentRefused(f"{shown(location)} is an index itself: name the folder that holds the run.")
    if not found and not problems:
        raise shards.no_shards(location)
    reading = ReadOptions(
        tuple(sorted(extra_pads)), str(tokenizer.resolve()) if tokenizer else "", mapping_text(location, mapping), family
    )
    key = reading_key(reading)
    _check_free(folder)
    folder.mkdir(parents=True, exist_ok=True)
    try:
        with FileLock(folder / _LOCK, timeout=0):
            before = _before(folder, location, key)
            owner = before["id"] if before else uuid4().hex
            yield IndexTarget(location, folder, owner, reading, key, found, problems, before)
    except Timeout as error:
        raise ArgumentRefused(f"Another `index` is writing to {shown(folder)}: wait for it, or name another folder.") from error


def _check_apart(location: Path, folder: Path) -> None:
    if folder.is_relative_to(location) or location.is_relative_to(folder):
        raise ArgumentRefused(f"{shown(folder)} is within the run, or the run within it: name a folder beside it.")


def _check_free(folder: Path) -> None:
    """Raise ArgumentRefused where the folder holds something that is no index."""
    if folder.exists() and not folder.is_dir():
        raise ArgumentRefused(f"{shown(folder)} is a file: name a folder.")
    there = {path.name for path in folder.iterdir()} if folder.is_dir() else set()
    if any(not _OURS.fullmatch(name) for name in there) and index_file.NAME not in there:
        raise ArgumentRefused(f"{shown(folder)} holds other files: name a folder that is empty or not there yet.")


def _before(folder: Path, location: Path, key: str) -> dict[str, Any] | None:
    """What the index said so far; None where it begins anew. Raises ArgumentRefused where it is of another run, or reads it otherwise."""
    if not index_file.is_there(folder):
        return None
    try:
        told = index_file.read(folder)
        of, read_as, made_by = told["location"], told["key"], told["store"]
    except (RunNotFound, KeyError):  # damaged, or of another layout: it is made anew
        return None
    if of != shown(location):
        raise ArgumentRefused(f"{shown(folder)} is the index of {of}: name another folder.")
    if read_as != key:
        raise ArgumentRefused(f"{shown(folder)} reads this run with other pads, tokenizer or mapping: name another folder.")
    return told if made_by == version() else None
