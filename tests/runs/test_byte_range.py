"""board.runs.parsing.byte_range: what is kept of a byte range; parsing one leaves the process as it was."""

import gc
import json
from pathlib import Path

import pytest

from board.errors import RunNotFound
from board.runs.cache.parts import Part
from board.runs.parsing.byte_range import ByteRange, parse
from board.runs.read_options import ReadOptions
from board.sources.shards import find_shards


def whole(folder: Path, rows: int) -> ByteRange:
    """All of a shard of so many rows, of which the last has no number where one should be."""
    lines = [json.dumps({"step": at, "response": "a", "reward": "x" if at == rows - 1 else at}) for at in range(rows)]
    (folder / "a.jsonl").write_text("\n".join(lines) + "\n")
    ((shard,), _) = find_shards(folder)
    return ByteRange(shard, 0, shard.size, "native")


def test_a_piece_says_what_was_read(tmp_path: Path) -> None:
    """Rows, lines, problems with their lines, and a file for each part."""
    kept = list[Part]()

    piece = parse(whole(tmp_path, 3), ReadOptions(), kept.append)

    assert (piece.rows, piece.lines, piece.files, piece.counts) == (3, 3, (), {"flagged": 1})
    assert [line for line, _, _ in piece.problems] == [3]
    assert [len(part) for part in kept] == [3]


@pytest.mark.parametrize("collecting", [True, False])
def test_garbage_is_collected_after_as_before(tmp_path: Path, collecting: bool) -> None:
    """Not while a range is parsed; then again if it was, whatever comes of the range."""
    asked = list[bool]()

    def refused(part: Part) -> None:
        asked.append(gc.isenabled())
        raise OSError("the disk is full")

    before = gc.isenabled()
    (gc.enable if collecting else gc.disable)()
    try:
        with pytest.raises(OSError, match="full"):
            parse(whole(tmp_path, 2), ReadOptions(), refused)
        after = gc.isenabled()
    finally:
        (gc.enable if before else gc.disable)()

    assert (asked, after) == ([False], collecting)


def test_a_shard_that_was_cut_is_not_read(tmp_path: Path) -> None:
    """What is not there any more is no half of a row."""
    found = whole(tmp_path, 3)
    (tmp_path / "a.jsonl").write_text("{}\n")

    with pytest.raises(RunNotFound, match="cut while it was being read"):
        parse(found, ReadOptions(), lambda _: None)
