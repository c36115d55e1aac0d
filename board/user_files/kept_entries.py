"""What a reader keeps outside any run: a JSON file in the settings folder for each kind of thing, an object of entries by name.

A change is made to what the file says by then, under one lock, and takes the file's place in one move: two boards lose nothing of each other's.
A file that cannot be understood is moved aside before another is written.
"""

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Final, Generic, TypeVar, get_type_hints
from uuid import uuid4

from board.errors import BoardError
from board.system import atomic_write
from board.text.path_names import shown
from board.user_files import private_folders, user_folders

LONGEST_NAME: Final = 80
"""Characters."""

_LOCK_SECONDS: Final = 10.0

Entry = TypeVar("Entry")


class _Damaged(BoardError):
    """What a file holds cannot be understood."""


def of_fields(kind: type[Entry], held: Any) -> Entry:
    """A dataclass of texts, switches, whole numbers and tuples of texts, from JSON. Raises TypeError or KeyError for anything else."""
    hints = get_type_hints(kind).items()
    return kind(**{name: texts(held[name]) if type_ == tuple[str, ...] else exactly(type_, held[name]) for name, type_ in hints})


def exactly(kind: type[Entry], held: Any) -> Entry:
    """What is of that very type. Raises TypeError for anything else."""
    if type(held) is not kind:
        raise TypeError(f"it is no {kind.__name__}")
    return held


def texts(held: Any) -> tuple[str, ...]:
    """A list of texts. Raises TypeError for anything else."""
    return tuple(exactly(str, one) for one in exactly(list, held))


@dataclass(frozen=True)
class KeptEntries(Generic[Entry]):
    """One kind of things: texts, true, lists of texts or dataclasses of such."""

    name: str
    """Of the file, without its ending."""
    kind: str
    """What one of them is called: "custom metric"."""
    parsed: Callable[[Any], Entry]
    """Given what JSON has, the thing; raises ValueError, TypeError, LookupError or AttributeError where it is none."""
    earlier: Callable[[], dict[str, Entry]] = dict
    """What an earlier version kept elsewhere, read while there is no such file."""

    @property
    def path(self) -> Path:
        """Where they are kept."""
        return user_folders.settings() / f"{self.name}.json"

    def read(self) -> dict[str, Entry]:
        """What is kept, in the order of keeping. Raises BoardError where the file cannot be read, or holds anything else."""
        try:
            held = json.loads(self.path.read_bytes())
            if isinstance(held, list):  # pins of version 0.2
                held = dict.fromkeys(texts(held), True)
            return {name: self.parsed(one) for name, one in held.items()}
        except FileNotFoundError:
            return self.earlier()
        except OSError as error:
            raise BoardError(f"{shown(self.path)} cannot be read: {error.strerror}.") from error
        except (ValueError, TypeError, LookupError, AttributeError, RecursionError) as error:
            raise _Damaged(f"{shown(self.path)} is damaged: it holds something that is no {self.kind}.") from error

    def change(self, changed: Callable[[dict[str, Entry]], dict[str, Entry]]) -> dict[str, Entry]:
        """Keep what `changed` makes of the entries there are, and return it. Raises BoardError where that cannot be done."""
        with self._written():
            try:
                before = self.read()
            except _Damaged:
                self.path.rename(self.path.with_name(f"{self.path.name}.damaged-{uuid4().hex[:8]}"))
                before = {}
            after = changed(before)
            try:
                data = json.dumps(after, ensure_ascii=False, indent=1, default=asdict).encode()
            except UnicodeEncodeError:  # half a surrogate pair
                raise BoardError(f"The {self.kind} holds a character that is no text.") from None
            atomic_write.write(self.path, data, durable=True)
        return after

    def put(self, name: str, value: Entry | None) -> None:
        """Keep something under a name, in place of what had that name; None forgets it. Raises BoardError where that cannot be done."""
        self.change(lambda held: {one: kept for one, kept in {**held, name: value}.items() if kept is not None})

    def checked(self, name: str) -> str:
        """A name that a reader gave, without space around it. Raises BoardError for one that cannot be shown in one line."""
        name = name.strip()
        if not 0 < len(name) <= LONGEST_NAME or not name.isprintable():
            raise BoardError(f"A {self.kind} needs a name of 1 to {LONGEST_NAME} characters that can be shown in one line.")
        return name

    @contextmanager
    def _written(self) -> Iterator[None]:
        """The settings folder while nobody else writes there."""
        from filelock import FileLock  # here alone: who only reads starts sooner without it

        try:
            private_folders.made(self.path.parent, self.path.parent)
            with FileLock(self.path.with_name(".lock"), timeout=_LOCK_SECONDS):
                yield
        except OSError as error:  # also where the lock was not to be had in time
            why = error.strerror or "another board has been writing for long"
            raise BoardError(f"{shown(self.path)} cannot be written: {why}.") from error


def by_name(kept: dict[str, Entry]) -> dict[str, Entry]:
    """Entries in the order of their names, without regard to case."""
    return dict(sorted(kept.items(), key=lambda one: (one[0].casefold(), one[0])))
