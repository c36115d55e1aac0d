"""Which code made what is cached: parts that other code made are not read."""

from functools import cache
from pathlib import Path
from typing import Final

from xxhash import xxh3_64

from board import plugins

_MAKERS: Final = ("formats", "metrics", "runs", "sources", "text", "trackers", "schema.py")
"""The packages, and the module at the top, whose code decides what a part holds. Another text of any of them makes another cache: no number
outlives the code that made it."""


def makers() -> list[Path]:
    """The sources that decide what a part holds."""
    board = Path(__file__).parents[2]
    ours = [source for name in _MAKERS for source in (sorted((board / name).rglob("*.py")) or [board / name])]
    return [*ours, *plugins.sources(plugins.FORMATS)]


@cache
def version() -> str:
    """Names what this board's parts hold and how. Every process that opens a run reads 200 files for it."""
    digest = xxh3_64()
    for source in makers():
        with source.open("rb", buffering=0) as text:
            digest.update(text.readall())
    return f"v-{digest.hexdigest()}"
