"""Scan the runs that readers have open for findings, one at a time, those shown last first; again when they have grown."""

import math
import threading
import time
from collections.abc import Callable, Hashable
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Final

from board.errors import BoardError
from board.findings import messages
from board.findings.contract import FindingsReport, SetLimits
from board.runs.child_process import ChildProcess
from board.text.terminal import on_one_line


@dataclass(frozen=True)
class ScanOrder:
    """Which run to scan, how to read it, and with which thresholds."""

    location: Path
    within: Path
    """The folder that links in the run may lead to."""
    pads: tuple[str, ...] = ()
    tokenizer: str = ""
    mapping: str = ""
    family: str = ""
    limits: SetLimits = field(default_factory=dict)

    def written(self) -> dict[str, Any]:
        """The order as the worker reads it."""
        return vars(self) | {"location": str(self.location), "within": str(self.within)}


class _Unwanted(Exception):
    """No reader waits for the report any more."""


def scan(order: ScanOrder, tell: Callable[[float], bool]) -> FindingsReport | None:
    """Scan the run in a process; None where `tell`, which receives the share that is done every second, returns False and so ends it.

    Raises BoardError with one line on why there is no report.
    """

    def heard(share: float) -> None:
        if not tell(share):
            raise _Unwanted

    try:
        process = ChildProcess("board.findings.worker")
    except OSError as error:
        raise BoardError(f"No process could be started to scan the run: {error.strerror}.") from error
    with process:
        try:
            said = process.ask(order.written(), tell=heard)
        except _Unwanted:
            return None
        except OSError as error:
            raise BoardError(f"The process that looks for findings gave no answer: {error}.") from error
    if "report" not in said:
        raise BoardError(on_one_line(str(said.get("refused") or said.get("failed") or said)))
    return messages.report_from(said["report"])


FIRST_SECONDS: Final = 1.0
"""A run is scanned once it has been open for so long: the page that a reader waits for is drawn before."""

LEAST_SECONDS: Final = 10.0
LEAST_SCANS: Final = 5.0
"""Between two scans of a run that grows lie LEAST_SECONDS, and LEAST_SCANS times what the last one took."""

UNWATCHED_SECONDS: Final = 90.0
"""A reader who was not shown a run for so long has left it. A browser lets a page in the background ask once a minute."""

YIELD_SECONDS: Final = 10.0
"""A scan of a run that no reader was shown for so long gives way to that of another run."""

MOST_RUNS: Final = 8
"""So many reports stay in memory; those of the runs shown longest ago go first."""

Scan = Callable[[ScanOrder, Callable[[float], bool]], FindingsReport | None]


@dataclass(frozen=True)
class ScanState:
    """What is known of a run's findings now."""

    report: FindingsReport | None = None
    """Of the last completed scan."""
    current: bool = False
    """Whether that scan was of the run as it is shown."""
    share: float | None = None
    """Of the scan that is under way; None where none is."""
    seconds_left: float = math.nan
    """Until that ends; NaN where unknown."""
    waits: bool = False
    """Whether a scan is to come."""
    trouble: str = ""
    """Why the last scan failed: one line."""


@dataclass
class _Watched:
    order: ScanOrder
    stamp: Hashable
    """Of the run as it is shown: another one where it has grown."""
    since: float
    seen: float
    requested: bool = False
    """Whether a reader requested a scan."""
    scanned: tuple[ScanOrder, Hashable] | None = None
    """What the last scan was of, failed or not."""
    due: float = 0.0
    began: float = 0.0
    state: ScanState = field(default_factory=ScanState)


