"""How far a load has come. Knows nothing of what is loaded."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Progress:
    """How far a load has come."""

    bytes_done: int
    bytes_total: int
    rows: int
    seconds: float

    @property
    def share(self) -> float:
        """Between 0 and 1."""
        return min(1.0, self.bytes_done / self.bytes_total) if self.bytes_total else 1.0

    @property
    def rate(self) -> float:
        """Bytes per second so far."""
        return self.bytes_done / self.seconds if self.seconds else 0.0

    @property
    def seconds_left(self) -> float:
        """At the rate so far; infinite while nothing has been read."""
        return max(0, self.bytes_total - self.bytes_done) / self.rate if self.rate else float("inf")
