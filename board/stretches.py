"""A stretch of a shard → its parts, kept by whoever asked, and a word on what reading it found.

Knows lines and parts; knows neither which stretches a run needs nor which process it is in.
"""

from collections.abc import Callable
from collections.abc import Set as AbstractSet
from dataclasses import dataclass

from board import ingest, shards
from board.parts import Part
from board.report import LoadReport
from board.shards import Shard
from board.store import Piece


@dataclass(frozen=True)
class Stretch:
    """Bytes of a shard to be parsed, from `start` to before `stop`."""

    shard: Shard
    start: int
    stop: int


def parse(
    stretch: Stretch, pads: AbstractSet[str], keep: Callable[[Part], str | None], on_bytes: Callable[[int], None] | None = None
) -> Piece:
    """Parse a stretch, handing its parts to `keep`, which names the file it wrote. Raises OSError from `keep`, RunNotFound.

    `on_bytes` is called now and then with the number of file bytes read of a compressed shard, whose stretch is the whole.
    """
    shard, report, files = stretch.shard, LoadReport(), []

    def kept(part: Part) -> None:
        files.append(keep(part))

    if shards.is_plain(shard):
        lines, count = shards.read_stretch(shard, stretch.start, stretch.stop)
        ingest.read_parts(lines, shard.name, pads, report, kept)
    else:
        count = 0
        ingest.read_parts(shards.read_lines(shard, on_bytes), shard.name, pads, report, kept)
    return Piece(
        start=stretch.start,
        stop=stretch.stop,
        lines=count,
        files=tuple(name for name in files if name),
        rows=report.rows,
        seal=shards.seal(shard, stretch.start, stretch.stop),
        problems=tuple((one.line, one.reason, one.severity) for one in report.problems),
        counts=dict(report.counts),
        unfinished=bool(report.unfinished),
    )
