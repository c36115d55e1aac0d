"""The objects of an index below a prefix of a store: listed, fetched, put and removed, several at once, what may pass tried again.

Names are those that the files have in the folder of an index. Knows objects; knows neither what they hold nor who else writes them.
"""

import tempfile
from collections.abc import Callable, Iterable
from concurrent.futures import Future
from pathlib import Path
from typing import Any, Final

from board.errors import ArgumentRefused, RunNotFound
from board.remote import stores
from board.remote.addresses import Address
from board.remote.fetch_threads import FetchThreads
from board.remote.object_store import RemoteObject, RemoteTrouble, WritableStore
from board.remote.retrying import with_retries

MOST_OBJECTS: Final = 10_000_000
"""More below the prefix of an index are none that the board has written."""


class IndexPrefix:
    """A prefix that may be written to."""

    def __init__(self, address: Address) -> None:
        """Raises ArgumentRefused where the store cannot be written to, RemoteTrouble."""
        self.address = address
        store = stores.shared(address)
        if not isinstance(store, WritableStore):
            raise ArgumentRefused(
                f"What is at {address} can be read and not written to: name a folder, or an address with s3://, gs:// or ssh://."
            )
        self._store = store
        self._threads = FetchThreads()

    def close(self) -> None:
        """Nothing is asked for any more."""
        self._threads.end()

    def key(self, name: str) -> str:
        """The key of an object."""
        return f"{self.address.prefix}/{name}" if self.address.prefix else name

    def listed(self) -> dict[str, RemoteObject]:
        """All that lies below the prefix now, by name. Raises RemoteTrouble."""
        below, found = self.key(""), dict[str, RemoteObject]()
        for one in self._store.objects(self.address.prefix):
            if one.key.startswith(below) and not one.key.endswith("/"):
                found[one.key.removeprefix(below)] = one
            if len(found) > MOST_OBJECTS:
                raise RunNotFound(f"More than {MOST_OBJECTS:,} objects lie under {self.address}: name another prefix.")
        return found

    def look(self, name: str) -> RemoteObject:
        """An object as it is now. Raises RemoteTrouble, Vanished where there is none."""
        return with_retries(lambda: self._store.look(self.key(name)))

    def read(self, name: str, most: int) -> bytes:
        """A small object as it is now. Raises RemoteTrouble, Vanished where there is none."""

        def read() -> bytes:
            found = self._store.look(self.key(name))
            if found.size > most:
                raise RemoteTrouble("is larger than what the board writes there")
            return b"".join(self._store.read(found, 0, found.size)) if found.size else b""

        return with_retries(read)

    def fetch(self, found: Iterable[RemoteObject], folder: Path) -> None:
        """Have these objects, as they were listed, be files below a folder. Raises RemoteTrouble, OSError."""
        below = self.key("")

        def fetcher(one: RemoteObject) -> Callable[[], None]:
            def fetch() -> None:
                path = folder / one.key.removeprefix(below)
                path.parent.mkdir(parents=True, exist_ok=True)
                data = with_retries(lambda: b"".join(self._store.read(one, 0, one.size))) if one.size else b""
                path.write_bytes(data)

            return fetch

        _wait([self._threads.submit(fetcher(one)) for one in found])

    def put(self, names: Iterable[str], folder: Path) -> None:
        """Have objects hold what the files below a folder hold. Raises RemoteTrouble, OSError."""

        def putter(name: str) -> Callable[[], None]:
            return lambda: with_retries(lambda: self._store.put(self.key(name), folder / name))

        _wait([self._threads.submit(putter(name)) for name in names])

    def create(self, name: str, data: bytes) -> None:
        """Make an object. Raises Replaced where there is one, RemoteTrouble."""
        with_retries(lambda: self._store.create(self.key(name), data))

    def write(self, name: str, data: bytes) -> None:
        """Put a small object in the place of what stood there. Raises RemoteTrouble, OSError."""
        with tempfile.TemporaryDirectory() as folder:
            (Path(folder) / "object").write_bytes(data)
            with_retries(lambda: self._store.put(self.key(name), Path(folder) / "object"))

    def remove(self, names: Iterable[str]) -> None:
        """Have these objects be gone. Raises RemoteTrouble."""
        keys = [self.key(name) for name in names]
        with_retries(lambda: self._store.remove(keys))


def _wait(futures: "list[Future[Any]]") -> None:
    """Until all are done; the first that failed is raised then."""
    failed = [error for future in futures if (error := future.exception()) is not None]
    if failed:
        raise failed[0]
