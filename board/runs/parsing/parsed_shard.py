"""What is parsed of one shard, and which of its byte ranges are missing."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from itertools import takewhile
from pathlib import Path
from typing import Final

from board.errors import RunNotFound
from board.runs.cache.part_folder import Manifest, Piece
from board.runs.cache.parts import Part
from board.runs.parsing.byte_range import ByteRange
from board.runs.parsing.format_detection import Identity, format_of, identify
from board.sources import presence, shards, sqlite_files
from board.sources.shards import Problem, Shard

RANGE_BYTES: Final = 16_000_000
"""Bytes of a plain shard that are parsed at once, more or less."""


@dataclass
class ParsedShard:
    """What is parsed of one shard: pieces in the store, and parts that could not be written there and stay in memory."""

    shard: Shard
    identity: Identity
    pieces: list[Piece]
    in_memory: dict[int, list[Part]] = field(default_factory=dict)
    """By the start of their piece."""
    broken: list[Problem] = field(default_factory=list)
    """Why a byte range could not be read at all."""
    is_replaced: bool = False
    """Whether another file was seen in its place since it was found."""
    tail: tuple[Piece, list[Part]] | None = None
    """What stands behind its last line end, once that is read."""

    def add(self, piece: Piece) -> None:
        """Take in a piece, in the order of the bytes."""
        self.pieces = sorted([*self.pieces, piece], key=lambda one: one.start)

    def done(self) -> tuple[int, int]:
        """How many of its bytes are parsed, and how many rollouts are in them."""
        return sum(piece.stop - piece.start for piece in self.pieces), sum(piece.rows for piece in self.pieces)

    def refuse(self, reason: str) -> None:
        """Note why a byte range could not be read."""
        self.broken.append(Problem(self.shard.name, None, reason, "refused"))

    def drop(self) -> None:
        """Forget what is parsed of it: another file stands in its place."""
        self.pieces, self.in_memory, self.broken, self.is_replaced = [], {}, [], True

    def has_tail(self) -> bool:
        """Whether something stands behind the last line end of a plain shard, all before it being parsed."""
        return shards.is_plain(self.shard) and self.tail_range().start < self.shard.size and not self.broken

    def tail_range(self) -> ByteRange:
        """The bytes behind those that are parsed."""
        start = self.pieces[-1].stop if self.pieces else 0
        return ByteRange(self.shard, start, self.shard.size, format_of(self.identity))

    def range_of(self, piece: Piece) -> ByteRange:
        """The bytes that a piece was made of."""
        return ByteRange(self.shard, piece.start, piece.stop, format_of(self.identity))


def gathered(members: Sequence[Shard]) -> Shard:
    """Files that are read together as one shard, named after the first."""
    size, changed, inode = (sum(getattr(one, name) for one in members) for name in ("size", "mtime_ns", "inode"))
    name = f"{members[0].name} and others"
    return replace(members[0], name=name, size=size, mtime_ns=changed, inode=inode, members=tuple(members))


def found_again(shard: Shard) -> Shard:
    """The shard as its files are now. Raises OSError.

    As it was found where that is looked at elsewhere: of a remote run, and of a database, which is copied at one moment.
    """
    if shard.members:
        return gathered([found_again(one) for one in shard.members])
    if shard.path.name.endswith(sqlite_files.ENDING) or presence.is_remote(shard.path):
        return shard
    found = [path.stat() for path in (shard.path, *map(Path, shard.companions))]
    size, changed = sum(one.st_size for one in found), max(one.st_mtime_ns for one in found)
    return replace(shard, size=size, mtime_ns=changed, inode=found[0].st_ino)


def is_another(parsed: ParsedShard, *, to_the_end: bool) -> bool:
    """Whether something of what was read of a shard is not of the file that was found, or not of one text.

    What was opened as another file was refused. What was opened as the same and has changed may only have been appended to: where it is read
    `to_the_end`, the pieces are compared with what stands there. A file that took its place after that changes nothing.
    """
    before, pieces = parsed.shard, [*parsed.pieces, *([parsed.tail[0]] if parsed.tail else [])]
    try:
        now = found_again(before)
        if parsed.is_replaced or (now.size, now.mtime_ns) == (before.size, before.mtime_ns):
            return parsed.is_replaced
        if parsed.broken or now.inode != before.inode:
            return bool(parsed.broken)
        if now.size <= before.size:
            return True
        return to_the_end and any(shards.seal(before, one.start, one.stop) != one.seal for one in pieces)
    except (OSError, RunNotFound):
        return parsed.is_replaced


def from_cache(shard: Shard, manifest: Manifest | None, mapping: str) -> ParsedShard:
    """What is stored of a shard by its manifest, if there is one, and whose it is; `mapping` is the text of a mapping by hand."""
    if manifest and manifest.format:
        identity = Identity(manifest.format, manifest.note, manifest.objects)
        return ParsedShard(replace(shard, objects=manifest.objects), identity, [*manifest.pieces])
    # Its format was unknown, perhaps because its first record was not written yet: what was read then counts only if it is as unknown now.
    identity = identify(shard, mapping)
    unchanged = manifest and (manifest.format, manifest.objects) == (identity.format, identity.objects)
    return ParsedShard(replace(shard, objects=identity.objects), identity, [*manifest.pieces] if manifest and unchanged else [])


def missing(parsed: ParsedShard, size: int = 0) -> list[ByteRange]:
    """The byte ranges of a shard that are not stored, cut to size, that or even. A short last piece is parsed again with what follows it."""
    shard, kind = parsed.shard, format_of(parsed.identity)
    if not shards.is_plain(shard):
        return [] if parsed.pieces else [ByteRange(shard, 0, shard.size, kind)]
    is_whole = parsed.pieces and parsed.pieces[-1].stop == shard.size
    end = shard.size if is_whole else shards.last_line_end(shard)
    if parsed.pieces and (last := parsed.pieces[-1]).stop < end and last.stop - last.start < (size or RANGE_BYTES) // 4:
        parsed.pieces = parsed.pieces[:-1]
    stops = [0, *(piece.stop for piece in parsed.pieces)]
    starts = [*(piece.start for piece in parsed.pieces), end]
    gaps = [(start, stop) for start, stop in zip(stops, starts, strict=True) if start < stop]
    return [ByteRange(shard, *cut, kind) for gap in gaps for cut in shards.cuts(shard, *gap, size or _even_size(*gap))]


def _even_size(start: int, stop: int) -> int:
    """Of ranges of one size, where a last one with all that is left would keep one process at work while the others are done."""
    size = stop - start
    return -(-size // max(1, round(size / RANGE_BYTES)))


def pieces_from_the_start(parsed: ParsedShard) -> list[Piece]:
    """The pieces up to the first byte range of a plain shard that could not be read: how many lines that one has is unknown."""
    starts = [0, *(piece.stop for piece in parsed.pieces)]
    return [piece for piece, _ in takewhile(lambda pair: pair[0].start == pair[1], zip(parsed.pieces, starts, strict=False))]
