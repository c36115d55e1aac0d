"""The names of objects ⇄ paths of files in a mirror.

Whatever an object is called, its file lies within the mirror and is no other's. A name that a file may have stays as it is. `..`, an empty
part, control characters, `\\` and what else a file system may not take are written as their bytes, `%2E%2E`, `%00`. A part too long for a
file's name is cut and ends with a digest: its key cannot be read back.
"""

import re
from hashlib import blake2b
from pathlib import PurePath, PurePosixPath
from typing import Final

from board.errors import RunNotFound

EMPTY: Final = "%2F"
"""Stands for an empty part, as in `a//b`. No part that is not empty is written so."""

SAME_AS_FOLDER: Final = "%2F%2F"
"""Ends the name of an object that has the name of a folder: stores may hold both `a` and `a/b`."""

_LONGEST: Final = 200
"""Bytes of a part; file systems end at 255, and the board adds to names."""

_END_BYTES: Final = 40
"""Bytes of the end of a part that is cut: what kind of file it is stands there."""

_CUT: Final = "%2F-"
"""Stands before the digest in a part that was cut."""

_ODD: Final = re.compile(
    r"[\x00-\x1f\x7f-\x9f\\:*?\"<>|\u2028\u2029\u200e\u200f\u202a-\u202e\u2066-\u2069\ud800-\udfff]|%(?=[0-9A-Fa-f]{2})"
)
_WRITTEN: Final = re.compile(rb"%([0-9A-F]{2})")


def local_path(key: str, *, same_as_folder: bool = False) -> PurePosixPath:
    """Where an object lies in its mirror; `same_as_folder` when the store also has a folder of the same name."""
    parts = [*map(_written, key.split("/"))]
    if same_as_folder:
        parts[-1] += SAME_AS_FOLDER
    return PurePosixPath(*parts)


def key_of(path: PurePath) -> str:
    """The key of the object that lies there. Raises RunNotFound where the path cannot tell, as its name was cut."""
    return "/".join(_read(part) for part in path.parts)


def _written(part: str) -> str:
    if not part:
        return EMPTY
    if set(part) == {"."} and len(part) < 3:
        return part.replace(".", "%2E")
    text = _ODD.sub(lambda found: "".join(f"%{byte:02X}" for byte in found[0].encode("utf-8", "surrogatepass")), part)
    data = text.encode()
    if len(data) <= _LONGEST:
        return text
    digest = blake2b(part.encode("utf-8", "surrogatepass"), digest_size=8).hexdigest()
    begin, end = data[: _LONGEST - _END_BYTES], data[-_END_BYTES:]
    return f"{begin.decode(errors='ignore')}{_CUT}{digest}{end.decode(errors='ignore')}"


def _read(part: str) -> str:
    if _CUT in part:
        raise RunNotFound("An object with so long a name can be read only by the process that listed it.")
    plain = part.removesuffix(SAME_AS_FOLDER)
    if plain == EMPTY:
        return ""
    return _WRITTEN.sub(lambda found: bytes([int(found[1], 16)]), plain.encode()).decode("utf-8", "surrogatepass")
