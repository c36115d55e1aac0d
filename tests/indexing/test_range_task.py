"""Tests of what a worker does with one range: what it must not work on it refuses, and a fault is told, whatever it is."""

from pathlib import Path
from typing import Any

import pytest
from found_shards import only_shard
from indexed import indexed
from rows import row, write_run

from board.indexing import range_task
from board.indexing.destination import FolderDestination
from board.indexing.range_task import RangeTask, Site
from board.runs.byte_range import ByteRange
from board.runs.read_options import ReadOptions
from board.sources import index_file

UNFIT: dict[str, tuple[dict[str, Any], str]] = {
    "another version": ({"store": "v-other"}, "has another version of the board"),
    "no index here": ({"index": "/nowhere"}, "does not see the index"),
    "another index": ({"owner": "other"}, "took the place of this one"),
    "an order that makes no sense": ({"range": {}}, "KeyError"),
}


@pytest.mark.parametrize("name", UNFIT)
def test_is_failed_with_a_reason(name: str, tmp_path: Path) -> None:
    """The range may be tried again, by a worker that is fit."""
    run = write_run(tmp_path / "run", {"rank_0.jsonl": [row()]})
    indexed(run, tmp_path / "index")
    change, said = UNFIT[name]
    shard = only_shard(run)
    site = Site(FolderDestination(tmp_path / "index").order(), index_file.read(tmp_path / "index")["id"], ReadOptions())
    order = site.order(RangeTask(ByteRange(shard, 0, shard.size, "native")))

    assert "piece" in range_task.answer(order, lambda _: None)
    assert said in range_task.answer({**order, **change}, lambda _: None)["failed"]
