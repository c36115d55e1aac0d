"""Files in the reader's settings folder: written whole or not at all, set aside when damaged.

Knows nothing of what is in them.
"""

import os
from pathlib import Path
from uuid import uuid4

from board.errors import BoardError
from board.user_files import private_folders, user_folders


def write(path: Path, data: bytes) -> None:
    """Put a file of the settings there in one move, so that nobody reads half of it. Raises BoardError where it cannot be written."""
    unfinished = path.with_name(f"{uuid4().hex}.tmp")
    try:
        private_folders.made(path.parent, user_folders.settings())
        try:
            with unfinished.open("wb") as stream:
                stream.write(data)
                stream.flush()
                os.fsync(stream.fileno())
            unfinished.replace(path)
        finally:
            unfinished.unlink(missing_ok=True)
    except OSError as error:
        raise BoardError(f"{path} cannot be written: {error.strerror}.") from error


def set_aside(path: Path) -> Path:
    """Move a damaged file out of the way, under a name nothing else has; where it is now. Raises BoardError where it cannot be moved."""
    aside = path.with_name(f"{path.name}.damaged-{uuid4().hex[:8]}")
    try:
        path.rename(aside)
    except OSError as error:
        raise BoardError(f"{path} is damaged and cannot be moved aside: {error.strerror}.") from error
    return aside
