"""Files in the reader's settings folder: written whole or not at all, set aside when damaged.

Knows nothing of what is in them.
"""

from hashlib import blake2b
from pathlib import Path
from uuid import uuid4

from board.errors import BoardError
from board.system import atomic_write
from board.user_files import private_folders, user_folders


def per_run(folder: str, run: str, ending: str) -> Path:
    """Where in the settings a folder keeps its file of the run with that address."""
    readable = "".join(character if character.isascii() and character.isalnum() else "_" for character in run[-40:])
    digest = blake2b(run.encode("utf-8", "surrogatepass"), digest_size=8).hexdigest()
    return user_folders.settings() / folder / f"{readable}-{digest}{ending}"


def write(path: Path, data: bytes) -> None:
    """Put a file of the settings there in one move, so that nobody reads half of it. Raises BoardError where it cannot be written."""
    try:
        private_folders.made(path.parent, user_folders.settings())
        atomic_write.write(path, data, durable=True)
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
