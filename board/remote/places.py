"""Where mirrors lie, told from a path alone: who writes a run asks that too, and has none of what reads one. Knows no mirror."""

import os
from pathlib import Path
from typing import Final

FOLDER: Final = "mirrored-stores"
"""The folder of the cache that holds the mirrors."""


def may_be_mirrored(path: Path) -> bool:
    """Whether a path may be a mirror's; `board.remote.mounts` knows whether it is."""
    return f"{os.sep}{FOLDER}{os.sep}" in str(path)
