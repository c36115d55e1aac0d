"""The run to index, how it is read, and its index so far: checked before a write."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Any, Final

from board.cli.indexing.destination import Destination
from board.errors import ArgumentRefused, RunNotFound
from board.runs.cache.code_version import version
from board.runs.loading.nothing_read import shards_of
from board.runs.opening import read_as, reading_key
from board.runs.read_options import ReadOptions
from board.sources import candidates, index_file, presence
from board.sources.remote import addresses, listings
from board.sources.remote.addresses import Address
from board.sources.shards import Problem, Shard
from board.text.path_names import shown

PROGRESS_OBJECTS: Final = 10_000
"""Objects listed between two progress messages."""

Entry = dict[str, Any]
"""What the file of the index says of a source."""


@dataclass(frozen=True)
class IndexTarget:
    """A run that is there, and where its index is to be."""

    location: Path
    """The run's folder; of an address the one that stands for it."""
    named: str
    """The run as the index names it: its path, or its address."""
    destination: Destination
    reading: ReadOptions
    found: list[Shard]
    problems: list[Problem]
    key: str
    """Names the reading, and the tokenizer by what is in it."""
    before: dict[str, Entry]
    """What the index said so far, of this run read in this way by this code."""


@contextmanager
def opened(
    location: Path | str,
    folder: Path | str,
    *,
    extra_pads: Sequence[str] = (),
    tokenizer: Path | None = None,
    mapping: Path | None = None,
    family: str = "",
    wait: Callable[[str], None] = lambda sentence: None,
) -> Iterator[IndexTarget]:
    """The target, for this process alone until the context ends where it is a folder; `location` and `folder` are folders or addresses.

    `wait` receives a sentence on what is waited for. Raises RunNotFound where there is no run, ArgumentRefused where the folder cannot be its
    index, OSError where it cannot be written.
    """
    run, goal = _place_of(location), _place_of(folder)
    _check_apart(run, goal)
    source = (
        listings.mounted(str(run), anew=True, tell=lambda count: _listing(run, count, wait)) if isinstance(run, Address) else run
    )
    found, seen = shards_of(source, mapped=mapping is not None)
    if presence.is_remote(source):  # what a reader is still shown of an object that is gone is not
        found = [one for one in found if listings.object_at(one.path) is not None]
    problems = [problem for problem in seen if problem.severity != "skipped"]
    if index_file.is_there(source):
        raise ArgumentRefused(f"{_said(run)} is an index itself: name the folder that holds the run.")
    if not found and not problems:
        raise candidates.no_shards(source)
    reading = read_as(source, extra_pads, tokenizer.resolve() if tokenizer else None, mapping, family)
    key, destination = reading_key(reading), Destination(_said(goal))
    with destination.held():
        yield IndexTarget(source, _said(run), destination, reading, found, problems, key, _before(destination, _said(run), key))


def _before(destination: Destination, named: str, key: str) -> dict[str, Entry]:
    """What the index said so far. Raises ArgumentRefused where it is of another run, or reads it otherwise."""
    found: dict[str, Entry] = {}
    for name in (index_file.NAME, index_file.UNFINISHED):
        data = destination.read(name)
        try:
            index = index_file.parsed(data, destination.named) if data is not None else None
        except RunNotFound:  # damaged, or of another layout: it is made anew
            continue
        if index is None:
            continue
        if index["location"] != named:
            raise ArgumentRefused(f"{destination.named} is the index of {index['location']}: name another folder.")
        if index["key"] != key:
            raise ArgumentRefused(
                f"{destination.named} reads this run with other pads, tokenizer or mapping: name another folder."
            )
        found |= {name: one for name, one in index["sources"].items() if index["store"] == version() and not one["failed"]}
    return found


def _listing(run: Address, count: int, wait: Callable[[str], None]) -> None:
    if count and not count % PROGRESS_OBJECTS:
        wait(f"Listing {run}: {count:,} objects so far.")


def _place_of(given: Path | str) -> Path | Address:
    """What a path or an address names. Raises ArgumentRefused for an address that cannot be used, and repeats no password."""
    return addresses.parsed(str(given)) if addresses.is_address(str(given)) else Path(given).resolve()


def _said(place: Path | Address) -> str:
    return str(place) if isinstance(place, Address) else shown(place)


def _check_apart(run: Path | Address, goal: Path | Address) -> None:
    if isinstance(run, Address) and isinstance(goal, Address):
        one, other = PurePosixPath("/", run.prefix), PurePosixPath("/", goal.prefix)
        is_within = run.store == goal.store and (one.is_relative_to(other) or other.is_relative_to(one))
    else:
        both = isinstance(run, Path) and isinstance(goal, Path)
        is_within = both and (goal.is_relative_to(run) or run.is_relative_to(goal))  # type: ignore[arg-type, union-attr]
    if is_within:
        raise ArgumentRefused(f"{_said(goal)} is within the run, or the run within it: name a folder next to it.")
