"""The objects of an index below a prefix of a store: listed, fetched, put and removed, several at once, what may pass tried again.

Names are those that the files have in the folder of an index. Knows objects; knows neither what they hold nor who else writes them.
"""

from collections.abc import Awaitable, Callable, Iterable
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Final, TypeVar

from board.errors import ArgumentRefused, RunNotFound
from board.remote import object_store, stores
from board.remote.addresses import Address
from board.remote.object_store import RemoteObject, Vanished

_T = TypeVar("_T")

MOST_OBJECTS: Final = 10_000_000
"""More below the prefix of an index are none that the board has written."""


class IndexPrefix:
    """A prefix that may be written to."""

    def __init__(self, address: Address) -> None:
        """Raises ArgumentRefused where the store cannot be written to, RemoteTrouble."""
        self.address = address
        if address.scheme not in stores.WRITABLE:
            raise ArgumentRefused(
                f"What is at {address} can be read and not written to: name a folder, or an address with s3://, gs:// or ssh://."
            )
        self._store = stores.shared(address)

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

    def beginning(self, name: str, count: int) -> bytes:
        """The first bytes of an object as it is now; none where it is not there. Raises RemoteTrouble."""

        async def read() -> bytes:
            data = bytearray()
            with suppress(Vanished):
                found = await self._store.look(self.key(name))
                await self._store.read(found, 0, min(count, found.size), data)
            return bytes(data)

        return object_store.waited(object_store.with_retries(read))

    def fetch(self, found: Iterable[RemoteObject], folder: Path) -> None:
        """Have these objects, as they were listed, be files below a folder. Raises RemoteTrouble, OSError."""
        below = self.key("")
        fetches = [partial(self._store.fetch, one, folder / one.key.removeprefix(below), 0, one.size) for one in found]
        object_store.waited(object_store.all_done(fetches))

    def fetch_named(self, names: Iterable[str], folder: Path) -> None:
        """The same by their names, as they are now. Raises RemoteTrouble, OSError."""
        self.fetch(_all_done(partial(self._store.look, self.key(name)) for name in names), folder)

    def put(self, names: Iterable[str], folder: Path) -> None:
        """Have objects hold what the files below a folder hold. Raises RemoteTrouble, OSError."""
        _all_done(partial(self._store.put, self.key(name), folder / name) for name in names)

    def remove(self, names: Iterable[str]) -> None:
        """Have these objects be gone. Raises RemoteTrouble."""
        keys = [self.key(name) for name in names]
        object_store.waited(object_store.with_retries(lambda: self._store.remove(keys)))


def _all_done(acts: Iterable[Callable[[], Awaitable[_T]]]) -> list[_T]:
    """What all give, each tried again where that may help; the first that failed is raised once all are done."""
    return object_store.waited(object_store.all_done([partial(object_store.with_retries, act) for act in acts]))
