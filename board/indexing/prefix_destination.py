"""An index that is written below a prefix of a store: the driver keeps its file and its manifests in a folder of this machine while it works.

Knows what travels when; knows neither runs nor what is in a part.
"""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import Any, Final

from board.indexing.destination import refuse_other_files
from board.indexing.index_prefix import IndexPrefix
from board.indexing.prefix_folder import PrefixFolder, folder_for_a_while, is_ours
from board.remote import mounts
from board.remote.addresses import Address
from board.remote.object_store import RemoteObject
from board.runs import frame_files
from board.runs.frame_files import FOLDER as FRAME
from board.sources import index_file

_FRAME_FILE: Final = f"{FRAME}/{frame_files.NAME}"


class PrefixDestination:
    """Below a prefix."""

    def __init__(self, folder: Path, prefix: IndexPrefix, listed: Mapping[str, RemoteObject]) -> None:
        self.folder = folder
        self._prefix = prefix
        self._sizes = {name: one.size for name, one in listed.items()}

    @property
    def shown(self) -> str:
        """Its address."""
        return str(self._prefix.address)

    def parts(self, owner: str) -> PrefixFolder:
        """They lie below the prefix."""
        return PrefixFolder(self.folder, owner, self._prefix, self._sizes)

    def publish(self, name: str) -> None:
        """Put a file. Raises OSError."""
        self._prefix.put([name], self.folder)

    @contextmanager
    def frame_place(self) -> Iterator[tuple[Path, Path] | None]:
        """The index as it lies there, fetched as it is read, and a folder; `frame.json` goes there last."""
        index = mounts.mounted(self.shown, anew=True)
        if frame_files.read(index, index_file.stamp(self.folder)) is not None:
            yield None
            return
        with folder_for_a_while() as folder:
            yield index, folder / FRAME
            written = {f"{FRAME}/{path.name}" for path in (folder / FRAME).glob("[!.]*")}
            self._prefix.put(sorted(written - {_FRAME_FILE}), folder)
            self._prefix.put(sorted(written & {_FRAME_FILE}), folder)
        if is_ours(self._prefix, self.folder):
            self._prefix.remove(sorted({f"{FRAME}/{path.name}" for path in (index / FRAME).glob("*")} - written))

    def order(self) -> dict[str, Any]:
        """Its address: each worker has a folder of its own."""
        return {"index": "", "prefix": asdict(self._prefix.address)}


@contextmanager
def below_prefix(address: Address) -> Iterator[PrefixDestination]:
    """A prefix that is written to until the context ends. Raises ArgumentRefused where it cannot be an index, RemoteTrouble."""
    prefix = IndexPrefix(address)
    listed = prefix.listed()
    refuse_other_files({name.partition("/")[0] for name in listed}, str(address))
    with folder_for_a_while() as folder:
        prefix.fetch([one for name, one in listed.items() if _is_the_drivers(name)], folder)
        yield PrefixDestination(folder, prefix, listed)


def _is_the_drivers(name: str) -> bool:
    return name == index_file.NAME or (name.startswith(f"{index_file.PARTS}/") and name.endswith(".json"))
