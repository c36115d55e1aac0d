"""Name the pieces of a load in their shards' manifests, once they are flushed.

That is done now and then and at the end. A load that ends before its pieces would be flushed, half-way to the first save, names them
unflushed: should the machine crash before the system has written them by itself, their sums tell, and they are parsed again as quickly.
"""

import time
from concurrent.futures import Future, ThreadPoolExecutor, wait
from contextlib import suppress
from types import TracebackType
from typing import Final, Self

from board.runs.cache.part_folder import Manifest, PartFolder, Piece
from board.runs.parsing.parsed_shard import ParsedShard

_SAVE_SECONDS: Final = 2.0


class ManifestSaver:
    """A context: what was added is saved when it ends, however it ends. The disk is waited for in parallel to the parsing."""

    def __init__(self, store: PartFolder) -> None:
        self._store = store
        self._unsaved: dict[str, ParsedShard] = {}
        """Shards with pieces that no manifest names yet, by name."""
        self._unflushed: dict[tuple[str, int], Piece] = {}
        """By shard and start of the piece, while the load is a quick one."""
        self._flushes: dict[tuple[str, int], Future[None]] = {}
        """By shard and start of the piece, the flushes that have begun."""
        self._began = self._saved_at = time.monotonic()

    def __enter__(self) -> Self:
        self._disk = ThreadPoolExecutor(1)
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        with self._disk:
            if self._is_quick():
                self._unflushed.clear()
            self._flush()
            wait(self._flushes.values())
            self._save()

    def add(self, parsed: ParsedShard, piece: Piece) -> None:
        """Take in a new piece of a shard, and save what is on the disk if it is time."""
        self._unsaved[parsed.shard.name] = parsed
        self._unflushed[parsed.shard.name, piece.start] = piece
        if not self._is_quick():
            self._flush()
        if time.monotonic() - self._saved_at > _SAVE_SECONDS:
            self._save()

    def again(self, parsed: ParsedShard) -> None:
        """Have the manifest of a shard that is read anew written anew: what it names is of another file."""
        self._unsaved[parsed.shard.name] = parsed

    def _is_quick(self) -> bool:
        """Whether the first save is still so far off that what is parsed by now can be on the disk then."""
        return time.monotonic() - self._began <= _SAVE_SECONDS / 2

    def _flush(self) -> None:
        """Have what is not flushed yet flushed in parallel to the parsing."""
        self._flushes |= {place: self._disk.submit(self._store.flush, piece) for place, piece in self._unflushed.items()}
        self._unflushed.clear()

    def _save(self) -> None:
        """Write the manifests of shards that have new pieces, as far as these are on the disk.

        A cache that cannot be written costs only the next load's time.
        """
        for name, parsed in [*self._unsaved.items()]:
            pieces = tuple(piece for piece in parsed.pieces if piece.start not in parsed.in_memory and self._is_safe(name, piece))
            if len(pieces) == len(parsed.pieces):
                del self._unsaved[name]
            identity = parsed.identity
            with suppress(OSError):
                self._store.write_manifest(parsed.shard, Manifest(identity.format, identity.note, identity.objects, pieces))
        self._saved_at = time.monotonic()

    def _is_safe(self, shard: str, piece: Piece) -> bool:
        """Whether the piece may be named: flushed by now, of a quick load that has ended, or named by an earlier load's manifest."""
        place = shard, piece.start
        flush = self._flushes.get(place)
        return place not in self._unflushed and (flush is None or (flush.done() and flush.exception() is None))
