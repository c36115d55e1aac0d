"""The destination of an index: a local folder, or a prefix of an object store."""

import os
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO, Final

from filelock import FileLock, Timeout
from pyarrow import fs

from board import atomic_write
from board.errors import ArgumentRefused, BoardError
from board.sources import index_file
from board.sources.remote import addresses, object_store
from board.text.path_names import path_of, shown

if TYPE_CHECKING:
    from board.sources.remote.fsspec_store import FsspecStore

WRITABLE: Final = ("s3", "gs", "ssh")
_OWN: Final = {index_file.NAME, index_file.UNFINISHED, index_file.LOCK}


@dataclass(frozen=True)
class Destination:
    """A place for one index; any process may make it anew of its name."""

    named: str
    """Its path, or its address."""

    @property
    def place(self) -> tuple[fs.FileSystem, str]:
        """Its file system and its path there. Raises ArgumentRefused where it cannot be written to."""
        if not addresses.is_address(self.named):
            return fs.LocalFileSystem(), str(Path(path_of(self.named)).resolve())
        address = addresses.parsed(self.named)
        if address.scheme not in WRITABLE:
            said = (
                f"What is at {address} can be read and not written to: name a folder, or an address with s3://, gs:// or ssh://."
            )
            raise ArgumentRefused(said)
        store: FsspecStore = object_store.shared(address)  # type: ignore[assignment]
        return fs.PyFileSystem(fs.FSSpecHandler(store.files)), f"{store.below}{address.prefix}"

    @property
    def is_local(self) -> bool:
        """Whether it is a folder."""
        return isinstance(self.place[0], fs.LocalFileSystem)

    @contextmanager
    def _in_words(self) -> Iterator[None]:
        """A context in which what a store's library raises is an OSError with a sentence of ours, which quotes nothing."""
        try:
            yield
        except Exception as error:
            if self.is_local or isinstance(error, BoardError):
                raise
            from board.sources.remote.fsspec_store import trouble_of

            raise trouble_of(error) from error

    def sizes(self) -> dict[str, int]:
        """What lies there: sizes by names, of the files of rows as `rows/…`. Raises OSError."""
        system, base = self.place
        with self._in_words():
            found = system.get_file_info(fs.FileSelector(base, recursive=True, allow_not_found=True))
        return {os.path.relpath(one.path, base): one.size for one in found if one.is_file}

    def opened(self, name: str) -> BinaryIO:
        """A file, to be read. Raises OSError."""
        system, base = self.place
        found: BinaryIO = system.open_input_file(f"{base}/{name}")
        return found

    def read(self, name: str) -> bytes | None:
        """All of a file; None where there is none. Raises OSError."""
        system, base = self.place
        with self._in_words():
            if system.get_file_info(f"{base}/{name}").type != fs.FileType.File:
                return None
            with self.opened(name) as stream:
                return bytes(stream.read())

    def write(self, name: str, data: bytes) -> None:
        """Have a file hold these bytes, in one move. Raises OSError."""
        system, base = self.place
        if isinstance(system, fs.LocalFileSystem):
            atomic_write.write(Path(base, name), data, durable=True)
        else:
            with self._in_words(), system.open_output_stream(f"{base}/{name}") as stream:
                stream.write(data)

    def remove(self, names: list[str]) -> None:
        """Have these files be gone. Raises OSError."""
        system, base = self.place
        with self._in_words():
            for name in names:
                system.delete_file(f"{base}/{name}")

    @contextmanager
    def held(self) -> Iterator[None]:
        """A folder for this process alone until the context ends. Raises ArgumentRefused where it cannot be an index, OSError."""
        system, base = self.place
        if self.is_local and Path(base).exists() and not Path(base).is_dir():
            raise ArgumentRefused(f"{shown(base)} is a file: name a folder.")
        with self._in_words():
            found = {one.base_name for one in system.get_file_info(fs.FileSelector(base, allow_not_found=True))}
        if found and not found & _OWN:
            raise ArgumentRefused(f"{self.named} holds other files: name a folder that is empty or not there yet.")
        system.create_dir(base, recursive=True)
        try:
            with FileLock(Path(base) / index_file.LOCK, timeout=0) if self.is_local else nullcontext():
                system.create_dir(f"{base}/{index_file.ROWS}")
                yield
        except Timeout as error:
            raise ArgumentRefused(f"Another `index` is writing to {self.named}: wait for it, or name another folder.") from error


def options() -> dict[str, Any]:
    """How files of rows are written: pages that vouch for themselves; a higher level of compression takes several times as long."""
    return {"compression": "zstd", "compression_level": 1, "write_page_checksum": True}
