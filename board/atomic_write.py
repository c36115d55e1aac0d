"""Files written whole or not at all: a reader of a name meanwhile, or after a crash, finds the old content or all of the new.

The data goes to a hidden file next to it, which no board takes for part of a run, and takes the name in one move.
"""

import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO
from uuid import uuid4


@contextmanager
def replacing(path: Path, *, durable: bool = False) -> Iterator[BinaryIO]:
    """A stream for what is to stand at `path` once the context ends; where it ends with an error, nothing has changed.

    With `durable` the data is on the disk before it takes the name, so that not even the machine's fall leaves half of it. Raises OSError.
    """
    unfinished = path.with_name(f".{uuid4().hex}.tmp")
    try:
        with unfinished.open("wb") as stream:
            yield stream
            if durable:
                stream.flush()
                os.fsync(stream.fileno())
        unfinished.replace(path)
    except BaseException:
        with suppress(OSError):
            unfinished.unlink(missing_ok=True)
        raise


def write(path: Path, data: bytes, *, durable: bool = False) -> None:
    """Put `data` there in one move, as `replacing` does. Raises OSError."""
    with replacing(path, durable=durable) as stream:
        stream.write(data)
