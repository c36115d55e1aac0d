"""What a reader keeps outside any run: a JSON file in the settings folder for each kind of thing, an object of entries by name.

A change is made to what the file says by then, under one lock, and takes the file's place in one move: two boards lose nothing of each other's.
An entry that cannot be understood stays as it is; a file that cannot is moved aside before another is written.
"""

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final
from uuid import uuid4

from board.errors import BoardError
from board.system import atomic_write
from board.text.path_names import shown
from board.user_files import private_folders, user_folders

LONGEST_NAME: Final = 80
"""Characters."""

_LOCK_SECONDS: Final = 10.0

Entries = dict[str, Any]


class _Damaged(BoardError):
    """What a file holds cannot be understood."""


@dataclass(frozen=True)
class KeptEntries:
    """One kind of things."""

    name: str
    """Of the file, without its ending; and of the folder in which earlier boards kept a file for each."""
    kind: str
    """What one of them is called: "custom metric"."""
    is_sound: Callable[[Any], bool]
    """Whether an entry is one."""

    @property
    def path(self) -> Path:
        """Where they are kept."""
        return user_folders.settings() / f"{self.name}.json"

    def read(self) -> tuple[Entries, dict[str, str]]:
        """What is kept, in the order of keeping, and by name a sentence on what is none. Raises BoardError where the file cannot be read."""
        held = self._held()
        sound = {name: value for name, value in held.items() if self.is_sound(value)}
        damaged = [name for name in held if name not in sound]
        return sound, {
            one: f"{shown(Path(one))} in {shown(self.path)} is no {self.kind} and was left as it is." for one in damaged
        }

    def by_name(self) -> tuple[list[tuple[str, Any]], tuple[str, ...]]:
        """The same by name, without regard to case, and the sentences."""
        found, damaged = self.read()
        return sorted(found.items(), key=lambda one: (one[0].casefold(), one[0])), tuple(damaged.values())

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
                text = json.dumps(after, ensure_ascii=False, indent=1).encode()
            except UnicodeEncodeError:  # half a surrogate pair
                raise BoardError(f"The {self.kind} holds a character that is no text.") from None
            atomic_write.write(self.path, text, durable=True)
        return after

    def put(self, name: str, value: Any) -> None:
        """Keep something under a name, in place of what had that name. Raises BoardError where that cannot be done."""
        self.change(lambda held: held | {name: value})

    def delete(self, name: str) -> None:
        """Forget what has that name, if there is anything. Raises BoardError where that cannot be done."""
        if name in self._held():
            self.change(lambda held: {one: value for one, value in held.items() if one != name})

    def checked(self, name: str) -> str:
        """A name that a reader gave, without space around it. Raises BoardError for one that cannot be shown in one line."""
        name = name.strip()
        if not name:
            raise BoardError(f"A {self.kind} needs a name to be saved under.")
        if len(name) > LONGEST_NAME:
            raise BoardError(f"The name has {len(name)} characters, and {LONGEST_NAME} is the most.")
        if not name.isprintable():
            raise BoardError("The name holds a character that cannot be shown, such as a line end.")
        return name

    @contextmanager
    def _written(self) -> Iterator[None]:
        """The settings folder while nobody else writes there."""
        from filelock import FileLock, Timeout  # here alone: who only reads starts sooner without it

        try:
            private_folders.made(self.path.parent, self.path.parent)
            with FileLock(self.path.with_name(".lock"), timeout=_LOCK_SECONDS):
                yield
        except Timeout as error:
            raise BoardError(f"{shown(self.path)} cannot be written: another board has been writing for long.") from error
        except OSError as error:
            raise BoardError(f"{shown(self.path)} cannot be written: {error.strerror}.") from error

    def _held(self) -> Entries:
        try:
            held = json.loads(self.path.read_bytes())
        except FileNotFoundError:
            return self._former()
        except OSError as error:
            raise BoardError(f"{shown(self.path)} cannot be read: {error.strerror}.") from error
        except (ValueError, RecursionError) as error:
            raise _Damaged(f"{shown(self.path)} is damaged: it is no JSON.") from error
        if isinstance(held, list) and all(isinstance(one, str) for one in held):  # as earlier boards kept names alone
            return dict.fromkeys(held, True)
        if not isinstance(held, dict):
            raise _Damaged(f"{shown(self.path)} is damaged: it holds no entries by name.")
        return held

    def _former(self) -> Entries:
        """What earlier boards kept in a file for each thing, which has its name or the run's in it. The files stay where they are."""
        found: Entries = {}
        for path in sorted((user_folders.settings() / self.name).glob("*.json")):
            try:
                one = json.loads(path.read_bytes())
                found[str(one.pop("name") if "name" in one else one.pop("run"))] = one
            except (OSError, ValueError, RecursionError, AttributeError, TypeError, KeyError):
                found[path.name] = None  # said to be none of the kind
        return found
