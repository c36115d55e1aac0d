"""Tests of the pages over an index whose run is gone: all of them come up, as they would for the run."""

from pathlib import Path

import pytest
from indexed import indexed
from opened_pages import every_page
from rows import token_row, write_run


def test_every_page_opens_without_the_shards(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """No page needs a shard, and none fails."""
    rows = [token_row(step, prompt=f"p{i}", reward=float(i)) for step in range(3) for i in range(4)]
    run = write_run(tmp_path / "run", {"rank_0.jsonl": rows})
    indexed(run, tmp_path / "root" / "index")
    (run / "rank_0.jsonl").unlink()
    monkeypatch.setenv("RL_BOARD_ROOT", str(tmp_path / "root" / "index"))

    seen = {name: [*page.exception] for name, page in every_page(run=".", step=1)}

    assert len(seen) > 8
    assert {name: errors for name, errors in seen.items() if errors} == {}
