"""Check that the cache's disk has room for a remote run before it is fetched."""

import shutil
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from board.errors import RunNotFound
from board.runs.parsing.byte_range import ByteRange
from board.runs.parsing.range_parsing import expected_bytes
from board.settings import user_folders
from board.sources import presence
from board.text.format_number import size

PARSED: Final = 1.0
"""Bytes of parts to a byte of JSON lines, rather more than less: 0.67 and 0.79 were measured of the runs that ship with the board."""

SPARE: Final = 200_000_000
"""Bytes that are left to others."""


def refuse_without_room(ranges: Sequence[ByteRange]) -> None:
    """Raises RunNotFound, which says what is needed and what there is, where the ranges of a remote run would fill the disk."""
    if not ranges or not presence.is_remote(ranges[0].shard.path):
        return
    parsed = round(PARSED * sum(map(expected_bytes, ranges)))
    folder, free = free_bytes()
    if parsed + SPARE > free:
        raise RunNotFound(
            f"This run needs about {size(parsed)} in the cache for what is read of it. "
            f"{folder} has {size(free)} left: make room there, or name a folder on a larger disk in RL_BOARD_CACHE."
        )


def free_bytes() -> tuple[Path, int]:
    """The folder of the cache, or what there is of the way to it, and how many bytes its disk has left. Raises OSError."""
    cache = user_folders.cache()
    folder = next(above for above in (cache, *cache.parents) if above.exists())
    return folder, shutil.disk_usage(folder).free
