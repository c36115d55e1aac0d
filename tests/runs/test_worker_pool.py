"""Tests of the processes that parse beside this one."""

import json
import os
import signal
import subprocess
import sys
import threading
import time
from concurrent.futures import FIRST_COMPLETED, wait
from contextlib import suppress
from functools import partial
from pathlib import Path

from rows import token_row, write_shard

import board
from board.runs.cache.part_folder import Piece
from board.runs.cache.store import Store
from board.runs.parsing import worker_pool
from board.runs.parsing.byte_range import ByteRange
from board.runs.parsing.work_queue import WorkQueue
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


def test_killed_worker_is_replaced(tmp_path: Path) -> None:
    """A parsing process that the machine killed costs the stretch it had; the next one gets a new process."""
    folder = tmp_path / "run"
    write_shard(folder / "rank_0.jsonl.gz", [token_row(at) for at in range(100)])
    shard = shards.find_shards(folder)[0][0]
    stretch = ByteRange(shard, 0, shard.size, "native")
    store = Store(folder)
    store.open()
    with worker_pool.helpers(1, partial(order_for, store, ReadOptions()), OSError, {}) as helpers:
        others = {*_children()}
        first = helpers.submit(lambda: stretch).result()
        for process in {*_children()} - others:
            os.kill(process, signal.SIGKILL)
            os.waitid(os.P_PID, process, os.WEXITED | os.WNOWAIT)
        second = helpers.submit(lambda: stretch).result()

    assert first is not None
    assert second is not None
    assert isinstance(first[1], Piece)
    assert isinstance(second[1], Piece)
    assert second[1].rows == 100


def test_no_more_are_started_than_parse_at_a_time(tmp_path: Path) -> None:
    """The thread that parses here is now one and now another: whoever needs a process takes the one that is free."""
    folder = tmp_path / "run"
    write_shard(folder / "rank_0.jsonl", [token_row(at) for at in range(10)])
    shard = shards.find_shards(folder)[0][0]
    stretch = ByteRange(shard, 0, shard.size, "native")
    store = Store(folder)
    store.open()
    others, started = {*_children()}, set[int]()
    go_on = threading.Semaphore(0)

    def here(_: ByteRange) -> OSError:
        go_on.acquire()
        return OSError("here")

    with worker_pool.helpers(2, partial(order_for, store, ReadOptions()), here, {}) as helpers:
        for _ in range(4):
            both = [helpers.submit(lambda: stretch) for _ in range(2)]
            wait(both, return_when=FIRST_COMPLETED)
            go_on.release()
            wait(both)
            started |= {*_children()} - others

    assert len(started) == 1


def test_they_end_when_nothing_more_comes(tmp_path: Path) -> None:
    """Once all outcomes are in they end, while whoever asked for them goes on in the context."""
    folder = tmp_path / "run"
    write_shard(folder / "rank_0.jsonl.gz", [token_row(at) for at in range(100)])
    shard = shards.find_shards(folder)[0][0]
    store = Store(folder)
    store.open()
    others = {*_children()}
    work = WorkQueue([ByteRange(shard, 0, shard.size, "native")])
    with worker_pool.helpers(1, partial(order_for, store, ReadOptions()), None, {}) as helpers:
        ((_, outcome),) = worker_pool.outcomes(helpers, work, lambda: None)
        (process,) = {*_children()} - others
        deadline = time.monotonic() + 60
        while not (ended := os.waitid(os.P_PID, process, os.WEXITED | os.WNOWAIT | os.WNOHANG)) and time.monotonic() < deadline:
            time.sleep(0.01)

    assert isinstance(outcome, Piece)
    assert ended is not None
    assert ended.si_status == signal.SIGKILL


def test_ended_with_the_load(tmp_path: Path) -> None:
    """A load that is left, though a stretch is under way, leaves no process behind."""
    folder = tmp_path / "run"
    write_shard(folder / "rank_0.jsonl.gz", [token_row(at) for at in range(50_000)])
    shard = shards.find_shards(folder)[0][0]
    store = Store(folder)
    store.open()
    seen: dict[str, int] = {}
    others = {*_children()}
    with worker_pool.helpers(1, partial(order_for, store, ReadOptions()), OSError, seen) as helpers:
        future = helpers.submit(lambda: ByteRange(shard, 0, shard.size, "native"))
        while not seen:
            assert not future.done()
        assert {*_children()} - others

    assert not {*_children()} - others
    ended = future.result()
    assert ended is not None
    assert isinstance(ended[1], OSError)
    assert not [*store.folder.glob("*.json")]


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
