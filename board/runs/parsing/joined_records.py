"""Lines of a shard → records, each with what the shard's companions say of it.

What companions hold may be larger than memory: their lines lie compressed in a temporary file, and only the places are held.
"""

import tempfile
import zlib
from collections.abc import Iterable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import BinaryIO

from board.errors import RowRefused, RunNotFound
from board.formats import trace_updates
from board.runs.parsing.part_builder import Item
from board.sources import json_record, shards
from board.sources.files import Parsed
from board.sources.json_record import COMPANIONS, Record
from board.sources.shards import Line, Problem, Shard


def joined(shard: Shard, items: Iterable[Line | Problem]) -> Iterator[Item]:
    """The lines of a shard that has companions, as records; what of the companions cannot be read is said first. Raises RunNotFound."""
    try:
        with tempfile.TemporaryFile() as store:
            updates = _Updates(store)
            for name, record, line in _records(shard.companions, shard):
                if isinstance(record, Problem):
                    yield replace(record, shard=shard.name, line=None, reason=f"{name}: {record.reason}")
                else:
                    updates.add(record, line)
            yield from (updates.joined(item) for item in items)
    except OSError as error:
        raise RunNotFound(f"cannot be joined with its companion files: {error.strerror or error}") from error


class _Updates:
    """What companions say, by the trace that it is of."""

    def __init__(self, store: BinaryIO) -> None:
        self._store = store
        self._places: dict[str, list[tuple[int, int]]] = {}
        self._batches: set[int] = set()

    def add(self, record: Record, line: bytes) -> None:
        """Take in a record and the line it stands on."""
        packed = zlib.compress(line, 1)
        self._places.setdefault(trace_updates.trace_of(record), []).append((self._store.tell(), len(packed)))
        self._store.write(packed)
        batch = trace_updates.batch_of(record)
        self._batches |= set() if batch is None else {batch}

    def joined(self, item: Line | Problem) -> Item:
        """The record on a line with its updates; the line itself where it is none, for the reader of rows to say why."""
        record = _parsed(item)
        if not isinstance(item, Line) or isinstance(record, Problem):
            return item
        found = [update for trace in trace_updates.traces_of(record) for update in self._of(trace)]
        said = {"updates": found, "last_batch": max(self._batches, default=None)}
        return Parsed(item.number, {**record, COMPANIONS: said}, len(item.data))

    def _of(self, trace: str) -> Iterator[Record]:
        for at, size in self._places.get(trace, ()):
            self._store.seek(at)
            yield json_record.parse(zlib.decompress(self._store.read(size)))


def _records(paths: Iterable[str], of: Shard) -> Iterator[tuple[str, Record | Problem, bytes]]:
    """(file, record, line) of every line of some files, in their order; for one that cannot be read why, unless it is still written."""
    for path in map(Path, paths):
        for item in shards.read_lines(Shard(path, path.name, path.stat().st_size, 0, within=of.within)):
            record = _parsed(item)
            whole = not isinstance(item, Line) or item.whole
            if whole or not isinstance(record, Problem):
                yield path.name, record, item.data if isinstance(item, Line) else b""


def _parsed(item: Line | Problem) -> Record | Problem:
    """The record on a line, or why it cannot be read."""
    if isinstance(item, Problem):
        return item
    try:
        return json_record.parse(item.data)
    except RowRefused as error:
        return Problem("", item.number, f"line {item.number:,}: {error}", "refused")
