"""Mappings that the reader took for a run on its page: a TOML file per run among the settings, never in the run. Knows no format."""

from hashlib import blake2b
from pathlib import Path

from board.errors import BoardError
from board.system import atomic_write
from board.user_files import private_folders, user_folders


def path(run: Path) -> Path:
    """Where the mapping of the run in that folder is kept."""
    name = str(run.resolve())
    readable = "".join(character if character.isascii() and character.isalnum() else "_" for character in name[-40:])
    digest = blake2b(name.encode("utf-8", "surrogatepass"), digest_size=8).hexdigest()
    return user_folders.settings() / "mappings" / f"{readable}-{digest}.toml"


def keep(run: Path, mapping: str) -> Path:
    """Keep the text of a mapping for a run; where it lies. Raises BoardError where that cannot be written."""
    kept = path(run)
    try:
        private_folders.made(kept.parent, user_folders.settings())
        atomic_write.write(kept, mapping.encode("utf-8", "surrogatepass"), durable=True)
    except OSError as error:
        raise BoardError(f"{kept} cannot be written: {error.strerror}.") from error
    return kept
