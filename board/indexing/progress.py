"""How far an index is: bytes, rate and time left, lines that were refused, the shard that took longest, and then
how far its frame is. Knows no engine."""

import time
from dataclasses import asdict, dataclass
from math import isfinite
from typing import Any

from board.indexing.engine import FinishedTask
from board.runs.part_folder import Piece
from board.runs.progress import Progress, lasting


@dataclass(frozen=True)
class SlowShard:
    """The shard that workers took longest over."""

    name: str
    seconds: float
    """Of workers' time, which may be more than has passed."""
    bytes: int


@dataclass(frozen=True)
class FrameProgress:
    """How far the frame of an index is."""

    done: int
    """Rollouts."""
    total: int
    seconds: float

    @property
    def seconds_left(self) -> float | None:
        """None while nobody can tell."""
        return self.seconds / self.done * (self.total - self.done) if self.done else None

    def words(self) -> str:
        """In a line."""
        left = "" if self.seconds_left is None else f", {lasting(self.seconds_left)} left"
        return f"frame: {self.done / max(1, self.total):.0%}, {self.done:,} of {self.total:,} rollouts{left}"

    def as_json(self) -> dict[str, Any]:
        """As JSON holds it."""
        return {**asdict(self), "seconds_left": self.seconds_left}


@dataclass(frozen=True)
class IndexProgress:
    """How far an index is. Bytes are those of shards, parsed or verified by this run of the command."""

    read: Progress
    bad_lines: int
    """That were refused."""
    failed: int
    """Byte ranges that could not be parsed, so far: they are tried again at the end."""
    slowest: SlowShard | None
    frame: FrameProgress | None = None
    """Once everything is parsed, and the frame is written out."""

    def words(self) -> str:
        """In a line."""
        if self.frame:
            return self.frame.words()
        left = f", {lasting(self.read.seconds_left)} left" if isfinite(self.read.seconds_left) else ""
        slow = f"; slowest {self.slowest.name} ({lasting(self.slowest.seconds)} of work)" if self.slowest else ""
        failed = f", {self.failed:,} ranges failed" if self.failed else ""
        return (
            f"{self.read.share:.0%}: {self.read.bytes_done / 1e6:,.0f} of {self.read.bytes_total / 1e6:,.0f} MB, "
            f"{self.read.rows:,} rollouts, {self.read.rate / 1e6:,.1f} MB/s{left}, {self.bad_lines:,} bad lines{failed}{slow}"
        )

    def as_json(self) -> dict[str, Any]:
        """As JSON holds it; `seconds_left` is null where nobody can tell."""
        return {
            "share": self.read.share,
            "bytes_done": self.read.bytes_done,
            "bytes_total": self.read.bytes_total,
            "rollouts": self.read.rows,
            "seconds": self.read.seconds,
            "bytes_per_second": self.read.rate,
            "seconds_left": self.read.seconds_left if isfinite(self.read.seconds_left) else None,
            "bad_lines": self.bad_lines,
            "failed_ranges": self.failed,
            "slowest_shard": asdict(self.slowest) if self.slowest else None,
            "frame": self.frame.as_json() if self.frame else None,
        }


class Tally:
    """Adds up what finished tasks say."""

    def __init__(self, bytes_total: int) -> None:
        self._bytes_total, self._began = bytes_total, time.monotonic()
        self._bytes = self._rows = self._bad_lines = 0
        self._work: dict[str, tuple[float, int]] = {}
        """By shard seconds and bytes."""

    def add(self, finished: FinishedTask) -> None:
        """Count a task that ended well, and how long any task took."""
        byte_range = finished.task.byte_range
        size = byte_range.stop - byte_range.start
        seconds, done = self._work.get(byte_range.shard.name, (0.0, 0))
        self._work[byte_range.shard.name] = seconds + finished.seconds, done + size
        if isinstance(finished.outcome, Piece):
            self._bytes += size
            self._rows += finished.outcome.rows
            self._bad_lines += finished.outcome.counts.get("refused", 0)

    def progress(self, failed: int) -> IndexProgress:
        """How far it is by now, so many ranges having failed."""
        read = Progress(self._bytes, self._bytes_total, self._rows, time.monotonic() - self._began)
        name = max(self._work, key=lambda one: self._work[one][0], default=None)
        return IndexProgress(read, self._bad_lines, failed, SlowShard(name, *self._work[name]) if name else None)
