"""The mirror of one store: a folder of the cache with a file for each object that was listed, which has its size and none of its bytes.

Whoever lists the folder sees what the store holds. Bytes come when they are read, by ranges, several at a time, and are kept nowhere but in
a little memory on their way; those that a library must have in a file, as of an index, are written into it. Knows how bytes come; knows
neither which store it is nor what is asked for next.
"""

import asyncio
import io
import os
import threading
from collections import OrderedDict
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Future
from functools import cached_property
from hashlib import blake2b
from itertools import pairwise
from pathlib import Path, PurePosixPath
from typing import Any, Final

from board.errors import RunNotFound
from board.remote import local_names, object_store
from board.remote.object_store import ObjectStore, RemoteObject, Replaced, Vanished
from board.remote.places import BLOCK, REQUEST, Span

HELD_BLOCKS: Final = 1_024
"""So many are in memory at most, 64 MiB, those that were asked for last."""

_MOST_AHEAD: Final = 8 << 20
"""Bytes fetched ahead of somebody who reads in order."""

_Held = tuple["Future[bytes]", int]
"""A request, and the block that it begins with."""


class Mirror:
    """Several threads and processes may use one folder."""

    def __init__(self, folder: Path, make_store: Callable[[], ObjectStore]) -> None:
        self.files = folder / "files"
        """What is listed, as folders and files."""
        self._make_store = make_store
        self.known: dict[str, RemoteObject] = {}
        """The objects as they were listed or looked at last, by the path of their file in the mirror."""
        self._gate = asyncio.Semaphore(object_store.AT_ONCE)
        self._changing = threading.Lock()
        self._held: OrderedDict[tuple[str, str, int], _Held] = OrderedDict()
        """By key, version and block."""
        self._written: dict[Path, tuple[int, set[int]]] = {}
        """The inode of a file, and the blocks that this process has written into it."""

    @cached_property
    def store(self) -> ObjectStore:
        """What is mirrored. Raises BoardError where a library is missing."""
        return self._make_store()

    def connect_anew(self) -> None:
        """Make another store when it is needed next."""
        self.__dict__.pop("store", None)

    def found(self, path: Path) -> RemoteObject:
        """The object whose file lies there, which is marked as read. Raises OSError, Replaced where it is another than was listed."""
        descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC)
        try:
            status = os.fstat(descriptor)
            if not status.st_atime_ns:
                os.utime(descriptor, ns=(1, status.st_mtime_ns))
        finally:
            os.close(descriptor)
        name, stamp = path.relative_to(self.files).as_posix(), (status.st_size, status.st_mtime_ns)
        found = self.known.get(name)
        if found is None or local_stamp(found) != stamp:  # another process has listed it
            found = self._looked_at(name)
            if local_stamp(found) != stamp:
                raise Replaced("was changed since it was listed: look again")
            self.known[name] = found
        return found

    def _looked_at(self, name: str) -> RemoteObject:
        try:
            key = local_names.key_of(PurePosixPath(name))
        except RunNotFound as error:
            raise Vanished(str(error)) from error
        return object_store.waited(object_store.with_retries(lambda: self.store.look(key)))

    def lacks(self, found: RemoteObject, start: int, stop: int) -> bool:
        """Whether some of these bytes were not asked for, or are not held any more."""
        return any((found.key, found.version, block) not in self._held for block in _blocks(found, start, stop))

    def ask(self, found: RemoteObject, start: int, stop: int) -> list[_Held]:
        """Have these bytes fetched, and go on: block by block the request that has it. What goes wrong shows when they are read."""
        store = self.store
        with self._changing:
            wanted = [(found.key, found.version, block) for block in _blocks(found, start, stop)]
            for run in _runs([block for *_, block in wanted if (found.key, found.version, block) not in self._held]):
                stop = min(run.stop * BLOCK, found.size)
                future = object_store.begun(self._fetched(store, found, run.start * BLOCK, stop))
                self._held.update({(found.key, found.version, block): (future, run.start) for block in run})
            asked = [self._held[one] for one in wanted]
            for one in wanted:
                self._held.move_to_end(one)
            while len(self._held) > HELD_BLOCKS:
                self._held.popitem(last=False)
        return asked

    def read(self, found: RemoteObject, start: int, stop: int) -> bytes:
        """These bytes of an object. Raises OSError, Replaced where it is another by now."""
        first, asked = start // BLOCK, self.ask(found, start, stop)
        try:
            data = b"".join(_block(*held, first + at) for at, held in enumerate(asked))
        except OSError:
            with self._changing:
                for block in _blocks(found, start, stop):
                    self._held.pop((found.key, found.version, block), None)
            raise
        return data[start - first * BLOCK : stop - first * BLOCK]

    async def _fetched(self, store: ObjectStore, found: RemoteObject, start: int, stop: int) -> bytes:
        async with self._gate:
            return bytes(await store.fetched(found, start, stop))

    def look_ahead(self, path: Path, start: int, stop: int) -> None:
        """Have bytes fetched that are about to be read, but for those that lie in the file."""
        inode, written = self._written.get(path, (0, set[int]()))
        found = self.found(path)
        if not written or inode != path.stat().st_ino or not written.issuperset(_blocks(found, start, stop)):
            self.ask(found, start, stop)

    def bring(self, spans: Iterable[Span]) -> None:
        """Have these bytes in their files, for who maps them. Raises OSError."""
        found = [(path, self.found(path), start, stop) for path, start, stop in spans]
        for path, _, start, stop in found:
            self.look_ahead(path, start, stop)
        for path, one, start, stop in found:
            self._write(path, one, _blocks(one, start, stop))

    def _write(self, path: Path, found: RemoteObject, blocks: range) -> None:
        descriptor = os.open(path, os.O_RDWR | os.O_NOFOLLOW | os.O_CLOEXEC)
        try:
            status = os.fstat(descriptor)
            if (status.st_size, status.st_mtime_ns) != local_stamp(found):
                raise Replaced("was changed since it was listed: look again")
            inode, written = self._written.get(path, (0, set[int]()))
            written = written if inode == status.st_ino else set()
            for block in blocks:
                if block not in written:
                    start = block * BLOCK
                    os.pwrite(descriptor, self.read(found, start, min(start + BLOCK, found.size)), start)
                    os.utime(descriptor, ns=(1, status.st_mtime_ns))  # by it the version is told
                    written.add(block)
            self._written[path] = status.st_ino, written
        finally:
            os.close(descriptor)


