"""Where an index is written: a folder of this machine, for one writer at a time. Knows its place; knows neither runs nor parts' bytes.

`board.indexing.prefix_destination` is the same in a store.
"""

import re
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import Any, Final, Protocol

from filelock import FileLock, Timeout

from board.errors import ArgumentRefused
from board.runs import frame_files
from board.runs.index_folder import IndexFolder
from board.sources import index_file
from board.text.path_names import shown

_OURS: Final = re.compile(rf"{re.escape(index_file.LOCK)}|\.[0-9a-f]{{32}}\.tmp")
"""What an index that was stopped at its very beginning leaves."""


class Destination(Protocol):
    """Where an index is written."""

    folder: Path
    """On this machine: the file of the index and the manifests lie there as in any index, the parts perhaps elsewhere."""

    @property
    def shown(self) -> str:
        """As it is shown."""

    def parts(self, owner: str) -> IndexFolder:
        """Its parts, for who writes them."""

    def publish(self, name: str) -> None:
        """A file below `folder` is as it is to be: whoever reads the index is to have it. Raises OSError."""

    def frame_place(self) -> AbstractContextManager[tuple[Path, Path] | None]:
        """The whole index, and the folder for its frame, which readers find once the context ends well.

        None where the frame is there. Raises OSError.
        """

    def order(self) -> dict[str, Any]:
        """What a worker is told of it, as JSON holds it."""


def refuse_other_files(names: set[str], place: str) -> None:
    """Raise ArgumentRefused where what lies there is no index, nor the beginning of one."""
    if any(not _OURS.fullmatch(name) for name in names) and index_file.NAME not in names:
        raise ArgumentRefused(f"{place} holds other files: name a folder that is empty or not there yet.")


class FolderDestination:
    """A folder that every worker sees."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    @property
    def shown(self) -> str:
        """Its path."""
        return shown(self.folder)

    def parts(self, owner: str) -> IndexFolder:
        """They lie below it."""
        return IndexFolder(self.folder, owner)

    def publish(self, name: str) -> None:
        """What lies there is there."""

    @contextmanager
    def frame_place(self) -> Iterator[tuple[Path, Path] | None]:
        """The folder itself, and one in it."""
        yield self.folder, self.folder / frame_files.FOLDER

    def order(self) -> dict[str, Any]:
        """Its path alone."""
        return {"index": str(self.folder), "prefix": None}


@contextmanager
def in_folder(folder: Path) -> Iterator[FolderDestination]:
    """A folder for this process alone until the context ends. Raises ArgumentRefused where it cannot be an index, OSError."""
    if folder.exists() and not folder.is_dir():
        raise ArgumentRefused(f"{shown(folder)} is a file: name a folder.")
    refuse_other_files({path.name for path in folder.iterdir()} if folder.is_dir() else set(), shown(folder))
    folder.mkdir(parents=True, exist_ok=True)
    try:
        with FileLock(folder / index_file.LOCK, timeout=0):
            yield FolderDestination(folder)
    except Timeout as error:
        raise ArgumentRefused(f"Another `index` is writing to {shown(folder)}: wait for it, or name another folder.") from error
