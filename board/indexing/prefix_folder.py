"""The parts of an index that lie below a prefix of a store, for who writes them: each complete there, or not there at all.

They are written into a folder of this machine, and go from there, what was made of a part before the part, so that a part that is listed has all
of it. A manifest goes when it is written, or at the latest before the file of the index does. One driver at a time is meant. Two that are
at work at once do the work twice: no two parts share a name, neither gives manifests to the other's index or removes what it may still name,
and the one that ends last puts all manifests of its own, sees that all parts of them are there, and then the file of the index. Knows
names and sizes of objects; knows neither shards' bytes nor who parses them.
"""

import time
from collections.abc import Iterator, Mapping
from collections.abc import Set as AbstractSet
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Final

from board.indexing.index_prefix import IndexPrefix
from board.remote.object_store import RemoteTrouble
from board.runs import kept_tables
from board.runs.index_folder import IndexFolder
from board.runs.kept_tables import part_of
from board.runs.part_folder import Manifest, Piece
from board.sources import index_file
from board.sources.shards import Shard
from board.user_files import user_folders

_BELOW: Final = f"{index_file.PARTS}/"

UNNAMED_SECONDS: Final = 3_600
"""Parts that nothing names stay so long: another driver may be about to name them, a reader may still have what named them."""

_LOOK_SECONDS: Final = 1.0

_FOLDER: Final = "indexing"
"""The folder of the cache in which drivers and workers have theirs."""


class PrefixFolder(IndexFolder):
    """`folder` is the index on this machine; `listed` has the sizes of what lies below the prefix, by name."""

    def __init__(self, folder: Path, owner: str, prefix: IndexPrefix, listed: Mapping[str, int]) -> None:
        super().__init__(folder, owner)
        self._index, self._prefix = folder, prefix
        self._sizes = {name.removeprefix(_BELOW): size for name, size in listed.items() if name.startswith(_BELOW)}
        self._measured = {part_of(name) for name in self._sizes if kept_tables.version() in name}
        """Parts that have what this code makes of them."""
        self._unpublished: set[str] = set()
        self._looked = float("-inf"), False
        """When it was looked last whether the index there is this driver's, and whether it was."""

    def is_sound(self, piece: Piece, asked: bool | None = None) -> bool:
        """Whether all parts of a piece are as they were written: to the last byte where they are here, else as the store lists them.

        What it lists is not taken on trust where verifying is `asked` for.
        """
        if all((self.folder / file.name).is_file() for file in piece.files):
            return super().is_sound(piece, asked)
        return not asked and self._has(piece)

    def is_to_be_verified(self, piece: Piece, asked: bool | None) -> bool:
        """Where that is asked for, as all of it must be fetched, and where what this code makes of a part is not there."""
        return bool(asked) or any(file.name not in self._measured for file in piece.files)

    def _has(self, piece: Piece) -> bool:
        return all(self._sizes.get(file.name) == file.sums[-1][0] for file in piece.files)

    def flush(self, piece: Piece) -> None:
        """What lies here is not what lasts."""

    def publish(self, piece: Piece) -> None:
        """Have what of a piece was written here be there, and here no more. Raises OSError."""
        parts = [file.name for file in piece.files if (self.folder / file.name).is_file()]
        made = [path.name for name in parts for path in self.folder.glob(f"{Path(name).stem}.*") if path.name != name]
        self._prefix.put([_BELOW + name for name in made], self._index)
        self._prefix.put([_BELOW + name for name in parts if name not in self._sizes], self._index)
        for name in (*made, *parts):
            self._sizes[name] = (self.folder / name).stat().st_size
            (self.folder / name).unlink()

    def write_manifest(self, shard: Shard, manifest: Manifest) -> None:
        """Here, and there as soon as the store takes it. Raises OSError."""
        super().write_manifest(shard, manifest)
        name = _BELOW + self._manifest(shard).name
        self._unpublished.add(name)
        now = time.monotonic()
        if now - self._looked[0] > _LOOK_SECONDS:
            self._looked = now, is_ours(self._prefix, self._index)
        if self._looked[1]:
            self._prefix.put([name], self._index)
            self._unpublished.discard(name)

    def settle(self, used: AbstractSet[str]) -> None:
        """Have the manifests be there that are not yet, or may be another's by now. Raises OSError, also where a part is gone."""
        if used - {name.removeprefix(_BELOW) for name in self._prefix.listed()}:
            raise RemoteTrouble("another `index` was at work there, and has removed parts of this one: run the command again")
        own = {_BELOW + path.name for path in self.folder.glob("*.json")}
        self._prefix.put(sorted(self._unpublished if is_ours(self._prefix, self._index) else own), self._index)
        self._unpublished.clear()

    def clean(self, used: AbstractSet[str], older_than: float = 0) -> None:
        """Remove parts that are not used, and what was made of them, but for those that another may be about to name."""
        super().clean(used, older_than)
        with suppress(OSError):
            there = {name.removeprefix(_BELOW): one.modified_ns for name, one in self._prefix.listed().items()}
            old = max(there.values(), default=0) - UNNAMED_SECONDS * 10**9  # by the clock of the store
            known = {name for name in there if name in self._sizes and not name.endswith(".json") and there[name] < old}
            self._prefix.remove(_BELOW + name for name in known if part_of(name) not in used)


def is_ours(prefix: IndexPrefix, folder: Path) -> bool:
    """Whether the index below a prefix is as the driver whose folder this is has left it. Raises RemoteTrouble."""
    own = index_file.stamp(folder).encode()
    return prefix.beginning(index_file.NAME, len(own)) == own


@contextmanager
def folder_for_a_while() -> Iterator[Path]:
    """A folder of this user's cache, for an index while it is worked on: it goes with the context. Raises OSError."""
    cache = user_folders.cache()
    with user_folders.temporary(cache / _FOLDER, cache, _FOLDER) as folder:
        yield folder
