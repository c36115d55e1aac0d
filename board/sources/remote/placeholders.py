"""The files of a mirror for what a store listed: sparse, with a time per version."""

import os
import shutil
from collections.abc import Iterable, Iterator
from itertools import takewhile
from pathlib import Path, PurePosixPath
from typing import Final

from board import atomic_write
from board.errors import RunNotFound
from board.sources.remote import local_names
from board.sources.remote.block_cache import Mirror, local_stamp
from board.sources.remote.object_store import RemoteObject
from board.text.counting import plural

MOST_OBJECTS: Final = 1_000_000
"""More below a prefix are not listed."""


def update(mirror: Mirror, prefix: str, listed: Iterable[RemoteObject]) -> None:
    """Make the files below a prefix what was listed; of objects that are gone they stay where this process has read them.

    Raises RunNotFound where there are too many objects, OSError where the disk is full.
    """
    found = dict(_named([*_bounded(prefix, listed)]))
    under = local_names.local_path(prefix).as_posix() if prefix else ""
    with mirror.changing:
        for name in [*_files_below(mirror.files / under, mirror.files)]:
            if name not in found:
                _drop(mirror, name)
        for name, one in found.items():
            if not has_stamp(f"{mirror.files}/{name}", one):
                _put(mirror, mirror.files / name, one)
            mirror.known[name] = one
        mirror.gone = {name for name in mirror.gone - found.keys() if (mirror.files / name).is_file()}


def has_stamp(path: Path | str, found: RemoteObject) -> bool:
    """Whether the file at a path is that of this version of an object."""
    try:
        status = os.lstat(path)
    except OSError:
        return False
    return (status.st_size, status.st_mtime_ns) == local_stamp(found)


def _bounded(prefix: str, listed: Iterable[RemoteObject]) -> Iterator[RemoteObject]:
    below = f"{prefix}/" if prefix else ""
    for count, one in enumerate(listed):
        if count >= MOST_OBJECTS:
            raise RunNotFound(
                f"More than {plural(MOST_OBJECTS, 'object')} lie there: name the prefix of some of them, one that holds runs and not much else."
            )
        # what ends with a separator stands for a folder; nothing outside the prefix is ever taken, whatever the store answers
        if one.key.startswith(below) and not one.key.endswith("/") and len(one.key) > len(below):
            yield one


def _named(listed: list[RemoteObject]) -> Iterator[tuple[str, RemoteObject]]:
    folders: set[str] = set()
    for one in listed:
        above = one.key.rpartition("/")[0]
        while above and above not in folders:
            folders.add(above)
            above = above.rpartition("/")[0]
    for one in listed:
        yield local_names.local_path(one.key, same_as_folder=one.key in folders).as_posix(), one


def _files_below(folder: Path, root: Path) -> Iterator[str]:
    for parent, _, names in os.walk(folder):
        inside = PurePosixPath(Path(parent).relative_to(root))
        yield from ((inside / name).as_posix() for name in names if not name.endswith(".tmp") or not name.startswith("."))


def _put(mirror: Mirror, path: Path, one: RemoteObject) -> None:
    """A file in the place of what stood there, and the folders above it: what is in their way is of objects that are gone."""
    if path.is_dir():
        shutil.rmtree(path)
    for above in takewhile(lambda above: above != mirror.files, path.parents):
        if above.is_file():
            above.unlink()
    path.parent.mkdir(parents=True, exist_ok=True)
    with atomic_write.replacing(path) as stream:
        stream.truncate(one.size)
        os.utime(stream.fileno(), ns=(0, local_stamp(one)[1]))


def _drop(mirror: Mirror, name: str) -> None:
    """Remove the file of an object that is gone, unless it was read, and folders that hold nothing then."""
    mirror.known.pop(name, None)
    if name in mirror.opened:
        mirror.gone.add(name)
        return
    path = mirror.files / name
    path.unlink(missing_ok=True)
    for above in path.parents:
        if above == mirror.files or any(above.iterdir()):
            break
        above.rmdir()
