"""The mirror of one store: a folder of the cache with a file for each object that was listed, whose bytes come when they are asked for.

A file has its object's size, and a time that another version would not have, so that whoever lists the folder sees what the store holds.
Knows how bytes come and when they are no longer true; knows neither which store it is nor what is asked for next.
"""

import os
import threading
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import FIRST_EXCEPTION, Future, wait
from contextlib import suppress
from functools import cached_property
from hashlib import blake2b
from pathlib import Path, PurePosixPath
from typing import Final

from board.errors import RunNotFound
from board.remote import local_names, mirrored_object
from board.remote.fetch_threads import FetchThreads
from board.remote.mirrored_object import BLOCK, MirroredObject, local_stamp
from board.remote.object_store import ObjectStore, Passing, RemoteObject, Replaced, Vanished
from board.remote.retrying import with_retries

REQUEST_BLOCKS: Final = 32
"""Blocks asked for at once, 2 MiB: what is asked for in pieces travels in parallel, and a cut costs little."""

_TICK_SECONDS: Final = 0.2

Span = tuple[Path, int, int]
"""A file of the mirror, and the bytes of it that are wanted."""


class Mirror:
    """Several threads and processes may use one folder."""

    def __init__(self, folder: Path, make_store: Callable[[], ObjectStore]) -> None:
        self.files = folder / "files"
        """What is listed, as folders and files."""
        self._sums = folder / "sums"
        self._make_store = make_store
        self.known: dict[str, RemoteObject] = {}
        """The objects listed last, by the path of their file in the mirror."""
        self._threads = FetchThreads()
        self._changing = threading.Lock()
        self._under_way: dict[tuple[str, str, int], Future[None]] = {}
        """By file, version and block."""
        self.is_outdated = False
        """Whether something was met that is not as it was listed, so that listing again is due."""
        self.fetched = 0
        """Bytes that have travelled for this process."""

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

    def opened(self, path: Path) -> MirroredObject:
        """The object at a path of the mirror, as it was listed, to be closed by the caller. Raises OSError."""
        name = path.relative_to(self.files).as_posix()
        try:
            return MirroredObject(path, self.sums(name))
        except FileNotFoundError:
            if not path.is_file():
                raise
        found = self.known.get(name) or self._looked_at(name)
        if found.size != path.stat().st_size:
            raise Replaced("was changed since it was listed: look again")
        mirrored_object.begin(path, self.sums(name), found)
        return MirroredObject(path, self.sums(name))

    def _looked_at(self, name: str) -> RemoteObject:
        try:
            key = local_names.key_of(PurePosixPath(name))
        except RunNotFound as error:
            raise Vanished(str(error)) from error
        return with_retries(lambda: self.store.look(key))

    def sums(self, name: str) -> Path:
        """Where the sums of a file lie, whose path in the mirror is given."""
        digest = blake2b(name.encode("utf-8", "surrogateescape"), digest_size=16).hexdigest()
        return self._sums / digest[:2] / digest

    def bring(self, spans: Iterable[Span], tick: Callable[[], None] = lambda: None) -> None:
        """Fetch what is missing of these bytes, in parallel; `tick` is called while waiting, and may raise. Raises OSError."""
        futures: list[Future[None]] = []
        for path, start, stop in spans:
            with self.opened(path) as found:
                futures += self._asked_for(found, start, stop)
        _wait(futures, tick)

    def bring_what_comes(self, spans: Iterable[Span]) -> None:
        """Fetch what is missing of these bytes, in parallel; what cannot be fetched stays missing."""
        futures: list[Future[None]] = []
        for path, start, stop in spans:
            with suppress(OSError), self.opened(path) as found:
                futures += self._asked_for(found, start, stop)
        wait(futures)

    def bring_object(self, found: MirroredObject, start: int, stop: int) -> None:
        """Fetch what is missing of an open object between two bytes. Raises OSError, Replaced where it is another by now."""
        _wait(self._asked_for(found, start, stop))

    def missing_bytes(self, spans: Iterable[Span]) -> int:
        """How many of these bytes are still to be fetched, in whole blocks. What cannot be opened counts as nothing."""
        count = 0
        for path, start, stop in spans:
            with suppress(OSError), self.opened(path) as found:
                count += sum(BLOCK for _ in found.missing(start, stop))
        return count

    def ask_for(self, spans: Iterable[Span]) -> None:
        """Have these bytes fetched while something else is done; what goes wrong shows when they are needed."""
        for path, start, stop in spans:
            with suppress(OSError), self.opened(path) as found:
                self._asked_for(found, start, stop)

    def _asked_for(self, found: MirroredObject, start: int, stop: int) -> list["Future[None]"]:
        """What is to be waited for until all these bytes are there."""
        name, version = found.path.relative_to(self.files).as_posix(), found.found.version
        with self._changing:
            futures, wanted = [], []
            for block in found.missing(start, stop):
                if future := self._under_way.get((name, version, block)):
                    futures.append(future)
                else:
                    wanted.append(block)
            for run in _runs(wanted):
                future = self._threads.submit(lambda run=run: self._fetch(name, found.found, run))  # type: ignore[misc]
                futures.append(future)
                self._under_way |= {(name, version, block): future for block in run}
        return list(dict.fromkeys(futures))

    def _fetch(self, name: str, found: RemoteObject, blocks: range) -> None:
        try:
            with self.opened(self.files / name) as mirrored:
                if mirrored.found != found:
                    raise Replaced("was changed while it was being read: look again")
                pieces = _Pieces(self.store, mirrored, blocks)
                try:
                    with_retries(pieces.fetch, lambda: pieces.next)
                finally:
                    self.fetched += pieces.received
        except (Replaced, Vanished):
            self.is_outdated = True
            raise
        finally:
            with self._changing:
                for block in blocks:
                    self._under_way.pop((name, found.version, block), None)


