"""The mirror of one store: a folder of the cache with a file for each object.

A file is sparse: it has the object's size, a time per version, and none of its bytes. So the folder shows what the store holds. Bytes come
when they are read, by ranges, several at a time, and are stored nowhere but in a little memory on their way.
"""

import asyncio
import os
import re
import shutil
import threading
from collections import OrderedDict
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import Future
from functools import cached_property
from hashlib import blake2b
from itertools import takewhile
from pathlib import Path, PurePosixPath
from typing import Final

from fsspec.spec import AbstractBufferedFile

from board import atomic_write
from board.errors import RunNotFound
from board.sources.presence import BLOCK, REQUEST
from board.sources.remote import local_names, object_store
from board.sources.remote.addresses import Address
from board.sources.remote.object_store import ObjectStore, RemoteObject, Replaced
from board.text.counting import plural

MOST_OBJECTS: Final = 1_000_000
"""More below a prefix are not listed."""

HELD_BLOCKS: Final = 1_024
"""So many are in memory at most, 64 MiB, those that were requested last."""

_MOST_AHEAD: Final = 8 << 20
"""Bytes fetched ahead of somebody who reads in order."""


class Mirror:
    """Several threads and processes may use one folder."""

    def __init__(self, folder: Path, address: Address) -> None:
        self.address = address
        """The store's own."""
        self.files = folder / "files"
        """What is listed, as folders and files."""
        self.known: dict[str, RemoteObject] = {}
        """The objects as they were listed or looked at last, by the path of their file in the mirror."""
        self.opened: set[str] = set()
        """Those that this process has read."""
        self.gone: set[str] = set()
        """Those of them whose objects are gone."""
        self._updating = threading.Lock()
        self._gate = asyncio.Semaphore(object_store.AT_ONCE)
        self._asking = threading.Lock()
        self._held: OrderedDict[tuple[RemoteObject, int], tuple[Future[bytes], int]] = OrderedDict()
        """By object and block the request that has it, and the block that this begins with."""

    @cached_property
    def store(self) -> ObjectStore:
        """What is mirrored. Raises BoardError where a library is missing."""
        return object_store.store_of(self.address)

    def update(self, prefix: str, listed: Iterable[RemoteObject]) -> dict[str, str]:
        """Make the files below a prefix what was listed; of objects that are gone they stay where this process has read them.

        By key why an object has no file. Raises RunNotFound where there are too many objects, OSError where the disk is full.
        """
        objects = [*_bounded(prefix, listed)]
        folders = {one.key[: slash.start()] for one in objects for slash in re.finditer("/", one.key)}
        found = {local_names.local_path(one.key, same_as_folder=one.key in folders).as_posix(): one for one in objects}
        left_out = {found.pop(name).key: "its name is too long for a file" for name in filter(local_names.is_too_long, [*found])}
        with self._updating:
            for name in [*self._names_below(prefix)]:
                if name not in found:
                    self._drop(name)
            for name, one in found.items():
                if not has_stamp(f"{self.files}/{name}", one):
                    self._put(self.files / name, one)
                self.known[name] = one
            self.gone = {name for name in self.gone - found.keys() if (self.files / name).is_file()}
        return left_out

    def _names_below(self, prefix: str) -> Iterator[str]:
        """The files below a prefix by their paths in the mirror, but for those that another process is writing."""
        for parent, _, names in os.walk(self.files / local_names.local_path(prefix)):
            inside = PurePosixPath(Path(parent).relative_to(self.files))
            yield from ((inside / name).as_posix() for name in names if not name.endswith(".tmp") or not name.startswith("."))

    def _put(self, path: Path, one: RemoteObject) -> None:
        """A file in the place of what stood there, and the folders above it: what is in their way is of objects that are gone."""
        if path.is_dir():
            shutil.rmtree(path)
        for above in takewhile(lambda above: above != self.files, path.parents):
            if above.is_file():
                above.unlink()
        path.parent.mkdir(parents=True, exist_ok=True)
        with atomic_write.replacing(path) as stream:
            stream.truncate(one.size)
            os.utime(stream.fileno(), ns=(0, local_stamp(one)[1]))

    def _drop(self, name: str) -> None:
        """Remove the file of an object that is gone, unless it was read, and folders that hold nothing then."""
        self.known.pop(name, None)
        if name in self.opened:
            self.gone.add(name)
            return
        path = self.files / name
        path.unlink(missing_ok=True)
        for above in path.parents:
            if above == self.files or any(above.iterdir()):
                break
            above.rmdir()

    def found(self, path: Path) -> RemoteObject:
        """The object whose file lies there, to be read. Raises OSError, Replaced where it is another than was listed."""
        name, status = path.relative_to(self.files).as_posix(), path.lstat()
        found, stamp = self.known.get(name), (status.st_size, status.st_mtime_ns)
        if found is None or local_stamp(found) != stamp:  # another process has listed it
            key = local_names.key_of(PurePosixPath(name))
            found = object_store.waited(object_store.with_retries(lambda: self.store.look(key)))
            if local_stamp(found) != stamp:
                raise Replaced("was changed since it was listed: look again")
            self.known[name] = found
        self.opened.add(name)
        return found

    def lacks(self, found: RemoteObject, start: int, stop: int) -> bool:
        """Whether some of these bytes were never requested, or are no longer held."""
        return any((found, block) not in self._held for block in _blocks(found, start, stop))

    def ask(self, found: RemoteObject, start: int, stop: int) -> list[tuple["Future[bytes]", int]]:
        """Have these bytes fetched, and go on: what has them, block by block. What goes wrong shows when they are read."""
        blocks = _blocks(found, start, stop)
        with self._asking:
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
            with self._asking:
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


def _bounded(prefix: str, listed: Iterable[RemoteObject]) -> Iterator[RemoteObject]:
    """The objects that are files below the prefix. Raises RunNotFound where there are too many."""
    below = f"{prefix}/" if prefix else ""
    for count, one in enumerate(listed):
        if count >= MOST_OBJECTS:
            raise RunNotFound(
                f"More than {plural(MOST_OBJECTS, 'object')} lie there: name the prefix of some of them, one that holds runs and not much else."
            )
        # what ends with a separator stands for a folder; nothing outside the prefix is ever taken, whatever the store answers
        if one.key.startswith(below) and not one.key.endswith("/") and len(one.key) > len(below):
            yield one


def local_stamp(found: RemoteObject) -> tuple[int, int]:
    """Size and time in ns that an object's file has: the time's fraction of a second is another one for another version."""
    fraction = int.from_bytes(blake2b(found.version.encode(), digest_size=4).digest(), "big") % 10**9
    return found.size, found.modified_ns // 10**9 * 10**9 + fraction


def has_stamp(path: Path | str, found: RemoteObject) -> bool:
    """Whether the file at a path is that of this version of an object."""
    try:
        status = os.lstat(path)
    except OSError:
        return False
    return (status.st_size, status.st_mtime_ns) == local_stamp(found)
