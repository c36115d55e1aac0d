"""What a reader keeps outside any run: a JSON file in the settings folder for each kind of thing, an object of entries by name.

A change is made to what the file says by then, under one lock, and takes the file's place in one move: two boards lose nothing of each other's.
An entry that cannot be understood stays as it is; a file that cannot is moved aside before another is written.
"""

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
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

_NONE: Final = (ValueError, TypeError, LookupError, AttributeError)
"""What parsing raises for something that is none of the kind."""

Entries = dict[str, Any]


Entry = TypeVar("Entry")


class _Damaged(BoardError):
    """What a file holds cannot be understood."""


def of_fields(kind: type[Entry], held: Any, **known: Any) -> Entry:
    """An entry whose fields are those of a dataclass of texts, switches, whole numbers and tuples of texts, but for what is `known`.

    Raises KeyError or TypeError where one is missing or no such thing.
    """
    for name, field_type in get_type_hints(kind).items():
        if name not in known:
            known[name] = texts(held[name]) if field_type == tuple[str, ...] else exactly(field_type, held[name])
    return kind(**known)


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
    """One kind of things."""

    name: str
    """Of the file, without its ending."""
    kind: str
    """What one of them is called: "custom metric"."""
    parsed: Callable[[str, Any], Entry]
    """Given a name and what JSON has under it, the thing; raises ValueError, TypeError or LookupError where it is none."""

    @property
    def path(self) -> Path:
        """Where they are kept."""
        return user_folders.settings() / f"{self.name}.json"

    def read(self) -> tuple[dict[str, Entry], dict[str, str]]:
        """What is kept, in the order of keeping, and by name a sentence on what is none. Raises BoardError where the file cannot be read."""
        sound: dict[str, Entry] = {}
        damaged: dict[str, str] = {}
        for name, held in self._held().items():
            try:
                sound[name] = self.parsed(name, held)
            except _NONE:
                damaged[name] = f"{shown(Path(name))} in {shown(self.path)} is no {self.kind} and was left as it is."
        return sound, damaged

    def by_name(self) -> tuple[dict[str, Entry], tuple[str, ...]]:
        """The same by name, without regard to case, and the sentences."""
        found, damaged = self.read()
        return dict(sorted(found.items(), key=lambda one: (one[0].casefold(), one[0]))), tuple(damaged.values())

    def change(self, changed: Callable[[Entries], Entries]) -> Entries:
        """Keep what `changed` makes of the entries there are, and return it. Raises BoardError where that cannot be done."""
        with self._written():
            try:
                before = self._held()
            except _Damaged:
                self.path.rename(self.path.with_name(f"{self.path.name}.damaged-{uuid4().hex[:8]}"))
                before = {}
            after = changed(before)
            try:
                data = json.dumps(after, ensure_ascii=False, indent=1).encode()
            except UnicodeEncodeError:  # half a surrogate pair
                raise BoardError(f"The {self.kind} holds a character that is no text.") from None
            atomic_write.write(self.path, data, durable=True)
        return after

    def update(self, name: str, changed: Callable[[Entry | None], Any]) -> Entries:
        """Keep what `changed` makes of the entry of that name, as JSON has it: None is given where there is none, and forgets it.

        Returns all that is kept then. Raises BoardError where that cannot be done.
        """

        def entries(held: Entries) -> Entries:
            try:
                before = self.parsed(name, held[name])
            except _NONE:
                before = None
            after = held | {name: changed(before)}
            return {one: value for one, value in after.items() if one != name or value is not None}

        return self.change(entries)

    def put(self, name: str, value: Any) -> None:
        """Keep something under a name, in place of what had that name; None forgets it. Raises BoardError where that cannot be done."""
        self.update(name, lambda _: value)

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

    def _held(self) -> Entries:
        try:
            held = json.loads(self.path.read_bytes())
        except FileNotFoundError:
            return self._former()
        except OSError as error:
            raise BoardError(f"{shown(self.path)} cannot be read: {error.strerror}.") from error
        except (ValueError, RecursionError) as error:
            raise _Damaged(f"{shown(self.path)} is damaged: it is no JSON.") from error
        if isinstance(held, list) and all(isinstance(one, str) for one in held):  # pins of version 0.2
            return dict.fromkeys(held, True)
        if not isinstance(held, dict):
            raise _Damaged(f"{shown(self.path)} is damaged: it holds no entries by name.")
        return held

    def _former(self) -> Entries:
        """Custom metrics that version 0.2 kept, in a file for each that has its name in it. The files stay where they are."""
        found: Entries = {}
        for path in sorted((user_folders.settings() / self.name).glob("*.json")):
            with suppress(OSError, RecursionError, *_NONE):
                one = json.loads(path.read_bytes())
                found[one.pop("name")] = one
        return found
