"""board.runs.parsing.parsed_shard: what is missing of a shard is cut into ranges of one size."""

from pathlib import Path

import pytest
from rows import token_row, write_shard

from board.runs.parsing import parsed_shard
from board.runs.parsing.parsed_shard import from_cache, missing
from board.sources import shards

CUT = 4_000
"""Bytes that are parsed at once in these tests."""


@pytest.mark.parametrize("rows", [1, 30, 100, 163, 400])
def test_ranges_are_of_one_size(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, rows: int) -> None:
    """They cover the shard, are near the size that is asked for, and differ by the length of some lines."""
    monkeypatch.setattr(parsed_shard, "RANGE_BYTES", CUT)
    write_shard(tmp_path / "rank_0.jsonl", [token_row(at) for at in range(rows)])
    (shard,) = shards.find_shards(tmp_path)[0]
    longest = max(map(len, (tmp_path / "rank_0.jsonl").read_bytes().splitlines(keepends=True)))

    ranges = missing(from_cache(shard, None, ""))
    sizes = [one.stop - one.start for one in ranges]

    assert [one.start for one in ranges] == [0, *(one.stop for one in ranges)][: len(ranges)]
    assert ranges[-1].stop == shard.size
    assert max(sizes) - min(sizes) <= 2 * longest
    assert len(ranges) == max(1, round(shard.size / CUT))
