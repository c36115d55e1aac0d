"""Tests of the processes that parse beside this one."""

import os
import signal
from functools import partial
from pathlib import Path

from rows import token_row, write_shard

from board.runs import worker_pool
from board.runs.byte_range import ByteRange
from board.runs.part_folder import Piece
from board.runs.read_options import ReadOptions
from board.runs.store import Store
from board.runs.worker import order_for
from board.sources import shards


def _children() -> list[int]:
    """The processes this one started."""
    return [int(child) for task in Path("/proc/self/task").iterdir() for child in (task / "children").read_text().split()]


def test_killed_worker_is_replaced(tmp_path: Path) -> None:
    """A parsing process that the machine killed costs the stretch it had; the next one gets a new process."""
    folder = tmp_path / "run"
    write_shard(folder / "rank_0.jsonl.gz", [token_row(at) for at in range(100)])
    shard = shards.find_shards(folder)[0][0]
    stretch = ByteRange(shard, 0, shard.size, "native")
    store = Store(folder)
    store.open()
    with worker_pool.helpers(1, partial(order_for, store, ReadOptions()), OSError, {}) as submit:
        others = {*_children()}
        first = submit(lambda: stretch).result()
        for process in {*_children()} - others:
            os.kill(process, signal.SIGKILL)
            os.waitid(os.P_PID, process, os.WEXITED | os.WNOWAIT)
        second = submit(lambda: stretch).result()

    assert first is not None
    assert second is not None
    assert isinstance(first[1], Piece)
    assert isinstance(second[1], Piece)
    assert second[1].rows == 100


def test_ended_with_the_load(tmp_path: Path) -> None:
    """A load that is left, though a stretch is under way, leaves no process behind."""
    folder = tmp_path / "run"
    write_shard(folder / "rank_0.jsonl.gz", [token_row(at) for at in range(50_000)])
    shard = shards.find_shards(folder)[0][0]
    store = Store(folder)
    store.open()
    seen: dict[str, int] = {}
    others = {*_children()}
    with worker_pool.helpers(1, partial(order_for, store, ReadOptions()), OSError, seen) as submit:
        future = submit(lambda: ByteRange(shard, 0, shard.size, "native"))
        while not seen:
            assert not future.done()
        assert {*_children()} - others

    assert not {*_children()} - others
    ended = future.result()
    assert ended is not None
    assert isinstance(ended[1], OSError)
    assert not [*store.folder.glob("*.json")]
