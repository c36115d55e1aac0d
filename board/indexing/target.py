"""Which run is made into an index, how it is read, and where the index is: checked before anything is written. Knows no byte of a shard."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path, PurePosixPath
from typing import Any, Final
from uuid import uuid4

from board.errors import ArgumentRefused, RunNotFound
from board.indexing.destination import Destination, in_folder
from board.indexing.prefix_destination import below_prefix
from board.remote import addresses, mounts
from board.remote.addresses import Address
from board.runs.nothing_read import shards_of
from board.runs.opening import read_as, reading_key
from board.runs.read_options import ReadOptions
from board.runs.store import version
from board.sources import candidates, index_file, locations, presence
from board.sources.shards import Problem, Shard
from board.text.path_names import shown

TOLD_OBJECTS: Final = 10_000
"""So many more are listed before it is told again how many there are."""


@dataclass(frozen=True)
class IndexTarget:
    """A run that is there, and a folder that can be its index."""

    location: Path
    """The run's folder; of an address the one that stands for it."""
    destination: Destination
    owner: str
    """The index's id: another one where nothing of what the folder holds may stay."""
    reading: ReadOptions
    key: str
    """Names the reading, and the tokenizer by what is in it."""
    found: list[Shard]
    problems: list[Problem]
    before: dict[str, Any] | None
    """What the file of the index said, of this run read in this way by this code; None where there was none."""

    @property
    def folder(self) -> Path:
        """Of the index, on this machine."""
        return self.destination.folder

    @property
    def named(self) -> str:
        """The run as the index names it: its path, or its address."""
        return locations.shown_place(self.location)

    def looked_at_again(self) -> "IndexTarget":
        """The run as it is now, listed anew where it lies elsewhere. Raises RunNotFound."""
        if address := locations.address_of(self.location):
            mounts.mounted(address, anew=True)
        found, problems = _found(self.location, mapped=bool(self.reading.mapping))
        return replace(self, found=found, problems=problems, before=_before(self.destination, self.named, self.key))


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
    """The target, for this process alone until the context ends; `location` and `folder` are folders or addresses.

    `wait` is told in a sentence what is waited for. Raises RunNotFound where there is no run, ArgumentRefused where the folder cannot be its
    index, OSError where it cannot be written.
    """
    run, goal = _place_of(location), _place_of(folder)
    _check_apart(run, goal)
    source = mounts.mounted(str(run), anew=True, tell=_told_of(run, wait)) if isinstance(run, Address) else run
    found, problems = _found(source, mapped=mapping is not None)
    if index_file.is_there(source):
        raise ArgumentRefused(f"{_said(run)} is an index itself: name the folder that holds the run.")
    if not found and not problems:
        raise candidates.no_shards(source)
    reading = read_as(source, extra_pads, tokenizer.resolve() if tokenizer else None, mapping, family)
    key = reading_key(reading)
    with below_prefix(goal) if isinstance(goal, Address) else in_folder(goal) as destination:
        before = _before(destination, _said(run), key)
        owner = before["id"] if before else uuid4().hex
        yield IndexTarget(source, destination, owner, reading, key, found, problems, before)


def _told_of(run: Address, wait: Callable[[str], None]) -> Callable[[int], None]:
    return lambda count: wait(f"Listing {run}: {count:,} objects so far.") if count and not count % TOLD_OBJECTS else None


def _place_of(given: Path | str) -> Path | Address:
    """What a path or an address names. Raises ArgumentRefused for an address that cannot be used, and repeats no password."""
    return addresses.parsed(str(given)) if addresses.is_address(str(given)) else Path(given).resolve()


def _found(source: Path, *, mapped: bool) -> tuple[list[Shard], list[Problem]]:
    """The shards that are there: what a reader is still shown of an object that is gone is not."""
    found, seen = shards_of(source, mapped=mapped)
    problems = [problem for problem in seen if problem.severity != "skipped"]
    if presence.is_remote(source):
        found = [one for one in found if mounts.object_at(one.path) is not None]
    return found, problems


def _said(place: Path | Address) -> str:
    return str(place) if isinstance(place, Address) else shown(place)


def _check_apart(run: Path | Address, goal: Path | Address) -> None:
    if isinstance(run, Address) and isinstance(goal, Address):
        pair = PurePosixPath("/", run.prefix), PurePosixPath("/", goal.prefix)
        is_within = run.store == goal.store and (pair[0].is_relative_to(pair[1]) or pair[1].is_relative_to(pair[0]))
    elif isinstance(run, Path) and isinstance(goal, Path):
        is_within = goal.is_relative_to(run) or run.is_relative_to(goal)
    else:
        return
    if is_within:
        raise ArgumentRefused(f"{_said(goal)} is within the run, or the run within it: name a folder beside it.")


def _before(destination: Destination, named: str, key: str) -> dict[str, Any] | None:
    """What the index said so far; None where it begins anew. Raises ArgumentRefused where it is of another run, or reads it otherwise."""
    if not index_file.is_there(destination.folder):
        return None
    try:
        told = index_file.read(destination.folder)
        of, read_as, made_by = told["location"], told["key"], told["store"]
    except (RunNotFound, KeyError):  # damaged, or of another layout: it is made anew
        return None
    if of != named:
        raise ArgumentRefused(f"{destination.shown} is the index of {of}: name another folder.")
    if read_as != key:
        raise ArgumentRefused(f"{destination.shown} reads this run with other pads, tokenizer or mapping: name another folder.")
    return told if made_by == version() else None
