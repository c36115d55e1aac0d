"""Things that the reader gave a name to, kept in a folder of the settings: a file each, so that two boards that save at once lose nothing.

Knows what a name may be; knows neither what is kept nor what for.
"""

from collections.abc import Callable
from dataclasses import dataclass
from hashlib import blake2b
from pathlib import Path
from typing import Any, Final

import orjson

from board.errors import BoardError
from board.text.path_names import shown
from board.user_files import folders, user_folders

LONGEST_NAME: Final = 80
"""Characters."""

_ENDING: Final = ".json"


@dataclass(frozen=True)
class NamedFiles:
    """One kind of things."""

    folder: str
    """In the settings."""
    kind: str
    """What one of them is called: "custom metric"."""
    content: str
    """What it holds beside its name, in a word: "query"."""
    is_sound: Callable[[dict[str, Any]], bool]
    """Whether a file's object holds that."""

    def load(self) -> tuple[list[dict[str, Any]], list[str]]:
        """All of them by name, without regard to case, and a sentence for each file that could not be read, which stays where it is.

        None where nothing was ever saved. Raises BoardError when the folder cannot be read.
        """
        found, damaged = [], []
        for path in self._files():
            try:
                found.append(self._read(path))
            except FileNotFoundError:  # another board has just deleted it
                continue
            except (OSError, ValueError) as error:
                damaged.append(f"{shown(path)} holds no {self.kind} and was left as it is: {error}.")
        return sorted(found, key=lambda one: (one["name"].casefold(), one["name"])), damaged

    def save(self, name: str, **content: Any) -> None:
        """Keep something under a name (as of `checked`), in place of what had that name.

        A damaged file that stands where it must go is moved aside. Raises BoardError for what cannot be kept.
        """
        path = self._path(name)
        if path.exists() and not self._is_whole(path):
            folders.set_aside(path)
        try:
            written = orjson.dumps({"name": name, **content}, option=orjson.OPT_INDENT_2)
        except orjson.JSONEncodeError as error:  # half a surrogate pair
            raise BoardError(f"The {self.content} holds a character that is no text.") from error
        folders.write(path, written)

    def delete(self, name: str) -> None:
        """Forget what has that name, if there is anything. Raises BoardError where it cannot be removed."""
        try:
            self._path(name).unlink(missing_ok=True)
        except OSError as error:
            raise BoardError(f"The {self.kind} {name!r} cannot be deleted: {error.strerror}.") from error

    def checked(self, name: str) -> str:
        """The name without space around it. Raises BoardError for one that cannot be shown in one line."""
        if problem := self._problem(name.strip()):
            raise BoardError(problem)
        return name.strip()

    def _folder(self) -> Path:
        return user_folders.settings() / self.folder

    def _files(self) -> list[Path]:
        try:
            return sorted(path for path in self._folder().iterdir() if path.suffix == _ENDING)
        except FileNotFoundError:
            return []
        except OSError as error:
            raise BoardError(f"{self._folder()} cannot be read: {error.strerror}.") from error

    def _path(self, name: str) -> Path:
        """Where what has that name is: names may differ in case alone and hold slashes, and file names may not."""
        readable = "".join(character if character.isascii() and character.isalnum() else "_" for character in name[:40])
        return self._folder() / f"{readable}-{blake2b(name.encode(), digest_size=8).hexdigest()}{_ENDING}"

    def _read(self, path: Path) -> dict[str, Any]:
        """Raises OSError, or ValueError when it is nothing of this kind, or another file's."""
        read = orjson.loads(path.read_bytes())
        if not (isinstance(read, dict) and isinstance(read.get("name"), str) and self.is_sound(read)):
            raise ValueError(f"it has no name and {self.content}")
        if self._problem(read["name"]) or self._path(read["name"]) != path:
            raise ValueError("its name is not the one it was saved under")
        return read

    def _is_whole(self, path: Path) -> bool:
        try:
            return bool(self._read(path))
        except (OSError, ValueError):
            return False

    def _problem(self, name: str) -> str:
        if not name:
            return f"A {self.kind} needs a name to be saved under."
        if len(name) > LONGEST_NAME:
            return f"The name has {len(name)} characters, and {LONGEST_NAME} is the most."
        return "" if name.isprintable() else "The name holds a character that cannot be shown, such as a line end."
