"""An index that is written below a prefix of a store: the driver keeps its file and its manifests in a folder of this machine while it works.

Knows what travels when; knows neither runs nor what is in a part.
"""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import Any

from board.indexing.destination import refuse_other_files
from board.indexing.index_prefix import IndexPrefix
from board.indexing.prefix_folder import PrefixFolder, folder_for_a_while, is_ours
from board.remote import mounts
from board.remote.addresses import Address
from board.remote.object_store import RemoteObject
from board.runs import frame_files
from board.runs.frame_files import FOLDER as FRAME
from board.runs.frame_files import NAME as FRAME_FILE
from board.sources import index_file


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
    def frame_place(self) -> Iterator[Path | None]:
        """The index as it lies there, fetched as it is read; `frame.json` goes there last."""
        listed, last = self._prefix.listed(), f"{FRAME}/{FRAME_FILE}"
        if last in listed and self._is_current(listed[last]):
            yield None
            return
        address = self._prefix.address
        with mounts.lent(address, address.prefix, listed.values(), own=FRAME) as index:
            yield index
            written = {f"{FRAME}/{path.name}" for path in (index / FRAME).glob("[!.]*")}
            self._prefix.put(sorted(written - {last}), index)
            self._prefix.put(sorted(written & {last}), index)
        if is_ours(self._prefix, self.folder):
            self._prefix.remove(sorted({name for name in listed if name.startswith(f"{FRAME}/")} - written))

    def _is_current(self, found: RemoteObject) -> bool:
        """Whether the frame that is there is of the index as it is: only its account is looked at."""
        self._prefix.fetch([found], self.folder)
        return frame_files.read(self.folder, index_file.stamp(self.folder)) is not None

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
