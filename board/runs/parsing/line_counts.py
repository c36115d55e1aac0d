"""How many lines stand before each byte range of a shard, counted if not parsed."""

from collections.abc import Callable, Iterable, Mapping, Sequence

from board.runs.cache.part_folder import Piece
from board.runs.parsing.byte_range import ByteRange
from board.sources import lines, shards
from board.sources.lines import longest_line

Counted = Mapping[int, tuple[int, int]]
"""By the start of a byte range: where it ends, and how many lines it has."""


class LineCounts:
    """Lines of byte ranges that were counted. One thread counts, others read."""

    def __init__(self) -> None:
        self._counted: dict[str, dict[int, tuple[int, int]]] = {}

    def count(self, ranges: Iterable[ByteRange], may_go_on: Callable[[], bool]) -> None:
        """Count the lines of these ranges, none of which is counted yet, until `may_go_on` says no; those that cannot be read have no count."""
        for one in ranges:
            if not may_go_on():
                return
            self.of(one)

    def of(self, one: ByteRange) -> int | None:
        """How many lines a byte range has, counted on the first call; None where it cannot be read, or where not every line end may count."""
        counted = self._counted.setdefault(one.shard.name, {})
        if one.start not in counted:
            if one.stop - one.start > longest_line():
                return None
            try:
                with shards.opened(one.shard) as stream:
                    counted[one.start] = (one.stop, lines.ends(stream, one.start, one.stop))
            except OSError:
                return None
        return counted[one.start][1]

    def of_shard(self, name: str) -> Counted:
        """What is counted of a shard by now."""
        return self._counted.get(name, {}).copy()


def lines_before(counted: Counted, pieces: Sequence[Piece]) -> dict[int, int]:
    """By the start of each byte range, counted or parsed, how many lines of the shard stand before it, as far as all before it is known."""
    known = {**counted, **{piece.start: (piece.stop, piece.lines) for piece in pieces}}
    found, at, number = {0: 0}, 0, 0
    while at in known and known[at][0] > at:
        at, more = known[at]
        number += more
        found[at] = number
    return found
