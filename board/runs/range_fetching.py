"""Byte ranges of a remote run, fetched before they are parsed: those that are parsed next at the same time, in the order of the queue.

Of a run on this machine nothing is fetched, and nothing waited for. Knows no store and no rollout.
"""

from collections.abc import Callable
from pathlib import Path
from threading import Event
from typing import Final

from board.errors import RunNotFound
from board.runs.byte_range import ByteRange
from board.runs.work_queue import WorkQueue
from board.sources import presence

AHEAD: Final = 4
"""So many ranges that are not taken yet are fetched meanwhile."""


class RangeFetching:
    """Of one load. Threads share it."""

    def __init__(self, work: WorkQueue, under_way: dict[str, int]) -> None:
        self._work, self._under_way = work, under_way
        self._ended = Event()

    def trouble(self, byte_range: ByteRange, tick: Callable[[], None] = lambda: None) -> RunNotFound | None:
        """Wait until the bytes of a range are on this machine; why they are not to be had, if they are not.

        `tick` is called while waiting, and may raise.
        """
        if not presence.is_remote(byte_range.shard.path):
            return None

        def waited() -> None:
            if self._ended.is_set():
                raise InterruptedError
            tick()

        try:
            presence.ask_for([_span(byte_range)])
            presence.ask_for(map(_span, self._work.waiting()[:AHEAD]))
            presence.bring([_span(byte_range), *((path, 0, path.stat().st_size) for path in _companions(byte_range))], waited)
        except OSError as error:
            return RunNotFound(f"cannot be read: {error.strerror or error}")
        return None

    def close(self) -> None:
        """Wait for nothing any more."""
        self._ended.set()


def _span(byte_range: ByteRange) -> presence.Span:
    return byte_range.shard.path, byte_range.start, byte_range.stop


def _companions(byte_range: ByteRange) -> list[Path]:
    return [Path(path) for path in byte_range.shard.companions]