class Watcher:
    """The findings of the runs that are open on one server. `by_itself` says whether runs are scanned without a request.

    All methods return at once; a thread of its own waits for the process that scans. It ends with the server.
    """

    def __init__(self, *, by_itself: bool = True, scanner: Scan = scan) -> None:
        self.by_itself = by_itself
        self._scanner = scanner
        self._runs: dict[str, _Watched] = {}
        self._changed = threading.Condition()
        self._thread: threading.Thread | None = None

    def see(self, name: str, order: ScanOrder, stamp: Hashable, *, requested: bool = False) -> ScanState:
        """What is known of the run of that name, which is shown to a reader now, whole; it is scanned where that is due, or `requested`.

        `stamp` changes with the run on disk.
        """
        now = time.monotonic()
        with self._changed:
            watched = self._runs.pop(name, None) or _Watched(order, stamp, now, now)
            self._runs[name] = watched
            watched.order, watched.stamp, watched.seen = order, stamp, now
            watched.requested = watched.requested or requested
            while len(self._runs) > MOST_RUNS:
                self._runs.pop(next(iter(self._runs)))
            if self._is_pending(watched):
                self._begin()
                self._changed.notify_all()
            return replace(watched.state, current=watched.scanned == (order, stamp), waits=self._is_pending(watched))

    def known(self, name: str) -> FindingsReport | None:
        """What the last scan of the run of that name found, without counting as shown; None where none was completed."""
        with self._changed:
            watched = self._runs.get(name)
            return watched.state.report if watched else None

    def _is_pending(self, watched: _Watched) -> bool:
        """Whether it is to be scanned, now or later."""
        known = watched.scanned == (watched.order, watched.stamp) and not watched.requested
        return not known and (self.by_itself or watched.requested)

    def _begin(self) -> None:
        if self._thread is None:
            self._thread = threading.Thread(target=self._work, name="findings", daemon=True)
            self._thread.start()

    def _work(self) -> None:
        while True:
            with self._changed:
                while (watched := self._next()) is None:
                    self._changed.wait(self._pause())
            self._scan(watched)

    def _ready(self, watched: _Watched) -> float:
        """When it may be scanned; a scan with other thresholds, or one that is requested, does not wait for the run to grow on."""
        again = watched.scanned is not None and watched.scanned[0] == watched.order and not watched.requested
        return max(watched.since + FIRST_SECONDS, watched.due if again else 0.0)

    def _waiting(self) -> list[_Watched]:
        """Those that are to be scanned, those seen last first."""
        now = time.monotonic()
        return [one for one in reversed(self._runs.values()) if self._is_pending(one) and now - one.seen < UNWATCHED_SECONDS]

    def _next(self) -> _Watched | None:
        now = time.monotonic()
        return next((one for one in self._waiting() if self._ready(one) <= now), None)

    def _pause(self) -> float | None:
        """Seconds until the next may be scanned; None where none waits, until one is seen."""
        now = time.monotonic()
        return min((max(0.01, self._ready(one) - now) for one in self._waiting()), default=None)

    def _scan(self, watched: _Watched) -> None:
        order, stamp, began = watched.order, watched.stamp, time.monotonic()
        watched.began, watched.state = began, replace(watched.state, share=0.0, seconds_left=math.nan)
        report, trouble = None, ""
        try:
            report = self._scanner(order, lambda share: self._note_progress(watched, share))
        except BoardError as error:
            trouble = str(error)
        except Exception as error:  # noqa: BLE001 - the thread serves the next run too, and the screen says it
            trouble = f"{type(error).__name__}: {error}"
        with self._changed:
            ended = time.monotonic()
            watched.due = ended + max(LEAST_SECONDS, LEAST_SCANS * (ended - began))
            if report is None and not trouble:  # it gave way
                watched.state = replace(watched.state, share=None, seconds_left=math.nan)
                return
            watched.scanned, watched.requested = (order, stamp), False
            watched.state = ScanState(report or watched.state.report, trouble=trouble)

    def _note_progress(self, watched: _Watched, share: float) -> bool:
        """Note how far a scan is; whether it is to go on."""
        now = time.monotonic()
        left = (now - watched.began) * (1 - share) / share if share > 0 else math.nan
        watched.state = replace(watched.state, share=share, seconds_left=left)
        with self._changed:
            others = any(one is not watched for one in self._waiting())
        return now - watched.seen < (YIELD_SECONDS if others else UNWATCHED_SECONDS)
