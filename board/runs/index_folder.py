"""The parts of an index: as the cache holds them, in a folder that lasts and that others read.

Who writes an index verifies what is there and parses anew what is damaged; who reads one takes it as it is and removes nothing. Knows parts
and where they lie; knows neither shards' bytes nor who parses them.
"""

from collections.abc import Callable, Iterable, Sequence
from collections.abc import Set as AbstractSet
from pathlib import Path
from typing import Any

from board.runs.part_folder import File, PartFolder, Piece
from board.runs.parts import Part
from board.runs.sealed_file import Damaged, Sealed
from board.sources import index_file, presence, run_files
from board.sources.shards import Shard


class IndexFolder(PartFolder):
    """The parts below the folder of an index, for who writes it."""

    def __init__(self, index: Path, owner: str) -> None:
        """`owner` is the index's own id, whatever its folder is called."""
        super().__init__(index / index_file.PARTS, owner)

    def is_sound(self, piece: Piece, asked: bool | None = None) -> bool:
        """Whether all parts of a piece are as they were written, to the last byte, `asked` for or not."""
        try:
            mapped = [Sealed(self.folder / file.name, file.sums) for file in piece.files]
        except (Damaged, OSError):
            return False
        return all(one.is_sound(at) for one, file in zip(mapped, piece.files, strict=True) for at in range(len(file.sums)))

    def is_to_be_verified(self, piece: Piece, asked: bool | None) -> bool:
        """Whether what is there of a piece is to be read before it is kept: unless that is declined."""
        return asked is not False

    def publish(self, piece: Piece) -> None:
        """Have readers find what was written of a piece: they do. Raises OSError."""

    def settle(self, used: AbstractSet[str]) -> None:
        """What was written, and all parts that are `used`, is to be there: it is. Raises OSError where it is not to be had."""


class IndexReadOnly(IndexFolder):
    """The same for who reads it: the manifests count, whatever has become of the shards, and nothing is removed."""

    def read(self, file: File, shard: str, again: Callable[[], Part]) -> Part:
        """As it is kept. Raises OSError where a link leads out of the index, too."""
        run_files.check(self.folder / file.name, within=self.folder)
        return super().read(file, shard, again)

    def look_ahead(self, found: Iterable[Shard]) -> None:
        """Have the manifests of shards be here, all at once, where the index lies elsewhere."""
        presence.look_ahead((self._manifest(shard), 0, presence.ALL) for shard in found)

    def look_into(self, pieces: Iterable[Piece], whole: int = 0) -> None:
        """Have what every open reads of these pieces' parts be here, all at once, where the index lies elsewhere.

        Parts of at most `whole` bytes are fetched whole.
        """
        files = [(self.folder / file.name, [0, *(stop for stop, _ in file.sums)]) for piece in pieces for file in piece.files]
        presence.look_ahead(
            (path, *span)
            for path, stops in files
            for span in ([(0, stops[-1])] if stops[-1] <= whole else [(0, stops[1]), (stops[-2], stops[-1])])
        )

    def forget(self, piece: Piece) -> None:
        """Leave it there: who writes the index next finds it damaged and mends it."""

    def _fits(self, shard: Shard, written: dict[str, Any], pieces: Sequence[Piece]) -> bool:
        return True

    def _has(self, piece: Piece) -> bool:
        return True
