"""What a store listed → the files of its mirror: new, grown, replaced and vanished objects, with what was read of them kept where it is true.

Knows the files of a mirror and the listing; knows neither when to list nor who reads.
"""

import os
import shutil
from collections.abc import Iterable, Iterator
from contextlib import suppress
from pathlib import Path, PurePosixPath
from typing import Final
from uuid import uuid4

from board.errors import RunNotFound
from board.remote import local_names, mirrored_object
from board.remote.mirror import Mirror, has_stamp
from board.remote.mirrored_object import BLOCK, MirroredObject, local_stamp
from board.remote.object_store import RemoteObject
from board.remote.retrying import with_retries
from board.text.counting import plural

MOST_OBJECTS: Final = 1_000_000
"""More below a prefix are not listed."""


def update(mirror: Mirror, prefix: str, listed: Iterable[RemoteObject]) -> list[str]:
    """Make the files below a prefix what was listed; the paths of files that are kept though their objects are gone, as they were read.

    Raises RunNotFound where there are too many objects, OSError where a grown object cannot be compared or the disk is full.
    """
    found = dict(_named([*_bounded(prefix, listed)]))
    under = local_names.local_path(prefix).as_posix() if prefix else ""
    gone = [name for name in _files_below(mirror.files / under, mirror.files) if name not in found]
    kept = [name for name in gone if not _removed(mirror, name)]
    made: set[str] = set()
    for name, one in found.items():
        if not has_stamp(f"{mirror.files}/{name}", one):
            above = name.rpartition("/")[0]
            if above not in made:
                _make_folders(mirror.files, mirror.files / above)
                made.add(above)
            _put(mirror, name, one)
        mirror.known[name] = one
    return [name for name in kept if (mirror.files / name).is_file()]


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
        yield local_names.local_path(one.key, beside_folder=one.key in folders).as_posix(), one


def _files_below(folder: Path, root: Path) -> Iterator[str]:
    for parent, _, names in os.walk(folder):
        inside = PurePosixPath(Path(parent).relative_to(root))
        yield from ((inside / name).as_posix() for name in names if not name.endswith(".tmp") or not name.startswith("."))


def _put(mirror: Mirror, name: str, one: RemoteObject) -> None:
    """Make the file of an object that is new, or not as it was."""
    path = mirror.files / name
    if not os.path.lexists(path):
        _new_file(path, one)
        return
    if path.is_dir():  # of objects that are gone
        shutil.rmtree(path)
    try:
        before = MirroredObject(path, mirror.sums(name))
    except OSError:  # nothing was fetched of it
        _replaced_file(path, one)
        return
    with before:
        if before.found.version == one.version and before.found.size == one.size:
            os.utime(path, ns=(0, local_stamp(one)[1]))
            return
        last = _grown_last_block(mirror, before, one)
        if last is None:
            mirror.sums(name).unlink(missing_ok=True)
            _replaced_file(path, one)
            return
        at, data = last
        os.truncate(path, one.size)
        mirrored_object.begin(path, mirror.sums(name), one, before.whole_sums())
        with MirroredObject(path, mirror.sums(name)) as now:
            now.put(at, data)
        os.utime(path, ns=(0, local_stamp(one)[1]))


def _grown_last_block(mirror: Mirror, before: MirroredObject, one: RemoteObject) -> tuple[int, bytes] | None:
    """The last block that is there, as it is now, where the object seems to be what it was and more; None where it is another.

    Compared are the first and the last block that were fetched. Raises OSError.
    """
    present = before.present()
    if one.size <= before.found.size or not present:
        return None
    for at in (present[0], present[-1]):
        was = before.block(at)
        now = with_retries(lambda at=at: _read(mirror, one, at))  # type: ignore[misc]
        if was is None or not now.startswith(was):
            return None
    return present[-1], now


def _read(mirror: Mirror, one: RemoteObject, block: int) -> bytes:
    return b"".join(mirror.store.read(one, block * BLOCK, min((block + 1) * BLOCK, one.size)))


def _make_folders(files: Path, folder: Path) -> None:
    """Make a folder and those above it; files in their way are of objects that are gone."""
    for one in reversed([folder, *folder.parents]):
        if one != files and one.is_relative_to(files):
            if one.is_file():
                one.unlink()
            one.mkdir(mode=0o700, exist_ok=True)


def _new_file(path: Path, one: RemoteObject) -> None:
    """A file of the object's size that takes no room. One that is cut short by a kill has another time, and is made again."""
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
    try:
        os.truncate(descriptor, one.size)
        os.utime(descriptor, ns=(0, local_stamp(one)[1]))
    finally:
        os.close(descriptor)


def _replaced_file(path: Path, one: RemoteObject) -> None:
    """Another such file in the place of what stood there, which whoever reads it still reads."""
    unfinished = path.with_name(f".{uuid4().hex}.tmp")
    try:
        _new_file(unfinished, one)
        unfinished.replace(path)
    except BaseException:
        unfinished.unlink(missing_ok=True)
        raise


def _removed(mirror: Mirror, name: str) -> bool:
    """Remove the file of an object that is gone, unless something of it was read."""
    mirror.known.pop(name, None)
    path = mirror.files / name
    with suppress(OSError), MirroredObject(path, mirror.sums(name)) as before:
        if before.present():
            return False
    path.unlink(missing_ok=True)
    mirror.sums(name).unlink(missing_ok=True)
    for above in path.parents:
        if above == mirror.files or any(above.iterdir()):
            break
        above.rmdir()
    return True