class MirroredFile(io.RawIOBase):
    """An object as a file that is read, further ahead the longer it is read in order. One thread at a time; without a descriptor."""

    def __init__(self, mirror: Mirror, found: RemoteObject) -> None:
        self._mirror, self._found = mirror, found
        self._at, self._ended_at, self._ahead = 0, 0, BLOCK

    def readable(self) -> bool:
        """It is there to be read."""
        return True

    def seekable(self) -> bool:
        """Any byte is as near as any other."""
        return True

    def seek(self, offset: int, whence: int = io.SEEK_SET) -> int:
        """Go to a byte, counted from the start, from here or from the end."""
        self._at = max(0, offset + {io.SEEK_SET: 0, io.SEEK_CUR: self._at, io.SEEK_END: self._found.size}[whence])
        return self._at

    def tell(self) -> int:
        """Which byte is next."""
        return self._at

    def readinto(self, buffer: Any) -> int:
        """Fill the buffer or a part of it; 0 at the end. Raises OSError."""
        start, stop = self._at, min(self._at + len(buffer), self._found.size)
        if start >= stop:
            return 0
        if self._mirror.lacks(self._found, start, stop):
            self._ahead = min(_MOST_AHEAD, self._ahead * 2) if start == self._ended_at else BLOCK
            self._mirror.ask(self._found, start, max(stop, start + self._ahead))
        self._at = self._ended_at = stop
        data = self._mirror.read(self._found, start, stop)
        buffer[: len(data)] = data
        return len(data)


def _blocks(found: RemoteObject, start: int, stop: int) -> range:
    return range(start // BLOCK, -(-min(stop, found.size) // BLOCK))


def _block(request: "Future[bytes]", first: int, block: int) -> bytes:
    return request.result()[(block - first) * BLOCK : (block - first + 1) * BLOCK]


def _runs(blocks: Sequence[int]) -> Iterator[range]:
    """Blocks in rising order as runs without a gap, none longer than a request."""
    most = REQUEST // BLOCK
    starts = [at for at, block in enumerate(blocks) if not at or block != blocks[at - 1] + 1]
    for start, stop in pairwise([*starts, len(blocks)]):
        for at in range(start, stop, most):
            yield range(blocks[at], blocks[min(at + most, stop) - 1] + 1)


def local_stamp(found: RemoteObject) -> tuple[int, int]:
    """Size and time in ns that an object's file has: the time's fraction of a second is another one for another version."""
    fraction = int.from_bytes(blake2b(found.version.encode(), digest_size=4).digest(), "big") % 10**9
    return found.size, found.modified_ns // 10**9 * 10**9 + fraction
