"""The interface of a store of objects: list, look at, read by ranges; and the store of an address.

Whatever goes wrong is an OSError whose `strerror` is a sentence without credentials, and whose class says what
to do about it: what may pass is tried again, with waits that double and vary, so that many readers do not come back at once. Requests run
in fsspec's own thread, which ends with the process; nothing waits for it then.
"""

import errno
import os
import random
from collections.abc import Awaitable, Callable, Coroutine, Iterator, Mapping, Sequence
from concurrent.futures import Future
from dataclasses import dataclass, replace
from functools import lru_cache, partial
from pathlib import Path
from typing import Any, Final, TypeVar

from board.errors import ArgumentRefused, pip_install
from board.sources.presence import REQUEST
from board.sources.remote.addresses import Address

AT_ONCE: Final = 16
"""Requests of one kind under way at a time."""

MOST_TRIES: Final = 6
FIRST_SECONDS: Final = 0.25
LONGEST_SECONDS: Final = 8.0

_NEEDED: Final[Mapping[str, tuple[str, ...]]] = {
    "s3": ("s3fs",),
    "gs": ("gcsfs",),
    "hf": ("fsspec", "huggingface_hub"),
    "http": ("fsspec", "aiohttp"),
    "https": ("fsspec", "aiohttp"),
    "ssh": ("sshfs",),
}
"""The libraries of each scheme."""

_T = TypeVar("_T")


@dataclass(frozen=True, slots=True)
class RemoteObject:
    """One object as the store tells of it."""

    key: str
    """Its name in the store, `/` between its parts."""
    size: int
    modified_ns: int
    """Since 1970; 0 where the store does not say."""
    version: str
    """Another one for other content: an ETag or a generation where the store has them, else its size and time."""


class RemoteTrouble(OSError):
    """What the store did not do. To try again would not help."""

    def __init__(self, sentence: str) -> None:
        super().__init__(errno.EIO, sentence)


class Passing(RemoteTrouble):
    """A connection cut, a server that is busy or slow: to try again may help."""


class Denied(RemoteTrouble):
    """Credentials are missing, wrong or expired."""


class Vanished(RemoteTrouble):
    """The object is not there any more."""


class Replaced(RemoteTrouble):
    """The object is another than the one that was listed."""

    def __init__(self, sentence: str = "was changed while it was being read: look again") -> None:
        super().__init__(sentence)


class ObjectStore:
    """A bucket, or a host. Serves many requests at once."""

    def __init__(self) -> None:
        self.left_out: dict[str, str] = {}
        """By key why an object is not among those that were listed last, of a store that lists what it can."""

    def objects(self, prefix: str) -> Iterator[RemoteObject]:
        """What lies below the prefix, `prefix/…`, in any order. Waits for it. Raises RemoteTrouble."""
        raise NotImplementedError

    async def look(self, key: str) -> RemoteObject:
        """One object as it is now. Raises RemoteTrouble, Vanished where there is none."""
        raise NotImplementedError

    async def read(self, found: RemoteObject, start: int, stop: int, into: bytearray) -> None:
        """Add its bytes from `start` to before `stop`, of that very version. Raises RemoteTrouble, perhaps after some of them."""
        raise NotImplementedError

    async def fetched(self, found: RemoteObject, start: int, stop: int) -> bytearray:
        """All of a range, gone on with where it was cut. Raises RemoteTrouble."""
        data = bytearray()

        async def fetch() -> None:
            await self.read(found, start + len(data), stop, data)
            if len(data) > stop - start:
                raise RemoteTrouble("the store sent more bytes than were requested")
            if len(data) < stop - start:
                raise Passing("the connection was cut before all bytes had come")

        await with_retries(fetch, lambda: len(data))
        return data

    async def fetch(self, found: RemoteObject, path: Path) -> None:
        """Have all of an object be in a file. Raises RemoteTrouble, OSError."""

        async def piece(at: int) -> None:
            os.pwrite(file.fileno(), await self.fetched(found, at, min(at + REQUEST, found.size)), at)

        path.parent.mkdir(parents=True, exist_ok=True)
        with path.open("wb") as file:
            file.truncate(found.size)
            for error in filter(None, await all_of([partial(piece, at) for at in range(0, found.size, REQUEST)])):
                raise error


def store_of(address: Address) -> ObjectStore:
    """The store of an address, which may be connected with by then. Raises ArgumentRefused where a library is missing, RemoteTrouble."""
    try:
        if address.scheme in ("http", "https"):
            from board.sources.remote.web_store import WebStore

            return WebStore(address)
        from board.sources.remote import fsspec_store

        made = {"s3": fsspec_store.s3, "gs": fsspec_store.google, "hf": fsspec_store.hub, "ssh": fsspec_store.ssh}
        return made[address.scheme](address)
    except ModuleNotFoundError as error:
        needed = _NEEDED[address.scheme]
        said = f"{address.scheme}:// needs {' and '.join(needed)}, not all of which is installed: {pip_install(*needed)}"
        raise ArgumentRefused(said) from error


def shared(address: Address) -> ObjectStore:
    """The store of an address, connected with once in this process. Raises what `store_of` raises."""
    return _shared(os.getpid(), replace(address, prefix=""))


@lru_cache
def _shared(_process: int, store: Address) -> ObjectStore:
    """A copy of a process must not speak on its connections."""
    return store_of(store)


def begun(request: Coroutine[Any, Any, _T]) -> "Future[_T]":
    """The request, under way; what goes wrong is raised where its answer is taken."""
    import asyncio  # here alone: modules that import these errors mostly read this machine's files

    from fsspec.asyn import get_loop

    return asyncio.run_coroutine_threadsafe(request, get_loop())


def waited(request: Coroutine[Any, Any, _T]) -> _T:
    """The answer, waited for."""
    return begun(request).result()


async def with_retries(act: Callable[[], Awaitable[_T]], progress: Callable[[], object] = lambda: None) -> _T:
    """What `act` gives, tried again while it raises Passing; a try that got further, as `progress` tells, is the first again."""
    from asyncio import sleep

    tried, before = 0, progress()
    while True:
        try:
            return await act()
        except Passing:
            now = progress()
            tried, before = 1 if now != before else tried + 1, now
            if tried >= MOST_TRIES:
                raise
            await sleep(min(LONGEST_SECONDS, FIRST_SECONDS * 2.0 ** (tried - 1)) * random.uniform(0.5, 1.0))


async def all_of(acts: Sequence[Callable[[], Awaitable[_T]]]) -> list[_T | BaseException]:
    """What each gives, or what it raised; some at a time."""
    from asyncio import Semaphore, gather

    gate = Semaphore(AT_ONCE)

    async def one(act: Callable[[], Awaitable[_T]]) -> _T:
        async with gate:
            return await act()

    return await gather(*map(one, acts), return_exceptions=True)
