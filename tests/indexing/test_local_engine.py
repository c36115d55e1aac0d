"""Tests of the engine that has processes of this machine parse."""

from pathlib import Path

import pytest
from indexed import assert_same, indexed
from rows import token_row, write_run

from board import open_run
from board.indexing.local_engine import LocalEngine


@pytest.mark.parametrize("workers", [1, 3])
def test_processes_make_the_same_index(workers: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Row for row what the cache shows, and every range is timed."""
    monkeypatch.setattr("board.runs.parsed_shard.RANGE_BYTES", 4_000)
    monkeypatch.setattr("board.runs.range_parsing.SMALL_BYTES", 0)
    run = write_run(tmp_path / "run", {f"rank_{at}.jsonl": [token_row(step) for step in range(60)] for at in range(2)})

    result = indexed(run, tmp_path / "index", LocalEngine(workers))

    assert (result.rollouts, result.failed) == (120, [])
    assert result.ranges_parsed > 4
    assert result.progress is not None
    assert result.progress.slowest is not None
    assert result.progress.slowest.seconds > 0
    assert_same(open_run(tmp_path / "index"), open_run(run))
