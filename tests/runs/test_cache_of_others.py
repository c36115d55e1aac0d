"""A test of a cache that another user of this machine made."""

import json
import os
from pathlib import Path

import pytest
from read_rows import prompts
from rows import token_row

from board import open_run
from board.runs.cache.store import Store


@pytest.mark.skipif(os.name == "nt" or os.geteuid() != 0, reason="only root makes folders of others")
def test_cache_of_another_user_is_not_read(tmp_path: Path) -> None:
    """In a cache that all may write another user may have made our folder first: what he says of the run is not shown, and it is told."""
    path = tmp_path / "run" / "rank_0.jsonl"
    path.parent.mkdir()
    path.write_bytes(b"".join(json.dumps(token_row(step, prompt=f"false {step}.")).encode() + b"\n" for step in range(400)))
    times = path.stat()
    open_run(path.parent)
    path.write_bytes(path.read_bytes().replace(b"false 200.", b"truth 200."))
    os.utime(path, ns=(times.st_atime_ns, times.st_mtime_ns))
    assert "false 200." in prompts(open_run(path.parent))  # what the cache says of these bytes
    os.chown(Store(path.parent).folder.parent, 12_345, -1)

    run = open_run(path.parent)

    assert "truth 200." in prompts(run)
    assert "another user" in run.report.cache_note
