"""Tests of the room that a remote run needs: it is refused before it is fetched, with what it needs and what there is."""

from pathlib import Path

import pytest
from range_server import range_server
from rows import lines, token_row

from board import open_run
from board.errors import RunNotFound
from board.runs.cache import cache_care


def test_no_room(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing but the ends of its files has travelled, and the sentence says what to do; a run on this machine is none of its business."""
    (tmp_path / "run").mkdir()
    (tmp_path / "run" / "a.jsonl").write_bytes(lines(token_row(step, prompt="p" * 900) for step in range(2000)))
    monkeypatch.setattr(cache_care, "SPARE", 1 << 60)
    assert len(open_run(tmp_path / "run").frame) == 2000
    with range_server(tmp_path) as web:
        with pytest.raises(RunNotFound, match=r"needs about 2\.\d+ MB in the cache for what .* RL_BOARD_CACHE"):
            open_run(f"{web.address}/run")
        assert web.files_sent() <= 4 * 65_536
        monkeypatch.setattr(cache_care, "SPARE", 0)
        assert len(open_run(f"{web.address}/run").frame) == 2000


def test_free_bytes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of the disk where a cache that is not made yet would be."""
    monkeypatch.setenv("RL_BOARD_CACHE", str(tmp_path / "not" / "made"))
    folder, free = cache_care.free_bytes()
    assert folder == tmp_path
    assert free > 0