class _Pieces:
    """Fetches a run of blocks; called again after a cut it goes on with the first block that is not whole."""

    def __init__(self, store: ObjectStore, mirrored: MirroredObject, blocks: range) -> None:
        self._store, self._mirrored, self._stop = store, mirrored, blocks.stop
        self.next, self.received = blocks.start, 0

    def fetch(self) -> None:
        """Raises Passing where the bytes end too early, and what the store raises."""
        size = self._mirrored.found.size
        held = bytearray()
        for piece in self._store.read(self._mirrored.found, self.next * BLOCK, min(self._stop * BLOCK, size)):
            self.received += len(piece)
            held += piece
            while len(held) >= BLOCK and self.next < self._stop:
                self._keep(held, BLOCK)
        if held and self.next * BLOCK + len(held) == size:
            self._keep(held, len(held))
        if self.next < self._stop:
            raise Passing("the connection was cut before all bytes had come")

    def _keep(self, held: bytearray, count: int) -> None:
        self._mirrored.put(self.next, bytes(held[:count]))
        del held[:count]
        self.next += 1


def _runs(blocks: Sequence[int]) -> list[range]:
    """Blocks in rising order as runs without a gap, none longer than a request."""
    found: list[range] = []
    for block in blocks:
        if found and found[-1].stop == block and len(found[-1]) < REQUEST_BLOCKS:
            found[-1] = range(found[-1].start, block + 1)
        else:
            found.append(range(block, block + 1))
    return found


def _wait(futures: Sequence["Future[None]"], tick: Callable[[], None] = lambda: None) -> None:
    """Until all are done, or one has failed, which is raised."""
    waiting = set(futures)
    while waiting:
        done, waiting = wait(waiting, _TICK_SECONDS, FIRST_EXCEPTION)
        for future in done:
            future.result()
        if waiting:
            tick()


def has_stamp(path: Path | str, found: RemoteObject) -> bool:
    """Whether the file at a path is that of this version of an object."""
    try:
        status = os.lstat(path)
    except OSError:
        return False
    return (status.st_size, status.st_mtime_ns) == local_stamp(found)
