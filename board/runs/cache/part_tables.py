"""Tables derived from a part and cached next to it.

Each part is gone through once, however often its run grows. A table is known by its name and by the code that makes it: another text of
that code makes another table. Its file holds its own sum, and what is not as it was written is made again.
"""

from collections.abc import Callable
from contextlib import suppress
from functools import cache
from hashlib import blake2b
from pathlib import Path
from typing import Final

import pyarrow as pa
from xxhash import xxh3_64_hexdigest

from board import atomic_write
from board.runs.cache.parts import Part
from board.runs.cache.sealed_file import mapped

Make = Callable[[Part], pa.Table]

_MAKERS: Final = ("analysis", "metrics", "text", "schema.py")
"""The packages, and the module at the top, whose code makes tables of parts; what parts themselves hold is in the name of the cache's folder."""

_HEAD: Final = 64
"""Bytes before the table: its sum, and space up to where Arrow's buffers are aligned."""


def table(part: Part, name: str, make: Make) -> pa.Table:
    """What `make` makes of a part: out of the cache where it was made before, else made now and written, where a cache can be written to.

    `name` tells it from other tables of the part, and is a part of a file's name.
    """
    found = read(part, name)
    if found is not None:
        return found
    made = make(part)
    keep(part, name, made)
    # mapped, as the next reader has it: of a large run's many parts what was made would fill the memory
    return read(part, name) or made


def keep(part: Part, name: str, made: pa.Table) -> None:
    """Write a table of that name next to the part, in the place of the one that was there; nothing where no cache can be written to."""
    path = _path(part, name)
    if path is not None:
        with suppress(OSError):  # a cache that is full or gone: the table is made again when it is needed
            _write(path, made)


def read(part: Part, name: str) -> pa.Table | None:
    """The table of that name as it was written next to the part, mapped; None where none is."""
    path = _path(part, name)
    return None if path is None else _read(path)


def is_cached(part: Part, name: str) -> bool:
    """Whether the table of that name was made of the part before."""
    path = _path(part, name)
    return path is not None and path.is_file()


def part_of(file: str) -> str:
    """The name of the part's file that a file of the cache belongs to: the part's own for what this code made of it, else the file's itself."""
    first, *made = file.split(".")
    return f"{first}.arrow" if len(made) > 1 and made[1] == version() else file


@cache
def version() -> str:
    """Names the code that makes tables."""
    board, digest = Path(__file__).parents[2], blake2b(digest_size=6)
    for name in _MAKERS:
        for source in sorted((board / name).rglob("*.py")) or [board / name]:
            digest.update(source.read_bytes())
    return digest.hexdigest()


def _path(part: Part, name: str) -> Path | None:
    return None if part.file is None else part.file.with_name(f"{part.file.stem}.{name}.{version()}.arrow")


def _read(path: Path) -> pa.Table | None:
    """The table in a file, mapped; None where there is none, or it is not as it was written."""
    try:
        whole = mapped(path)
    except OSError:
        return None
    head, body = whole.slice(0, min(_HEAD, whole.size)), whole.slice(min(_HEAD, whole.size))
    if head.to_pybytes() != _head(body):
        return None
    return pa.ipc.open_file(body).read_all()


def _write(path: Path, made: pa.Table) -> None:
    stream = pa.BufferOutputStream()
    with pa.ipc.new_file(stream, made.schema) as writer:
        writer.write_table(made.combine_chunks())
    body = stream.getvalue()
    atomic_write.write(path, _head(body) + body.to_pybytes())


def _head(body: pa.Buffer) -> bytes:
    return xxh3_64_hexdigest(body).encode().ljust(_HEAD)
