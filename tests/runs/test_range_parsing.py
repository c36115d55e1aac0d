"""Tests of the processes that parse beside this one."""

import json
import os
import signal
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path

import pytest
from rows import token_row, write_shard

import board
from board.runs.cache.part_folder import Piece
from board.runs.cache.store import Store
from board.runs.child_process import Ask, Helpers
from board.runs.parsing import range_parsing
from board.runs.parsing.byte_range import ByteRange
from board.runs.parsing.range_parsing import RangeParser, WorkQueue
from board.runs.parsing.worker import order_for
from board.runs.read_options import ReadOptions
from board.sources import shards


def _children() -> list[int]:
    """The processes this one started, those that ended and were not waited for among them.

    Asked by parent of every process: a thread that ends, as timers do, takes its own list along.
    """
    found = []
    for stat in Path("/proc").glob("[0-9]*/stat"):
        with suppress(FileNotFoundError, ProcessLookupError):
            if stat.read_text(errors="replace").rpartition(")")[2].split()[1] == str(os.getpid()):
                found.append(int(stat.parent.name))
    return found


def found(folder: Path, rows: int) -> tuple[Store, ByteRange]:
    """A compressed shard of so many rows, and where its parts are to lie."""
    write_shard(folder / "rank_0.jsonl.gz", [token_row(at) for at in range(rows)])
    shard = shards.find_shards(folder)[0][0]
    store = Store(folder)
    store.open()
    return store, ByteRange(shard, 0, shard.size, "native")


@pytest.fixture(autouse=True)
def _by_processes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(range_parsing, "SMALL_BYTES", 0)


def test_killed_worker_is_replaced(tmp_path: Path) -> None:
    """A parsing process that the machine killed costs the range it had; the next one gets a new process."""
    store, byte_range = found(tmp_path / "run", 100)
    others = {*_children()}
    parser = RangeParser(store, ReadOptions(), "")
    with parser.parsing(WorkQueue([byte_range]), lambda: None) as outcomes:
        while not (started := {*_children()} - others):
            time.sleep(0.01)
        for process in started:
            os.kill(process, signal.SIGKILL)
        ((_, first),) = outcomes
    with parser.parsing(WorkQueue([byte_range]), lambda: None) as outcomes:
        ((_, second),) = outcomes

    assert isinstance(first, OSError)
    assert "ended" in str(first)
    assert isinstance(second, Piece)
    assert second.rows == 100


def test_who_ends_between_two_orders_is_replaced(tmp_path: Path) -> None:
    """Each order is answered, by whichever process."""
    store, byte_range = found(tmp_path / "run", 10)
    others, waiting = {*_children()}, [byte_range] * 3

    def take() -> ByteRange | None:
        for process in {*_children()} - others:
            os.kill(process, signal.SIGKILL)
            os.waitid(os.P_PID, process, os.WEXITED | os.WNOWAIT)
        return waiting.pop() if waiting else None

    def rows(one: ByteRange, ask: Ask) -> int:
        return int(ask(order_for(store, ReadOptions(), one), lambda _: None)["piece"]["rows"])

    with Helpers("board.runs.parsing.worker", take, [rows]) as helpers:
        assert [count for _, count in helpers.results(lambda: None)] == [10] * 3


def test_they_end_when_nothing_more_comes(tmp_path: Path) -> None:
    """Once all outcomes are in none is left, while whoever asked for them goes on in the context."""
    store, byte_range = found(tmp_path / "run", 100)
    others = {*_children()}
    with RangeParser(store, ReadOptions(), "").parsing(WorkQueue([byte_range]), lambda: None) as outcomes:
        ((_, outcome),) = outcomes
        assert not {*_children()} - others

    assert isinstance(outcome, Piece)


def test_ended_with_the_load(tmp_path: Path) -> None:
    """A load that is left, though a range is under way, leaves no process behind, and no manifest."""
    store, byte_range = found(tmp_path / "run", 50_000)
    others = {*_children()}
    parser = RangeParser(store, ReadOptions(), "")

    def leave() -> None:
        if parser.under_way:
            assert {*_children()} - others
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt), parser.parsing(WorkQueue([byte_range]), leave) as outcomes:
        list(outcomes)

    assert not {*_children()} - others
    assert not [*store.folder.glob("*.json")]


def test_what_a_work_raises_is_raised_where_its_results_are_taken() -> None:
    """A fault of ours is no outcome that is missing."""

    def fails(given: int, ask: Ask) -> int:
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError), Helpers("none", iter([1, None]).__next__, [fails]) as helpers:
        list(helpers.results(lambda: None))


_UNGUARDED = """
import json, os, sys
from board import open_run
from board.runs.parsing import parsed_shard, range_parsing

range_parsing.SMALL_BYTES, parsed_shard.RANGE_BYTES = 0, 3_000
os.sched_getaffinity = lambda _: {0, 1, 2}
started = []
sys.addaudithook(lambda event, _: started.append(event) if event in ("os.fork", "subprocess.Popen") else None)
run = open_run(sys.argv[1])
try:
    left = [os.waitpid(-1, os.WNOHANG)]
except ChildProcessError:  # there is none
    left = []
print(json.dumps([len(started) > 0, left, run.frame["reward"].tolist(), run.report.cache_note]))
"""


def test_a_script_without_a_guard_of_its_main_part_is_run_once(tmp_path: Path) -> None:
    """It opens a run with processes beside it that know nothing of it; none is left, no row differs."""
    folder = tmp_path / "run"
    rewards = [at / 8 for at in range(200)]
    write_shard(folder / "rank_0.jsonl", [token_row(0, reward=reward) for reward in rewards])
    (tmp_path / "script.py").write_text(_UNGUARDED)
    environment = os.environ | {"RL_BOARD_CACHE": str(tmp_path / "cache"), "PYTHONPATH": str(Path(board.__file__).parents[1])}
    command = [sys.executable, str(tmp_path / "script.py"), str(folder)]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=120, check=True)

    assert [json.loads(line) for line in done.stdout.splitlines()] == [[True, [], rewards, ""]]
