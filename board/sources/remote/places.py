"""Where mirrors lie, and in what pieces bytes come: for writers of runs, too."""

import os
from pathlib import Path
from typing import Final

FOLDER: Final = "mirrored-stores"
"""The folder of the cache that holds the mirrors."""

BLOCK: Final = 1 << 16
"""Bytes are requested in whole blocks of so many; the last of an object may be shorter."""

REQUEST: Final = 32 * BLOCK
"""Bytes of one request, 2 MiB: several requests travel in parallel, and a cut connection costs little."""

Span = tuple[Path, int, int]
"""A file of a mirror, and the range of its bytes that is to be read."""


def may_be_mirrored(path: Path) -> bool:
    """Whether a path may be a mirror's; `board.sources.remote.listings` knows whether it is."""
    return f"{os.sep}{FOLDER}{os.sep}" in str(path)
