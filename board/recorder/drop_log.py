"""What was not written or not tracked, counted by reason and said once each. Knows nothing of rows or files."""

import logging
import threading
from collections import Counter
from pathlib import Path
from typing import Final, Literal, NamedTuple

logger = logging.getLogger("board.recorder")

Reason = Literal[
    "value",
    "row",
    "queue",
    "redaction",
    "budget",
    "disk",
    "removed",
    "account",
    "closed",
    "tracker",
    "tracker_queue",
    "tracker_value",
    "tracker_late",
]

FAILURES: Final = (Exception, SystemExit)
"""What a value, a hook or a library of the trainer's own may raise: one that wants to end the process does not end it from in here."""

QUOTED: Final = 200
"""Characters of an error that a warning quotes."""


class Loss(NamedTuple):
    """What a reason means."""

    warned: str
    """What is said of the first, while training goes on."""
    counted: str
    """What is said of so many, by whoever opens what was recorded: it follows their number."""


LOST_ROWS: Final[dict[Reason, Loss]] = {
    "value": Loss("a value cannot be written as JSON and is left out of its row", "values could not be written"),
    "row": Loss("a row cannot be written", "rollouts could not be written"),
    "queue": Loss(
        "the disk is slower than training and the queue is full",
        "rollouts were dropped because the disk was slower than training",
    ),
    "redaction": Loss(
        "the redaction hook failed, so the row is not written", "rollouts were held back because the redaction failed"
    ),
    "budget": Loss(
        "rows cannot be measured for the budget and are written whole",
        "rollouts could not be measured for the budget and were written whole",
    ),
    "disk": Loss("the disk refuses", "rollouts were refused by the disk"),
    "removed": Loss(
        "the file was removed, moved away or emptied by somebody else, with the rows in it, and is made again",
        "rollouts were removed, with their file, while it was being written",
    ),
    "account": Loss("the account beside the shard cannot be kept", "updates of the account failed"),
    "closed": Loss("the recorder is closed", "rollouts came after the recorder was closed"),
}
"""What the run lacks."""

UNTRACKED: Final[dict[Reason, Loss]] = {
    "tracker": Loss("the tracker fails, and does not get its numbers", "handovers to the tracker failed"),
    "tracker_queue": Loss(
        "the tracker is slower than training and its queue is full",
        "handovers were dropped because the tracker was slower than training",
    ),
    "tracker_value": Loss("a number cannot be tracked", "numbers could not be tracked"),
    "tracker_late": Loss(
        "a row came after the numbers of its step were handed to the tracker, and is not in them",
        "rollouts came after the numbers of their step had left, and are not in them",
    ),
}
"""What a tracker did not get, which costs no row: the run itself lacks nothing."""


class Losses:
    """Counts from any thread. One warning per reason, by `logging`: `warnings` raise under -W error."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._counts: Counter[str] = Counter()
        self._told: Counter[str] = Counter()
        self._warned: set[str] = set()
        self._lock = threading.Lock()

    @property
    def total(self) -> int:
        """Everything lost so far: rows, and values of rows that were written without them."""
        with self._lock:
            return self._counts.total() - self._untracked()

    @property
    def untracked(self) -> int:
        """Everything a tracker did not get so far: numbers of a step, single numbers, rows that came too late for them."""
        with self._lock:
            return self._untracked()

    def _untracked(self) -> int:
        return sum(self._counts[reason] for reason in UNTRACKED)

    def add(self, reason: Reason, detail: str = "", count: int = 1) -> None:
        """Count a loss; the first of its reason is also logged. `count` 0 logs what cost no row."""
        with self._lock:
            self._counts[reason] += count
            first = reason not in self._warned
            self._warned.add(reason)
        if first:
            text = "Recording rollouts to %s: %s%s. Training goes on; later losses of this kind are only counted."
            logger.warning(text, self.folder, (LOST_ROWS | UNTRACKED)[reason].warned, f" ({detail})" if detail else "")

    def untold(self) -> Counter[str]:
        """What was lost since the last call, by reason: for the account that is kept beside a shard."""
        with self._lock:
            fresh, self._told = self._counts - self._told, self._counts.copy()
        return fresh


def described(error: BaseException) -> str:
    """An error as a warning quotes it, cut short; its type alone when its own text fails."""
    try:
        return f"{type(error).__name__}: {error}"[:QUOTED]
    except Exception:  # noqa: BLE001 - an error of the trainer's own may fail at being printed
        return type(error).__name__
