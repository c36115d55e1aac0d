"""The mirror of one store: a folder of the cache with a file for each object.

A file has the object's size as it was listed, and none of its bytes. A listing of the folder shows what the store holds. Bytes come when they
are read, by ranges, several at a time, and are stored nowhere but in a little memory on their way.
"""

import asyncio
import threading
from collections import OrderedDict
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from functools import cached_property
from hashlib import blake2b
from itertools import takewhile
from pathlib import Path, PurePosixPath
from typing import Final

from fsspec.spec import AbstractBufferedFile

from board.errors import RunNotFound
from board.sources.remote import local_names, object_store
from board.sources.remote.object_store import ObjectStore, RemoteObject, Replaced, Vanished
from board.sources.remote.places import BLOCK, REQUEST

HELD_BLOCKS: Final = 1_024
"""So many are in memory at most, 64 MiB, those that were requested last."""

_MOST_AHEAD: Final = 8 << 20
"""Bytes fetched ahead of somebody who reads in order."""


class Mirror:
    """Several threads and processes may use one folder."""

    def __init__(self, folder: Path, make_store: Callable[[], ObjectStore]) -> None:
        self.files = folder / "files"
        """What is listed, as folders and files."""
        self._make_store = make_store
        self.known: dict[str, RemoteObject] = {}
        """The objects as they were listed or looked at last, by the path of their file in the mirror."""
        self.opened: set[str] = set()
        """Those that this process has read."""
        self.gone: set[str] = set()
        """Those of them whose objects are gone."""
        self.changing = threading.Lock()
        """Held by the thread that changes the files."""
        self._gate = asyncio.Semaphore(object_store.AT_ONCE)
        self._changing = threading.Lock()
        self._held: OrderedDict[tuple[RemoteObject, int], tuple[Future[bytes], int]] = OrderedDict()
        """By object and block the request that has it, and the block that this begins with."""

    @cached_property
    def store(self) -> ObjectStore:
        """What is mirrored. Raises BoardError where a library is missing."""
        return self._make_store()

    def connect_anew(self) -> None:
        """Make another store when it is needed next."""
        self.__dict__.pop("store", None)

    def found(self, path: Path) -> RemoteObject:
        """The object whose file lies there, to be read. Raises OSError, Replaced where it is another than was listed."""
        name, status = path.relative_to(self.files).as_posix(), path.lstat()
        found, stamp = self.known.get(name), (status.st_size, status.st_mtime_ns)
        if found is None or local_stamp(found) != stamp:  # another process has listed it
            found = self._looked_at(name)
            if local_stamp(found) != stamp:
                raise Replaced("was changed since it was listed: look again")
            self.known[name] = found
        self.opened.add(name)
        return found

    def _looked_at(self, name: str) -> RemoteObject:
        try:
            key = local_names.key_of(PurePosixPath(name))
        except RunNotFound as error:
            raise Vanished(str(error)) from error
        return object_store.waited(object_store.with_retries(lambda: self.store.look(key)))

    def lacks(self, found: RemoteObject, start: int, stop: int) -> bool:
        """Whether some of these bytes were never requested, or are no longer held."""
        return any((found, block) not in self._held for block in _blocks(found, start, stop))

    def ask(self, found: RemoteObject, start: int, stop: int) -> list[tuple["Future[bytes]", int]]:
        """Have these bytes fetched, and go on: what has them, block by block. What goes wrong shows when they are read."""
        blocks = _blocks(found, start, stop)
        with self._changing:
            for block in blocks:
                if (found, block) not in self._held:
                    self._begin(found, [*takewhile(lambda one: (found, one) not in self._held, blocks[block - blocks.start :])])
                self._held.move_to_end((found, block))
            requests = [self._held[found, block] for block in blocks]
            while len(self._held) > HELD_BLOCKS:
                self._held.popitem(last=False)
        return requests

    def _begin(self, found: RemoteObject, lacking: Sequence[int]) -> None:
        """Have blocks that follow each other fetched, as many as one request takes."""
        batch = lacking[: REQUEST // BLOCK]
        begun = object_store.begun(self._fetched(found, batch[0] * BLOCK, min((batch[-1] + 1) * BLOCK, found.size)))
        self._held.update({(found, block): (begun, batch[0]) for block in batch})

    async def _fetched(self, found: RemoteObject, start: int, stop: int) -> bytes:
        async with self._gate:
            return bytes(await self.store.fetched(found, start, stop))

    def read(self, found: RemoteObject, start: int, stop: int) -> bytes:
        """These bytes of an object. Raises OSError, Replaced where it is another by now."""
        blocks, held = _blocks(found, start, stop), self.ask(found, start, stop)
        try:
            pieces = [
                request.result()[(block - first) * BLOCK :][:BLOCK] for block, (request, first) in zip(blocks, held, strict=True)
            ]
        except Exception:  # requested again the next time
            with self._changing:
                for block in blocks:
                    self._held.pop((found, block), None)
            raise
        return b"".join(pieces)[start - blocks.start * BLOCK :][: stop - start]


class MirroredFile(AbstractBufferedFile):  # type: ignore[misc]
    """An object as a file that is read, further ahead the longer it is read in order. One thread at a time; without a descriptor."""

    def __init__(self, mirror: Mirror, found: RemoteObject) -> None:
        super().__init__(None, found.key, cache_type="none", size=found.size)
        self._mirror, self._found = mirror, found
        self._ended_at, self._ahead = 0, BLOCK

    def _fetch_range(self, start: int, end: int) -> bytes:
        """What `read` is made of, by fsspec's documentation. Raises OSError."""
        stop = min(end, self._found.size)
        if self._mirror.lacks(self._found, start, stop):
            self._ahead = min(_MOST_AHEAD, self._ahead * 2) if start == self._ended_at else BLOCK
            self._mirror.ask(self._found, start, max(stop, start + self._ahead))
        self._ended_at = stop
        return self._mirror.read(self._found, start, stop)


def _blocks(found: RemoteObject, start: int, stop: int) -> range:
    return range(start // BLOCK, -(-min(stop, found.size) // BLOCK))


def local_stamp(found: RemoteObject) -> tuple[int, int]:
    """Size and time in ns that an object's file has: the time's fraction of a second is another one for another version."""
    fraction = int.from_bytes(blake2b(found.version.encode(), digest_size=4).digest(), "big") % 10**9
    return found.size, found.modified_ns // 10**9 * 10**9 + fraction
