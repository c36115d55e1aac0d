"""What was not written or not tracked, counted by reason, each reason logged once."""

import logging
import threading
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Final

logger = logging.getLogger("board.recorder")

FAILURES: Final = (Exception, SystemExit)
"""What a value, a hook or a library of the trainer's own may raise: one that wants to end the process does not end it from in here."""

QUOTED: Final = 200
"""Characters of an error that a warning quotes."""


WARNED: Final[Mapping[str, str]] = {
    "value": "a value cannot be written as JSON and is left out of its row",
    "row": "a row cannot be written",
    "queue": "the disk is slower than training and the queue is full",
    "redaction": "the redaction hook failed, so the row is not written",
    "disk": "the disk refuses",
    "account": "a file next to the rows cannot be written, which costs no row",
    "closed": "the recorder is closed",
    "tracker": "the tracker fails, and does not get its numbers",
    "tracker_queue": "the tracker is slower than training and its queue is full",
    "tracker_value": "a number cannot be tracked",
    "tracker_late": "a row came after the numbers of its step were handed to the tracker, and is not in them",
}
"""What is said of the first of a kind. How many there were is reported when the run is opened (`board/runs/parsing/recorder_account.py`)."""


class Losses:
    """Counts from any thread. One warning per reason, by `logging`: `warnings` raise under -W error."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._counts: Counter[str] = Counter()
        self._fresh: Counter[str] = Counter()
        self._lock = threading.RLock()

    def total(self, *, tracker: bool) -> int:
        """Everything lost so far: rows, and values of rows that were written without them; or all that a tracker did not get."""
        with self._lock:
            return sum(number for reason, number in self._counts.items() if reason.startswith("tracker") == tracker)

    def add(self, reason: str, detail: str = "", count: int = 1) -> None:
        """Count a loss; the first of its reason is also logged. `count` 0 logs what cost no row."""
        with self._lock:
            is_first = reason not in self._counts
            self._counts[reason] += count
            self._fresh += Counter({reason: count})
        if is_first:
            text = "Recording rollouts to %s: %s%s. Training goes on; later losses of this kind are only counted."
            logger.warning(text, self._folder, WARNED[reason], f" ({detail})" if detail else "")

    def take_new(self) -> Counter[str]:
        """What was lost since the last call, by reason: for the account that is written next to a shard."""
        with self._lock:
            fresh, self._fresh = self._fresh, Counter()
        return fresh


def described(error: BaseException) -> str:
    """An error as a warning quotes it, cut short; its type alone when its own text fails."""
    try:
        return f"{type(error).__name__}: {error}"[:QUOTED]
    except Exception:  # noqa: BLE001 - an error of the trainer's own may fail at being printed
        return type(error).__name__
