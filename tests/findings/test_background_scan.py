"""Which run is scanned, when, and what readers see meanwhile. Functions that wait to be released replace the scans."""

import threading
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from board.errors import BoardError
from board.findings import background_scan
from board.findings.background_scan import ScanOrder, ScanState, Watcher
from board.findings.contract import FindingsReport

NOTHING = FindingsReport((), ("proxy_gold_gap",), ())


class Scans:
    """Scans that end when they are told to: `answers` by the folder's name, else NOTHING at once."""

    def __init__(self) -> None:
        self.scanned: list[str] = []
        self.held: dict[str, threading.Event] = {}
        self.trouble: dict[str, Exception] = {}

    def __call__(self, order: ScanOrder, tell: Callable[[float], bool]) -> FindingsReport | None:
        """One scan, in the thread of the watcher."""
        name = order.location.name
        self.scanned.append(name)
        held = self.held.get(name)
        while held and not held.wait(0.01):
            if not tell(0.5):
                return None
        if name in self.trouble:
            raise self.trouble[name]
        return NOTHING


def order(name: str) -> ScanOrder:
    """A scan of the run of that name."""
    return ScanOrder(Path(name), Path())


def until(said: Callable[[], ScanState], true: Callable[[ScanState], bool]) -> ScanState:
    """What is known once that is true of it."""
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline:
        state = said()
        if true(state):
            return state
        time.sleep(0.01)
    raise AssertionError(state)


@pytest.fixture(autouse=True)
def _quick(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without the wait for the first page, which other tests need not sit through."""
    monkeypatch.setattr(background_scan, "FIRST_SECONDS", 0.0)


def test_a_run_is_looked_through_once_for_all_readers() -> None:
    """The second reader gets the result of the first one's scan; a run that stays as it is is not scanned again."""
    scans = Scans()
    watcher = Watcher(scanner=scans)

    first = until(lambda: watcher.see("a", order("a"), 1), lambda state: state.report is not None)
    second = watcher.see("a", order("a"), 1)

    assert first == second == ScanState(NOTHING, current=True)
    assert scans.scanned == ["a"]


def test_how_far_it_is_is_said_meanwhile() -> None:
    """The share, and the time that is left at that pace."""
    scans = Scans()
    scans.held["a"] = threading.Event()
    watcher = Watcher(scanner=scans)

    state = until(lambda: watcher.see("a", order("a"), 1), lambda state: state.share == 0.5)

    assert state.waits
    assert state.seconds_left >= 0
    assert state.report is None
    scans.held["a"].set()
    assert until(lambda: watcher.see("a", order("a"), 1), lambda state: state.current).share is None


def test_a_run_that_grew_is_looked_through_again_but_not_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Until its time has come the last report stays, and is said to be of before; thresholds of another kind do not wait."""
    scans = Scans()
    watcher = Watcher(scanner=scans)
    until(lambda: watcher.see("a", order("a"), 1), lambda state: state.current)

    grown = watcher.see("a", order("a"), 2)
    assert (grown.report, grown.current, grown.waits) == (NOTHING, False, True)
    time.sleep(0.05)
    assert scans.scanned == ["a"]
    other = ScanOrder(Path("a"), Path(), limits={"proxy_gold_gap": {"gap": 1.0}})
    until(lambda: watcher.see("a", other, 2), lambda state: state.current)

    assert scans.scanned == ["a", "a"]


def test_what_fails_is_said_and_not_tried_again(monkeypatch: pytest.MonkeyPatch) -> None:
    """Until the run changes; the thread goes on with other runs, whatever was raised."""
    monkeypatch.setattr(background_scan, "LEAST_SECONDS", 0.0)
    monkeypatch.setattr(background_scan, "LEAST_SCANS", 0.0)
    scans = Scans()
    scans.trouble = {"a": BoardError("it is gone"), "b": ValueError("odd")}
    watcher = Watcher(scanner=scans)

    failed = until(lambda: watcher.see("a", order("a"), 1), lambda state: bool(state.trouble))
    assert (failed.trouble, failed.current, failed.report) == ("it is gone", True, None)
    assert until(lambda: watcher.see("b", order("b"), 1), lambda state: bool(state.trouble)).trouble == "ValueError: odd"
    for _ in range(5):
        watcher.see("a", order("a"), 1)
        time.sleep(0.01)
    assert scans.scanned == ["a", "b"]
    scans.trouble.clear()
    assert until(lambda: watcher.see("a", order("a"), 2), lambda state: state.report is not None).trouble == ""


def test_one_look_at_a_time_and_the_run_seen_last_first() -> None:
    """Two runs wait while a third is scanned: the one that was seen last has its turn first."""
    scans = Scans()
    scans.held["a"] = threading.Event()
    watcher = Watcher(scanner=scans)
    until(lambda: watcher.see("a", order("a"), 1), lambda state: state.share is not None)
    for name in ("b", "c"):
        watcher.see(name, order(name), 1)
    scans.held["a"].set()
    until(lambda: watcher.see("b", order("b"), 1), lambda state: state.current and len(scans.scanned) == 3)

    assert scans.scanned[0] == "a"
    assert sorted(scans.scanned[1:]) == ["b", "c"]


def test_a_look_nobody_is_shown_gives_way(monkeypatch: pytest.MonkeyPatch) -> None:
    """The process is ended, another run has its turn, and the first comes again once it is seen again."""
    monkeypatch.setattr(background_scan, "YIELD_SECONDS", 0.05)
    scans = Scans()
    scans.held["a"] = threading.Event()
    watcher = Watcher(scanner=scans)
    until(lambda: watcher.see("a", order("a"), 1), lambda state: state.share is not None)
    until(lambda: watcher.see("b", order("b"), 1), lambda state: state.current)
    scans.held["a"].set()

    assert until(lambda: watcher.see("a", order("a"), 1), lambda state: state.current).report is NOTHING


def test_unasked_nothing_is_looked_through_where_that_is_turned_off() -> None:
    """A reader may request one scan."""
    scans = Scans()
    watcher = Watcher(by_itself=False, scanner=scans)
    assert watcher.see("a", order("a"), 1) == ScanState()
    time.sleep(0.05)
    assert not scans.scanned

    watcher.see("a", order("a"), 1, requested=True)

    assert until(lambda: watcher.see("a", order("a"), 1), lambda state: state.current).report is NOTHING
    assert not watcher.see("a", order("a"), 2).waits
