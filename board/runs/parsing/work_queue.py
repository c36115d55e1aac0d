"""Byte ranges that wait to be parsed, in an order that may change."""

import threading
from collections.abc import Callable, Iterable, Sequence

from board.runs.parsing.byte_range import ByteRange


class WorkQueue:
    """Each range is taken once, the first of them first. Threads share it."""

    def __init__(self, ranges: Iterable[ByteRange]) -> None:
        self._waiting = [*ranges]
        self._changing = threading.Lock()

    def __len__(self) -> int:
        """How many wait."""
        return len(self._waiting)

    def take(self) -> ByteRange | None:
        """The range whose turn it is; None when none waits."""
        with self._changing:
            return self._waiting.pop(0) if self._waiting else None

    def waiting(self) -> list[ByteRange]:
        """Those not taken yet, in their order."""
        with self._changing:
            return [*self._waiting]

    def prefer(self, is_preferred: Callable[[ByteRange], bool]) -> None:
        """Put the ranges for which `is_preferred` holds before the others, both in the order they are in."""
        with self._changing:
            self._waiting.sort(key=lambda byte_range: not is_preferred(byte_range))

    def keep_of(self, shard: str, ranges: Sequence[ByteRange]) -> None:
        """Of a shard these are missing now: what else waits of it goes, and those that did not wait come last."""
        with self._changing:
            left = [one for one in self._waiting if one.shard.name != shard or one in ranges]
            self._waiting = [*left, *(one for one in ranges if one not in left)]
