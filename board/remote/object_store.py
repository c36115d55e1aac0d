"""What the board asks of a store of objects, whichever it is: list a prefix, look at an object, read a range of its bytes; of some, to write.

Whatever goes wrong is an OSError whose `strerror` is a sentence without credentials, and whose class says what to do about it. Knows no store.
"""

import errno
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol, runtime_checkable


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


class Elsewhere(RemoteTrouble):
    """It leads out of what may be read."""


class ObjectStore(Protocol):
    """A bucket, or a host. Called from several threads at once."""

    def objects(self, prefix: str) -> Iterator[RemoteObject]:
        """What lies below the prefix, `prefix/…`, in any order. Raises RemoteTrouble."""

    def look(self, key: str) -> RemoteObject:
        """One object as it is now. Raises RemoteTrouble, Vanished where there is none."""

    def read(self, found: RemoteObject, start: int, stop: int) -> Iterator[bytes]:
        """Its bytes from `start` to before `stop`, in pieces, of that very version. Raises RemoteTrouble, perhaps after some of them."""


@runtime_checkable
class LeavingOut(ObjectStore, Protocol):
    """A store that lists what it can where single objects cannot be used."""

    left_out: dict[str, str]
    """By key why an object is not among those that were listed last."""


@runtime_checkable
class WritableStore(ObjectStore, Protocol):
    """A store that can be written to. What is put there is there whole, or not at all."""

    def put(self, key: str, path: Path) -> None:
        """Have an object hold what a file holds, in the place of what stood there. Raises RemoteTrouble."""

    def create(self, key: str, data: bytes) -> None:
        """Make an object. Raises Replaced where there is one of that name, as far as the store can tell, RemoteTrouble."""

    def remove(self, keys: Sequence[str]) -> None:
        """Have these objects be gone. Raises RemoteTrouble."""
