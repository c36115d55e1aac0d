"""The cache: a folder of parts for each run, in the user's cache folder.

It is bound to the code that makes parts and to how the run is read, and may be deleted at any time. The run folder is never written to. What
parts are is in `part_folder`.
"""

import json
import os
from functools import cache
from hashlib import blake2b
from pathlib import Path
from typing import Final

from xxhash import xxh3_64

from board import atomic_write, plugins
from board.runs.cache.part_folder import Manifest, PartFolder
from board.settings import user_folders
from board.sources.shards import Shard
from board.text.path_names import shown

_MAKERS: Final = ("formats", "metrics", "runs", "sources", "text", "schema.py")
"""The packages, and the module at the top, whose code decides what a part holds. Another text of any of them makes another cache: no number
outlives the code that made it."""

LOCATION: Final = ".location"
"""The ending of the file next to a run's folder that says where the run is; its time says when the run was opened last."""


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


class Store(PartFolder):
    """The stored parts of one run, read in one way, which `key` names."""

    def __init__(self, location: Path, key: str = "", root: Path | None = None) -> None:
        self.location = location.resolve()
        name = json.dumps([str(self.location), key])
        folder = f"{blake2b(name.encode(), digest_size=12).hexdigest()}-{shown(self.location.name)[:40]}"
        self.root = root or user_folders.cache()
        super().__init__(self.root / version() / folder, folder)

    def open(self) -> None:
        """Make the folder, for this user alone. Raises OSError where it cannot be written."""
        user_folders.make_private(self.folder, self.root)
        for other in self.root.glob("v-*"):  # which earlier versions of the board may have left open
            user_folders.close_to_others(other)
        self.probe()
        atomic_write.write(self.folder.with_name(self.folder.name + LOCATION), os.fsencode(self.location))

    def manifest(self, shard: Shard) -> Manifest | None:
        """As of any folder of parts; None where another user made this one, whose numbers are not trusted."""
        return None if user_folders.is_of_others(self.folder, self.root) else super().manifest(shard)
