"""The cache: a folder of parts for each run, in the user's cache folder.

It is bound to the code that makes parts and to how the run is read, and may be deleted at any time. The run folder is never written to. What
parts are is in `part_folder`.
"""

import json
import os
from hashlib import blake2b
from pathlib import Path
from typing import Final

from board import atomic_write
from board.runs.cache.code_version import version
from board.runs.cache.part_folder import Manifest, PartFolder
from board.settings import user_folders
from board.sources.shards import Shard
from board.text.path_names import shown

LOCATION: Final = ".location"
"""The ending of the file next to a run's folder that says where the run is; its time says when the run was opened last."""


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
