"""What a format module is given and what it gives: the shape of every file in this folder that reads one trainer's dump.

A format turns a record into rollouts under our names (`board.schema.NATIVE`); keys it has no name for it may pass on as they are.
It knows field names and shapes, and nothing of files, frames or screens.
"""

from collections.abc import Iterable
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from typing import Protocol

from board.errors import RowRefused
from board.sources.json_record import Record


@dataclass(frozen=True)
class Head:
    """The beginning of a file, by which its format is recognised."""

    name: str
    """Path within the run, with slashes."""
    records: tuple[Record, ...]
    """The first few records; at least one."""

    def has(self, *shapes: AbstractSet[str]) -> bool:
        """Whether one of the records has all keys of one of the shapes."""
        return any(record.keys() >= shape for record in self.records for shape in shapes)

    def all_have(self, keys: AbstractSet[str]) -> bool:
        """Whether each of the records has all of the keys."""
        return all(record.keys() >= keys for record in self.records)


@dataclass(frozen=True)
class Place:
    """Where a record stands."""

    name: str
    """Path of its file within the run, with slashes."""
    number: int
    """Of the record in its file, from 1."""


class Format(Protocol):
    """What a format module offers."""

    NAME: str
    """As the screen and the mapping file call it: "verl", "TRL GRPO"."""

    FAMILY: str
    """Whose files these are; those of one family may lie in one run."""

    def recognise(self, head: Head) -> bool:
        """Whether a file that begins so is this format's: by its keys, and by its name only together with them."""

    def rollouts(self, record: Record, place: Place) -> Iterable[Record | RowRefused]:
        """The rollouts in a record, under our names; for one that cannot be read the reason. Raises RowRefused where none can."""

    def note(self, head: Head) -> str:
        """What a reader must know of the numbers, in one sentence: that a reward is a sum we made, that steps come from names. May be empty."""
