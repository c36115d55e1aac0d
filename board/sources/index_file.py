"""The file that makes a folder an index: a run that was parsed into Parquet.

The index opens where its run's shards may not even be seen. The file says of which run and by what code the index is, what was read of each
source, and which files hold it. It is written last and holds its own digest.
"""

from functools import lru_cache
from pathlib import Path
from typing import Any, Final

from board.errors import ArgumentRefused, RunNotFound
from board.sources import locations, run_files, sealed_json
from board.sources.json_shape import MapOf, fits
from board.text.path_names import shown

NAME: Final = "rl-board-index.json"
"""No trainer calls a file so."""

UNFINISHED: Final = "rl-board-index.unfinished.json"
"""Next to it while an index is written: the sources that are in it so far."""

ROWS: Final = "rl-board-rows"
"""The folder next to it with the files of Parquet, by which an index is known that is not finished, or has lost its file."""

LOCK: Final = ".index.lock"
"""Next to it while it is written to a folder of this machine."""

LAYOUT: Final = 2
"""Of the file and of those that it names."""

_FILE: Final = {"name": str, "size": int, "sum": int}

_SOURCE: Final = {
    "number": int,
    "size": int,
    "seal": str,
    "format": str,
    "note": str,
    "objects": bool,
    "companions": [str],
    "members": [str],
    "rows": int,
    "files": [{**_FILE, "rows": int}],
    "problems": [{"shard": str, "line": (int, None), "reason": str, "severity": str}],
    "counts": MapOf(int),
    "unfinished": [str],
    "flags": MapOf(bool),
    "trains_ends": bool,
    "doubts_ends": bool,
    "failed": str,
}

_SHAPE: Final = {
    "store": str,
    "location": str,
    "reading": {"pads": [str], "tokenizer": str, "mapping": str, "family": str},
    "key": str,
    "shards": [{"name": str, "size": int, "mtime_ns": int}],
    "problems": [{"shard": str, "line": (int, None), "reason": str, "severity": str}],
    "sources": MapOf(_SOURCE),
    "batches": MapOf(bool),
    "flags": [str],
    "measures": MapOf([str]),
    "sums": ({**_FILE, "rows": int}, None),
    "places": ({**_FILE, "rows": int}, None),
    "report": {"skipped": MapOf(str), "suggested_mapping": str, "notes": MapOf(int), "aside": MapOf(str), "recording": [str]},
}

_MOST_BYTES: Final = 1_000_000_000


def is_there(folder: Path) -> bool:
    """Whether a folder is an index, or is being made one."""
    return (folder / NAME).is_file() or (folder / ROWS).is_dir()


def read(folder: Path, within: Path | None = None) -> dict[str, Any]:
    """What the file says; it must lie in `within`, the folder itself unless given. Not to be changed.

    Raises RunNotFound where it cannot be read, is damaged, is not finished, or is of a board that lays an index out in another way.
    """
    path = folder / NAME
    try:
        status = run_files.check(path, within=within or folder)
        return _read(path, within or folder, status.st_ino, status.st_size, status.st_mtime_ns)
    except OSError as error:
        why = f"cannot be read: {error.strerror}" if path.exists() else "is not finished, or its file is gone"
        raise RunNotFound(f"The index {shown(folder.resolve().name)!r} {why}: run `rl-logging-board index` again.") from error


@lru_cache(maxsize=8)
def _read(path: Path, within: Path, _inode: int, _size: int, _mtime_ns: int) -> dict[str, Any]:
    return parsed(run_files.whole(path, most=_MOST_BYTES, within=within), shown(path.parent.resolve().name))


def parsed(data: bytes, name: str) -> dict[str, Any]:
    """What the file of the index of that name says, out of its bytes. Raises RunNotFound as `read` does."""
    try:
        index: dict[str, Any] = sealed_json.loads(data)
        layout, has_shape = index["layout"], fits(index, _SHAPE)
    except sealed_json.Unsound as error:
        raise RunNotFound(f"The file {NAME} of the index {name!r} is damaged: run `rl-logging-board index` again.") from error
    except (ValueError, KeyError, TypeError, RecursionError) as error:
        raise unusable(name) from error
    if layout != LAYOUT:
        raise RunNotFound(f"The index {name!r} is of another version of the board: run `rl-logging-board index` again.")
    if not has_shape or not all(map(str.isidentifier, index["measures"])) or any("/" in one["name"] for one in _files(index)):
        raise unusable(name)
    return index


def _files(index: dict[str, Any]) -> list[dict[str, Any]]:
    """Every file that the index names."""
    found = [file for source in index["sources"].values() for file in source["files"]]
    return [*found, *filter(None, (index["sums"], index["places"]))]


def written(index: dict[str, Any]) -> bytes:
    """The bytes of the file; `layout` is added."""
    return sealed_json.dumps({"layout": LAYOUT, **index}, indent=1)


def location_of(index: dict[str, Any]) -> Path:
    """The folder of the run that an index is of, or what stands for its address; nothing need be there. Raises RunNotFound."""
    try:
        return locations.folder_unlisted(index["location"])
    except ArgumentRefused as error:
        raise RunNotFound(f"The index is of an address that cannot be opened. {error}") from error


def unusable(name: str) -> RunNotFound:
    """The error for an index whose file says something else than an index says."""
    return RunNotFound(f"The index {name!r} does not say what an index says: run `rl-logging-board index` again.")


def state(folder: Path) -> tuple[tuple[str, int, int], ...]:
    """(name, size, modification time in ns) of the file, which changes when the index does; nothing where there is none."""
    try:
        status = (folder / NAME).stat()
    except OSError:
        return ()
    return ((NAME, status.st_size, status.st_mtime_ns),)
