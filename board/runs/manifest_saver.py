"""Flush the pieces of a load to the disk, and name those that are there in their shards' manifests, now and then and at the end.

Knows neither how pieces are made nor how they are read.
"""

import time
from concurrent.futures import Future, ThreadPoolExecutor, wait
from contextlib import suppress
from types import TracebackType
from typing import Final, Self

from board.runs.parsed_shard import ParsedShard
from board.runs.part_folder import Manifest, PartFolder, Piece

_SAVE_SECONDS: Final = 2.0


class ManifestSaver:
    """A context: what was added is saved when it ends, however it ends. The disk is waited for beside the parsing."""

    def __init__(self, store: PartFolder) -> None:
        self._store = store
        self._unsaved: dict[str, ParsedShard] = {}
        """Shards with pieces that no manifest names yet, by name."""
        self._flushes: dict[tuple[str, int], Future[None]] = {}
        """By shard and start of the piece, until a manifest names it."""
        self._saved_at = time.monotonic()

    def __enter__(self) -> Self:
        self._disk = ThreadPoolExecutor(1)
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        with self._disk:
            wait(self._flushes.values())
            self._save()

    def add(self, parsed: ParsedShard, piece: Piece) -> None:
        """Have a new piece of a shard flushed, and save what is on the disk if it is time."""
        self._unsaved[parsed.shard.name] = parsed
        self._flushes[parsed.shard.name, piece.start] = self._disk.submit(self._store.flush, piece)
        if time.monotonic() - self._saved_at > _SAVE_SECONDS:
            self._save()

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
        """Whether the piece is on the disk: flushed by now, or named by an earlier load's manifest."""
        flush = self._flushes.get((shard, piece.start))
        return flush is None or (flush.done() and flush.exception() is None)
