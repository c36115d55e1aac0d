"""One version of one object in the mirror: a sparse file of its size, and beside it a sum for each block that is there.

A block without a sum is not there; one that does not fit its sum, whatever spoilt it, is as if it were not. So nothing need be flushed, and
processes that fetch the same object at once do no harm. The file of sums names the version and the file it belongs to. Knows no store.
"""

import errno
import json
import mmap
import os
import struct
from collections.abc import Iterator
from dataclasses import asdict
from hashlib import blake2b
from pathlib import Path
from typing import Any, Final
from uuid import uuid4

from xxhash import xxh3_64_intdigest

from board.remote.object_store import RemoteObject, Replaced

BLOCK: Final = 1 << 16
"""Bytes of a block; the last of an object may be shorter."""

_HEAD: Final = 8_192
"""Bytes before the first sum: what the sums are of, as JSON."""

_SUM: Final = struct.Struct("<Q")
_TRIES: Final = 50


class MirroredObject:
    """Open until `close`."""

    def __init__(self, path: Path, sums: Path) -> None:
        """Open what is there. Raises FileNotFoundError where nothing has been fetched, OSError."""
        self.path = path
        self.found: RemoteObject
        """Which version of which object it is."""
        for _ in range(_TRIES):  # somebody may be about to put a new version in its place
            self._data = os.open(path, os.O_RDWR | os.O_NOFOLLOW | os.O_CLOEXEC)
            try:
                self._map, head = _mapped(sums)
                if head["inode"] == os.fstat(self._data).st_ino:
                    break
            except BaseException:
                os.close(self._data)
                raise
            self._map.close()
            os.close(self._data)
        else:
            sums.unlink(missing_ok=True)
            raise _absent(sums)
        self.found = RemoteObject(**head["object"])

    def close(self) -> None:
        """Let go of both files."""
        os.close(self._data)
        self._map.close()

    def __enter__(self) -> "MirroredObject":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def missing(self, start: int, stop: int) -> Iterator[int]:
        """The blocks between two bytes that are not there."""
        for block in range(start // BLOCK, -(-min(stop, self.found.size) // BLOCK)):
            if not self._sum(block):
                yield block

    def present(self) -> list[int]:
        """The blocks that are there."""
        count = -(-self.found.size // BLOCK)
        held = self._map[_HEAD : _HEAD + count * _SUM.size]
        return [block for block, (digest,) in enumerate(_SUM.iter_unpack(held)) if digest]

    def whole_sums(self) -> dict[int, int]:
        """The sums of the blocks that are there and have all the bytes of a block, by block."""
        return {block: self._sum(block) for block in self.present() if (block + 1) * BLOCK <= self.found.size}

    def block(self, block: int) -> bytes | None:
        """The bytes of a block; None where it is not there, or is not as it was written."""
        digest = self._sum(block)
        if not digest:
            return None
        data = os.pread(self._data, self._length(block), block * BLOCK)
        if _digest(data) == digest and len(data) == self._length(block):
            return data
        self._put_sum(block, 0)
        return None

    def put(self, block: int, data: bytes) -> None:
        """Keep a block. Raises Replaced where the bytes are not as many as it has, OSError."""
        if len(data) != self._length(block):
            raise Replaced("was changed while it was being read: look again")
        done = 0
        while done < len(data):
            done += os.pwrite(self._data, data[done:], block * BLOCK + done)
        os.utime(self._data, ns=(0, local_stamp(self.found)[1]))  # to write has changed it, and by it the version is told
        self._put_sum(block, _digest(data))

    def _length(self, block: int) -> int:
        return min(BLOCK, self.found.size - block * BLOCK)

    def _sum(self, block: int) -> int:
        digest: int = _SUM.unpack_from(self._map, _HEAD + block * _SUM.size)[0]
        return digest

    def _put_sum(self, block: int, digest: int) -> None:
        _SUM.pack_into(self._map, _HEAD + block * _SUM.size, digest)


def local_stamp(found: RemoteObject) -> tuple[int, int]:
    """Size and time in ns that an object's file has: the time's fraction of a second is another one for another version."""
    fraction = int.from_bytes(blake2b(found.version.encode(), digest_size=4).digest(), "big") % 10**9
    return found.size, found.modified_ns // 10**9 * 10**9 + fraction


def _digest(data: bytes) -> int:
    return int(xxh3_64_intdigest(data)) or 1


def _absent(sums: Path) -> FileNotFoundError:
    return FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), str(sums))


def _mapped(sums: Path) -> tuple[mmap.mmap, dict[str, Any]]:
    descriptor = os.open(sums, os.O_RDWR | os.O_NOFOLLOW | os.O_CLOEXEC)
    try:
        held = mmap.mmap(descriptor, 0)
    except ValueError as error:  # an empty file: whoever began it was killed
        sums.unlink(missing_ok=True)
        raise _absent(sums) from error
    finally:
        os.close(descriptor)
    try:
        head = json.loads(held[:_HEAD].rstrip(b"\0 "))
        RemoteObject(**head["object"])
        if len(held) < _HEAD + -(-head["object"]["size"] // BLOCK) * _SUM.size:
            raise ValueError("cut")
    except (ValueError, TypeError, KeyError) as error:
        held.close()
        sums.unlink(missing_ok=True)
        raise _absent(sums) from error
    return held, head


def begin(path: Path, sums: Path, found: RemoteObject, kept: dict[int, int] | None = None) -> None:
    """Make the file of sums for a version whose file lies at `path`; `kept` are sums of blocks that are there. Raises OSError."""
    head = json.dumps({"object": asdict(found), "inode": path.stat().st_ino}).encode()
    if len(head) > _HEAD:
        raise OSError(errno.ENAMETOOLONG, f"the name of the object {found.key[:80]}… is too long")
    sums.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    unfinished = sums.with_name(f".{uuid4().hex}.tmp")
    with unfinished.open("wb") as stream:
        stream.write(head.ljust(_HEAD, b" "))
        stream.truncate(_HEAD + -(-found.size // BLOCK) * _SUM.size)
        for block, digest in (kept or {}).items():
            stream.seek(_HEAD + block * _SUM.size)
            stream.write(_SUM.pack(digest))
    unfinished.replace(sums)
