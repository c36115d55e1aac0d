"""What the file of an index says of its run: every shard as it was, what stands behind its last line end, and which ranges failed.

`board.runs.indexed_run` reads it. Knows what is written; knows neither tasks nor workers.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from board.indexing.target import IndexTarget
from board.runs.byte_range import ByteRange
from board.runs.indexed_run import REPORTED
from board.runs.kept_run import KeptRun
from board.runs.load_report import LoadReport
from board.runs.parsed_shard import ParsedShard
from board.runs.part_folder import Piece, piece_from
from board.runs.store import version
from board.sources import index_file
from board.text.path_names import shown


@dataclass(frozen=True)
class FailedRange:
    """A byte range that no worker could parse."""

    shard: str
    start: int
    stop: int
    reason: str
    lines: int | None = None
    """How many it has; None where nobody could count them."""

    @classmethod
    def of(cls, byte_range: ByteRange, reason: str) -> "FailedRange":
        """A range, and why it failed."""
        return cls(byte_range.shard.name, byte_range.start, byte_range.stop, reason)

    def __str__(self) -> str:
        """`rank_0.jsonl, bytes 0 to 16,000,000: a parsing process ended`."""
        return f"{self.shard}, {_where(self)}: {self.reason}"


class IndexAccount:
    """What is said of one run, and where it is written."""

    def __init__(self, target: IndexTarget, run: KeptRun) -> None:
        """Of a run whose shards are known."""
        self.target, self.run, self.report = target, run, LoadReport()
        run.describe(self.report)
        self._written = {name: said for name, said in (target.before or {}).items() if name != "layout"}

    @property
    def gone(self) -> list[str]:
        """Shards that the index held and the run no longer has."""
        return [name for name in (self.target.before or {"kept": {}})["kept"] if name not in self.run.kept]

    def tail(self, shard: str) -> Piece | None:
        """What the index held of a shard behind its last line end."""
        told = (self.target.before or {"kept": {}})["kept"].get(shard)
        return piece_from(told["tail"]) if told and told["tail"] else None

    def is_first(self) -> bool:
        """Whether the folder held nothing that may stay."""
        return self.target.before is None

    def write(self, *, complete: bool, tails: Mapping[str, Piece] | None = None, failed: Sequence[FailedRange] = ()) -> None:
        """Write it, unless it is what the file says already. Raises OSError."""
        told = json.loads(json.dumps(self._told(complete, tails or {}, failed)))
        if told != self._written:
            index_file.write(self.target.folder, told)
            self.target.destination.publish(index_file.NAME)
            self._written = told

    def _told(self, complete: bool, tails: Mapping[str, Piece], failed: Sequence[FailedRange]) -> dict[str, Any]:
        target = self.target
        return {
            "id": target.owner,
            "store": version(),
            "location": target.named,
            "reading": target.reading.written(),
            "key": target.key,
            "complete": complete,
            "shards": [{"name": one.name, "size": one.size, "mtime_ns": one.mtime_ns} for one in target.found],
            "problems": [asdict(one) for one in target.problems],
            "kept": {name: self._shard(kept, tails.get(name), failed) for name, kept in self.run.kept.items()},
            "batches": dict(self.run.batches),
            "report": {name: getattr(self.report, name) for name in REPORTED},
        }

    def _shard(self, kept: ParsedShard, tail: Piece | None, failed: Sequence[FailedRange]) -> dict[str, Any]:
        shard, own = kept.shard, [one for one in failed if one.shard == kept.shard.name]
        return {
            "format": kept.identity.format,
            "note": kept.identity.note,
            "objects": shard.objects,
            "size": shard.size,
            "mtime_ns": shard.mtime_ns,
            "companions": [shown(Path(path).relative_to(self.target.location)) for path in shard.companions],
            "ranges": len(kept.pieces),
            "tail": asdict(tail) if tail else None,
            "failed": [{"start": one.start, "stop": one.stop, "lines": one.lines, "reason": _said(one)} for one in own],
        }


def _said(failed: FailedRange) -> str:
    return f"{_where(failed)} could not be indexed: {failed.reason}"


def _where(failed: FailedRange) -> str:
    return f"bytes {failed.start:,} to {failed.stop:,}"
