"""The mirror of one store: a folder of the cache with a file for each object that was listed, which has its size and none of its bytes.

Whoever lists the folder sees what the store holds. Bytes come when they are read, by ranges, several at a time, and are kept nowhere but in
a little memory on their way; those that a library must have in a file, as of an index, are written into it. Knows how bytes come; knows
neither which store it is nor what is asked for next.
"""

import os
import threading
from collections import OrderedDict
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Future
from functools import cached_property, partial
from hashlib import blake2b
from itertools import pairwise
from pathlib import Path, PurePosixPath
from typing import Final

from board.errors import RunNotFound
from board.remote import local_names
from board.remote.fetch_threads import FetchThreads
from board.remote.object_store import ObjectStore, Passing, RemoteObject, RemoteTrouble, Replaced, Vanished
from board.remote.retrying import with_retries

BLOCK: Final = 1 << 16
"""Bytes are asked for in whole blocks of so many; the last of an object may be shorter."""

REQUEST_BLOCKS: Final = 32
"""Blocks asked for at once, 2 MiB: what is asked for in pieces travels in parallel, and a cut costs little."""

HELD_BLOCKS: Final = 1_024
"""So many are in memory at most, 64 MiB, those that were asked for last."""

Span = tuple[Path, int, int]
"""A file of the mirror, and the bytes of it that are wanted."""

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
        self._threads = FetchThreads()
        self._changing = threading.Lock()
        self._held: OrderedDict[tuple[str, str, int], _Held] = OrderedDict()
        """By key, version and block."""
        self._written: dict[Path, tuple[int, set[int]]] = {}
        """The inode of a file, and the blocks that this process has written into it."""

    @cached_property
    def store(self) -> ObjectStore:
        """What is mirrored. Raises BoardError where a library is missing."""
        return self._make_store()

    def close(self) -> None:
        """Nothing is fetched any more."""
        self._threads.end()

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
        return with_retries(lambda: self.store.look(key))

    def lacks(self, found: RemoteObject, start: int, stop: int) -> bool:
        """Whether some of these bytes were not asked for, or are not held any more."""
        return any((found.key, found.version, block) not in self._held for block in _blocks(found, start, stop))

    def ask(self, found: RemoteObject, start: int, stop: int) -> list[_Held]:
        """Have these bytes fetched, and go on: block by block the request that has it. What goes wrong shows when they are read."""
        with self._changing:
            wanted = [(found.key, found.version, block) for block in _blocks(found, start, stop)]
            for run in _runs([block for *_, block in wanted if (found.key, found.version, block) not in self._held]):
                future = self._threads.submit(partial(self._fetched, found, run.start * BLOCK, min(run.stop * BLOCK, found.size)))
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

    def _fetched(self, found: RemoteObject, start: int, stop: int) -> bytes:
        """A range that is gone on with where it was cut."""
        data = bytearray()

        def fetch() -> None:
            for piece in self.store.read(found, start + len(data), stop):
                data.extend(piece)
                if len(data) > stop - start:
                    raise RemoteTrouble("the store sent more bytes than were asked for")
            if len(data) < stop - start:
                raise Passing("the connection was cut before all bytes had come")

        with_retries(fetch, lambda: len(data))
        return bytes(data)

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


def _blocks(found: RemoteObject, start: int, stop: int) -> range:
    return range(start // BLOCK, -(-min(stop, found.size) // BLOCK))


def _block(request: "Future[bytes]", first: int, block: int) -> bytes:
    return request.result()[(block - first) * BLOCK : (block - first + 1) * BLOCK]


def _runs(blocks: Sequence[int]) -> Iterator[range]:
    """Blocks in rising order as runs without a gap, none longer than a request."""
    starts = [at for at, block in enumerate(blocks) if not at or block != blocks[at - 1] + 1]
    for start, stop in pairwise([*starts, len(blocks)]):
        for at in range(start, stop, REQUEST_BLOCKS):
            yield range(blocks[at], blocks[min(at + REQUEST_BLOCKS, stop) - 1] + 1)


def local_stamp(found: RemoteObject) -> tuple[int, int]:
    """Size and time in ns that an object's file has: the time's fraction of a second is another one for another version."""
    fraction = int.from_bytes(blake2b(found.version.encode(), digest_size=4).digest(), "big") % 10**9
    return found.size, found.modified_ns // 10**9 * 10**9 + fraction
