"""Open files of a run, or next to one: regular ones, in bounds of place and size.

    with opened(path, within=root, most=1_000_000) as stream: ...
    data = whole(path, within=root, most=65_536)
    check(path)        # just before a library that opens paths by itself, and takes no stream

A name does not say what lies there: a pipe waits for ever, a device never ends, a link leads anywhere, a folder is no file. So what is
there is looked at before it is opened, opened without waiting, and looked at again; and what must lie in a folder is entered from there,
folder by folder, so that nothing can be swapped for a link between the look and the opening. Whatever is wrong is an OSError whose
`strerror` says it. Streams of what is compressed are made of these by `board.sources.streams`.
"""

import errno
import io
import os
import stat
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from board.sources import presence

_PIECE_BYTES: Final = 1 << 20

_LOOK_ONLY: Final = os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC | os.O_NOCTTY
"""Opening so never waits for another end, and takes no terminal; reading a regular file is as ever."""

_ENTER_ONLY: Final = getattr(os, "O_PATH", os.O_RDONLY) | os.O_DIRECTORY | os.O_CLOEXEC
_LINK_MET: Final = (errno.ELOOP, errno.ENOTDIR, errno.EMLINK)
"""What systems say of a link where none is followed."""


class OutsideRoot(OSError):
    """A link that leads out of the folder that may be read."""

    def __init__(self) -> None:
        super().__init__(errno.EACCES, "is a link to a file outside the root, which the board does not read")


def opened(path: Path, *, within: Path | None = None, most: int | None = None) -> io.BufferedReader:
    """The file's bytes, to be read and closed by the caller.

    `within` is the folder that the file must lie in once every link is followed; without it, as for a file that the reader has named, links
    may lead anywhere. `most` bounds its size in bytes as it is now: a reader of more than that asks of a growing file for so much alone.
    Raises OSError.
    """
    if presence.may_be_mirrored(path):
        # here alone: who records a run has none of what reads one that lies elsewhere
        from board.sources.remote import listings

        place = _place(path, within)
        _refuse(place.stat(), most)
        if mirrored := listings.opened(place):
            return mirrored
    if within is None:
        _refuse(path.stat(), most)
        descriptor = os.open(path, _LOOK_ONLY)
    else:
        descriptor = _opened_within(path, within, most)
    try:
        _refuse(os.fstat(descriptor), most)
        return os.fdopen(descriptor, "rb")
    except BaseException:
        os.close(descriptor)
        raise


def whole(path: Path, *, most: int, within: Path | None = None) -> bytes:
    """All bytes of a file of at most `most`. Raises OSError."""
    pieces, size = [], 0
    with opened(path, within=within, most=most) as stream:
        while size <= most and (
            piece := stream.read(_PIECE_BYTES)
        ):  # at once it would ask for as much memory as the file might have
            pieces.append(piece)
            size += len(piece)
    if size > most:  # it has grown meanwhile
        raise _too_large(size, most)
    return b"".join(pieces)


def check(path: Path, *, within: Path | None = None, most: int | None = None) -> os.stat_result:
    """What the file system says of a file that `opened` would open. Raises OSError."""
    status = _place(path, within).stat()
    _refuse(status, most)
    return status


def is_within(folder: Path | str, within: Path) -> bool:
    """Whether a folder lies in another once links are followed."""
    return Path(os.path.realpath(folder)).is_relative_to(os.path.realpath(within))


def check_in_folder(path: Path, within: Path) -> os.stat_result:
    """What `check` says of a file in a folder that `is_within`, by one question where it is no link: there may be very many. Raises OSError."""
    status = path.lstat()
    if stat.S_ISLNK(status.st_mode):
        return check(path, within=within)
    _refuse(status, None)
    return status


def _opened_within(path: Path, within: Path, most: int | None) -> int:
    """A descriptor of the file, which lay in the folder when it was opened, whatever is swapped for a link meanwhile.

    No link is followed by the system: where there is one, what it leads to is found first, and entered without links in its turn.
    """
    try:
        return _entered(within, path.relative_to(within).parts, most)
    except ValueError:  # it is written in another way
        pass
    except OSError as error:
        if error.errno not in _LINK_MET:
            raise
    root = Path(os.path.realpath(within))
    return _entered(root, _place(path, within).relative_to(root).parts, most)


def _entered(root: Path, names: Sequence[str], most: int | None) -> int:
    """A descriptor of the file that these names lead to, each in the folder before it. Raises OSError at a link, ValueError for `..`."""
    if ".." in names:
        raise ValueError("leads upwards")
    folder = os.open(root, _ENTER_ONLY)
    try:
        for name in names[:-1]:
            inner = os.open(name, _ENTER_ONLY | os.O_NOFOLLOW, dir_fd=folder)
            os.close(folder)
            folder = inner
        name = names[-1] if names else "."
        status = os.stat(name, dir_fd=folder, follow_symlinks=False)
        if not stat.S_ISLNK(status.st_mode):
            _refuse(status, most)
        return os.open(name, _LOOK_ONLY | os.O_NOFOLLOW, dir_fd=folder)
    finally:
        os.close(folder)


def _place(path: Path, within: Path | None) -> Path:
    if within is None:
        return path
    place = Path(os.path.realpath(path))  # which takes a link to itself as it is: opening it says so
    if not place.is_relative_to(os.path.realpath(within)):
        raise OutsideRoot
    return place


def _refuse(status: os.stat_result, most: int | None) -> None:
    if stat.S_ISDIR(status.st_mode):
        raise OSError(errno.EISDIR, "it is a folder, not a file")
    if not stat.S_ISREG(status.st_mode):
        raise OSError(errno.EINVAL, "it is a pipe or a device, not a file")
    if most is not None and status.st_size > most:
        raise _too_large(status.st_size, most)


def _too_large(size: int, most: int) -> OSError:
    return OSError(errno.EFBIG, f"it has {size:,} bytes, and no more than {most:,} are read")
