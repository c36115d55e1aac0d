"""Mappings that the reader took for a run on its page: a TOML file per run among the settings, never in the run. Knows no format."""

from pathlib import Path

from board.errors import BoardError
from board.user_files import folders


def path(run: Path) -> Path:
    """Where the mapping of the run in that folder is kept."""
    return folders.per_run("mappings", str(run.resolve()), ".toml")


def keep(run: Path, mapping: str) -> Path:
    """Keep the text of a mapping for a run; where it lies. Raises BoardError where that cannot be written."""
    kept = path(run)
    folders.write(kept, mapping.encode("utf-8", "surrogatepass"))
    return kept


def forget(run: Path) -> None:
    """Read the run without the mapping kept for it. Raises BoardError where it cannot be removed."""
    try:
        path(run).unlink(missing_ok=True)
    except OSError as error:
        raise BoardError(f"{path(run)} cannot be removed: {error.strerror}.") from error
