"""Where mirrors lie, told from a path alone, and in what pieces bytes come: who writes a run asks that too, and has none of what reads one."""

import os
from pathlib import Path
from typing import Final

FOLDER: Final = "mirrored-stores"
"""The folder of the cache that holds the mirrors."""

BLOCK: Final = 1 << 16
"""Bytes are asked for in whole blocks of so many; the last of an object may be shorter."""

REQUEST: Final = 32 * BLOCK
"""Bytes asked for at once, 2 MiB: what is asked for in pieces travels in parallel, and a cut costs little."""

Span = tuple[Path, int, int]
"""A file of a mirror, and the bytes of it that are wanted."""


def may_be_mirrored(path: Path) -> bool:
    """Whether a path may be a mirror's; `board.sources.remote.mounts` knows whether it is."""
    return f"{os.sep}{FOLDER}{os.sep}" in str(path)
