"""How far a load has come."""

from dataclasses import dataclass
from math import isfinite


@dataclass(frozen=True)
class Progress:
    """How far a load has come."""

    bytes_done: int
    bytes_total: int
    rows: int
    seconds: float
    bytes_cached: int = 0
    """Of those done: what an earlier load had read."""

    @property
    def share(self) -> float:
        """Between 0 and 1."""
        return min(1.0, self.bytes_done / self.bytes_total) if self.bytes_total else 1.0

    @property
    def rate(self) -> float:
        """Bytes per second so far."""
        return (self.bytes_done - self.bytes_cached) / self.seconds if self.seconds else 0.0

    @property
    def seconds_left(self) -> float:
        """At the rate so far; infinite while nothing has been read."""
        return max(0, self.bytes_total - self.bytes_done) / self.rate if self.rate > 0 else float("inf")


@dataclass(frozen=True)
class Reading:
    """How much of a run is read that is not read whole."""

    progress: Progress
    rows: int
    """Rollouts there are to read, those of a sample included."""
    rows_expected: int
    """A guess from the rows and bytes read so far."""
    stopped: bool = False
    """Whether reading has stopped."""
    trouble: str = ""
    """Why it cannot be read on; empty where nothing is wrong."""
    command: str = ""
    """Of a run that is larger than what is opened: the command that makes all of it readable. Empty of any other."""

    def words(self, progress: Progress | None = None) -> str:
        """How far the reading is, in a line; `progress` is how far it has come since."""
        if self.command:
            return f"A sample of this run: {self.rows:,} of about {self.rows_expected:,} rollouts"
        now = progress or self.progress
        rows = max(now.rows, self.rows)
        counted = f"{now.share:.0%} · {rows:,} of about {max(rows, self.rows_expected):,} rollouts"
        if self.stopped:
            return f"A part of this run: {counted}"
        left = f" · {lasting(now.seconds_left)} left" if isfinite(now.seconds_left) else ""
        return f"Reading: {counted}{left}"


def lasting(seconds: float) -> str:
    """A time as readers see it: in seconds, or minutes where it is long."""
    return f"{seconds:.0f} s" if seconds < 100 else f"{seconds / 60:.0f} min"
