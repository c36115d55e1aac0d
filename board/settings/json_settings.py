"""A reader's settings outside any run: a JSON file in the settings folder for each kind of setting, an object of entries by name.

A change is made to what the file says by then, under one lock, and takes the file's place in one move: two boards lose nothing of each other's.
A file that cannot be understood is reported, and never written over.
"""

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Final, Generic, TypeVar, get_type_hints

from board import atomic_write
from board.errors import BoardError
from board.settings import user_folders
from board.text.path_names import shown

LONGEST_NAME: Final = 80
"""Characters."""

_LOCK_SECONDS: Final = 10.0

Entry = TypeVar("Entry")


def of_fields(kind: type[Entry], given: Any) -> Entry:
    """A dataclass of texts, switches, whole numbers and tuples of texts, from JSON. Raises TypeError or KeyError for anything else."""
    hints = get_type_hints(kind).items()
    return kind(
        **{name: texts(given[name]) if type_ == tuple[str, ...] else exactly(type_, given[name]) for name, type_ in hints}
    )


def exactly(kind: type[Entry], given: Any) -> Entry:
    """What is of that very type. Raises TypeError for anything else."""
    if type(given) is not kind:
        raise TypeError(f"it is no {kind.__name__}")
    return given


def texts(given: Any) -> tuple[str, ...]:
    """A list of texts. Raises TypeError for anything else."""
    return tuple(exactly(str, text) for text in exactly(list, given))


@dataclass(frozen=True)
class JsonSettings(Generic[Entry]):
    """One kind of things: texts, true, lists of texts or dataclasses of such."""

    name: str
    """Of the file, without its ending."""
    noun: str
    """What one of them is called: "custom metric"."""
    parse: Callable[[Any], Entry]
    """Given what JSON has, the thing; raises ValueError, TypeError, LookupError or AttributeError where it is none."""
    earlier: Callable[[], dict[str, Entry]] = dict
    """Settings of an earlier version elsewhere, read while there is no such file."""

    @property
    def path(self) -> Path:
        """The file of these settings."""
        return user_folders.settings() / f"{self.name}.json"

    def read(self) -> dict[str, Entry]:
        """What is stored, in the order of storing. Raises BoardError where the file cannot be read, or holds anything else."""
        try:
            entries = json.loads(self.path.read_bytes())
            if isinstance(entries, list):  # pins of version 0.2
                entries = dict.fromkeys(texts(entries), True)
            return {name: self.parse(entry) for name, entry in entries.items()}
        except FileNotFoundError:
            return self.earlier()
        except OSError as error:
            raise BoardError(f"{shown(self.path)} cannot be read: {error.strerror}.") from error
        except (ValueError, TypeError, LookupError, AttributeError, RecursionError) as error:
            damaged = f"{shown(self.path)} is damaged: it holds something that is no {self.noun}. Repair it, or move it away."
            raise BoardError(damaged) from error

    def update(self, change: Callable[[dict[str, Entry]], dict[str, Entry]]) -> dict[str, Entry]:
        """Keep what `change` makes of the entries there are, and return it. Raises BoardError where that cannot be done."""
        with self._locked():
            entries = change(self.read())
            try:
                data = json.dumps(entries, ensure_ascii=False, indent=1, default=asdict).encode()
            except UnicodeEncodeError:  # half a surrogate pair
                raise BoardError(f"The {self.noun} holds a character that is no text.") from None
            atomic_write.write(self.path, data, durable=True)
        return entries

    def put(self, name: str, value: Entry | None) -> None:
        """Keep something under a name, in place of what had that name; None forgets it. Raises BoardError where that cannot be done."""
        self.update(lambda entries: {key: entry for key, entry in {**entries, name: value}.items() if entry is not None})

    def checked_name(self, name: str) -> str:
        """A name that a reader gave, without space around it. Raises BoardError for one that cannot be shown in one line."""
        name = name.strip()
        if not 0 < len(name) <= LONGEST_NAME or not name.isprintable():
            raise BoardError(f"A {self.noun} needs a name of 1 to {LONGEST_NAME} characters that can be shown in one line.")
        return name

    @contextmanager
    def _locked(self) -> Iterator[None]:
        """The settings folder while no other process writes there."""
        from filelock import FileLock  # here alone: who only reads starts sooner without it

        try:
            user_folders.make_private(self.path.parent, self.path.parent)
            with FileLock(self.path.with_name(".lock"), timeout=_LOCK_SECONDS):
                yield
        except OSError as error:  # also where the lock was not to be had in time
            why = error.strerror or "another board has been writing for long"
            raise BoardError(f"{shown(self.path)} cannot be written: {why}.") from error


def by_name(entries: dict[str, Entry]) -> dict[str, Entry]:
    """Entries in the order of their names, without regard to case."""
    return dict(sorted(entries.items(), key=lambda entry: (entry[0].casefold(), entry[0])))
