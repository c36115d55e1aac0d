"""The file that makes a folder an index: a run that was parsed into parts elsewhere, to be opened where its shards may not even be seen.

It says of which run and by what code the index is, and of every shard what the run folder would say. It vouches for itself. Knows where it
lies, that it is whole, and what lies where below it; what its entries mean is known to who asks for them.
"""

from functools import lru_cache
from pathlib import Path
from typing import Any, Final

from board.errors import ArgumentRefused, RunNotFound
from board.remote import addresses, mounts
from board.sources import run_files, sealed_json
from board.sources.json_shape import MapOf, fits
from board.system import atomic_write
from board.text.path_names import path_of, shown

NAME: Final = "rl-board-index.json"
"""No trainer calls a file so."""

PARTS: Final = "parts"
"""The folder beside it that holds the parts and what is kept with them."""

LOCK: Final = ".index.lock"
"""Beside it while it is written: says by whom."""

LAYOUT: Final = 1
"""Of the file and of what lies beside it."""

_SHAPE: Final = {
    "id": str,
    "store": str,
    "location": str,
    "reading": {"pads": [str], "tokenizer": str, "mapping": str, "family": str},
    "key": str,
    "complete": bool,
    "shards": [{"name": str, "size": int, "mtime_ns": int}],
    "problems": [{"shard": str, "line": (int, None), "reason": str, "severity": str}],
    "kept": MapOf(
        {
            "format": str,
            "note": str,
            "objects": bool,
            "size": int,
            "mtime_ns": int,
            "companions": [str],
            "ranges": int,
            "tail": (dict, None),
            "failed": [{"start": int, "stop": int, "lines": (int, None), "reason": str}],
        }
    ),
    "batches": MapOf(bool),
    "report": {"skipped": MapOf(str), "suggested_mapping": str, "notes": MapOf(int), "aside": MapOf(str), "recording": [str]},
}

_MOST_BYTES: Final = 1_000_000_000
_STAMP: Final = 32


def is_there(folder: Path) -> bool:
    """Whether a folder is an index."""
    return (folder / NAME).is_file()


def read(folder: Path, within: Path | None = None) -> dict[str, Any]:
    """What the file says; it must lie in `within`, the folder itself unless given. Not to be changed.

    Raises RunNotFound where it cannot be read, is damaged, or is of a board that lays an index out in another way.
    """
    path = folder / NAME
    try:
        status = run_files.check(path, within=within or folder)
        return _read(path, within or folder, status.st_ino, status.st_size, status.st_mtime_ns)
    except OSError as error:
        raise RunNotFound(f"The index {shown(folder.resolve().name)!r} cannot be read: {error.strerror}.") from error


@lru_cache(maxsize=8)
def _read(path: Path, within: Path, _inode: int, _size: int, _mtime_ns: int) -> dict[str, Any]:
    name = shown(path.parent.resolve().name)
    data = run_files.whole(path, most=_MOST_BYTES, within=within)
    try:
        told: dict[str, Any] = sealed_json.loads(data)
        layout, has_shape = told["layout"], fits(told, _SHAPE)
    except sealed_json.Unsound as error:
        raise RunNotFound(f"The file {NAME} of the index {name!r} is damaged: run `rl-logging-board index` again.") from error
    except (ValueError, KeyError, TypeError, RecursionError) as error:
        raise unusable(path.parent) from error
    if layout != LAYOUT:
        raise RunNotFound(f"The index {name!r} is of another version of the board: run `rl-logging-board index` again.")
    if not has_shape:
        raise unusable(path.parent)
    return told


def location_of(told: dict[str, Any]) -> Path:
    """The folder of the run that an index is of, or what stands for its address; nothing need be there. Raises RunNotFound."""
    named = told["location"]
    try:
        return mounts.standing_for(named) if addresses.is_address(named) else Path(path_of(named))
    except ArgumentRefused as error:
        raise RunNotFound(f"The index is of an address that cannot be opened. {error}") from error


def stamp(folder: Path, within: Path | None = None) -> str:
    """Tells the state of the index from any other: what its file says of itself in its first line. Raises OSError."""
    with run_files.opened(folder / NAME, within=within or folder) as stream:
        return stream.read(_STAMP).decode(errors="replace")


def unusable(folder: Path) -> RunNotFound:
    """The error for an index whose file says something else than an index says."""
    said = "does not say what an index says: run `rl-logging-board index` again."
    return RunNotFound(f"The index {shown(folder.resolve().name)!r} {said}")


def gone(folder: Path) -> RunNotFound:
    """The error for an index without its file: what else lies there are no rollouts of anybody."""
    return RunNotFound(
        f"The file {NAME} of the index {shown(folder.resolve().name)!r} is gone: run `rl-logging-board index` again."
    )


def write(folder: Path, told: dict[str, Any]) -> None:
    """Write it, in one move and onto the disk; `layout` is added. Raises OSError."""
    atomic_write.write(folder / NAME, sealed_json.dumps({"layout": LAYOUT, **told}, indent=1), durable=True)


def state(folder: Path) -> tuple[tuple[str, int, int], ...]:
    """(name, size, modification time in ns) of the file, which changes when the index does; nothing where there is none."""
    try:
        status = (folder / NAME).stat()
    except OSError:
        return ()
    return ((NAME, status.st_size, status.st_mtime_ns),)
