"""The names of objects ⇄ paths of files in a mirror.

Whatever an object is called, its file lies within the mirror and is no other's. A name that a file may have stays as it is. `..`, an empty
part, control characters, `\\` and what else a file system may not take are written as their bytes, `%2E%2E`, `%00`.
"""

import re
from pathlib import PurePath, PurePosixPath
from typing import Final
from urllib.parse import quote, unquote

EMPTY: Final = "%2F"
"""Stands for an empty part, as in `a//b`. No part that is not empty is written so."""

SAME_AS_FOLDER: Final = "%2F%2F"
"""Ends the name of an object that has the name of a folder: stores may hold both `a` and `a/b`."""

_LONGEST: Final = 240
"""Bytes of a part; file systems end at 255, and the board adds to names."""

_ODD: Final = re.compile(
    r"[\x00-\x1f\x7f-\x9f\\:*?\"<>|\u2028\u2029\u200e\u200f\u202a-\u202e\u2066-\u2069\ud800-\udfff]|%(?=[0-9A-Fa-f]{2})"
)


def local_path(key: str, *, same_as_folder: bool = False) -> PurePosixPath:
    """Where an object or a prefix lies in its mirror; `same_as_folder` when the store also has a folder of the same name."""
    parts = [*map(_written, key.split("/"))] if key else []
    if same_as_folder:
        parts[-1] += SAME_AS_FOLDER
    return PurePosixPath(*parts)


def key_of(path: PurePath) -> str:
    """The key of the object, or the prefix, that lies there."""
    return "/".join(map(_read, path.parts))


def is_too_long(path: str) -> bool:
    """Whether a part of a local path is longer than a file's name may be."""
    return any(len(part.encode()) > _LONGEST for part in path.split("/"))


def _written(part: str) -> str:
    if part in ("", ".", ".."):
        return part.replace(".", "%2E") or EMPTY
    return _ODD.sub(lambda found: quote(found[0], safe="", errors="surrogatepass"), part)


def _read(part: str) -> str:
    plain = part.removesuffix(SAME_AS_FOLDER)
    return "" if plain == EMPTY else unquote(plain, errors="surrogatepass")
