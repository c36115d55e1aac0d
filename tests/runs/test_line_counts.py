"""Tests of lines that are counted before they are parsed."""

from pathlib import Path

import pytest

from board.formats import native
from board.runs.cache.part_folder import Piece
from board.runs.parsing.byte_range import ByteRange
from board.runs.parsing.line_counts import LineCounts, lines_before
from board.sources import shards


def ranges(folder: Path) -> list[ByteRange]:
    """A shard of six lines in three ranges."""
    (folder / "a.jsonl").write_bytes(b"1\n22\n\n333\n4\n5\n")
    shard = shards.find_shards(folder)[0][0]
    return [ByteRange(shard, start, stop, native.NAME) for start, stop in ((0, 5), (5, 10), (10, 14))]


def test_counts_are_those_of_line_ends(tmp_path: Path) -> None:
    """Of each range; what nobody wants any more is not counted, nor what cannot be read."""
    counts, all_ranges = LineCounts(), ranges(tmp_path)
    counts.count(all_ranges, lambda: len(counts.of_shard("a.jsonl")) < 2)

    assert counts.of_shard("a.jsonl") == {0: (5, 2), 5: (10, 2)}
    assert counts.of(all_ranges[2]) == 2
    assert counts.of_shard("b.jsonl") == {}
    (tmp_path / "a.jsonl").unlink()
    assert [counts.of(all_ranges[0]), LineCounts().of(all_ranges[0])] == [2, None]


def test_a_range_that_may_hold_a_line_too_long_has_no_count(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its line ends may not be those of its lines."""
    monkeypatch.setenv("RL_BOARD_LONGEST_LINE", "4")

    assert [LineCounts().of(one) for one in ranges(tmp_path)] == [None, None, 2]


BEFORE: dict[str, tuple[dict[int, tuple[int, int]], list[tuple[int, int, int]], dict[int, int]]] = {
    "nothing": ({}, [], {0: 0}),
    "counted": ({0: (5, 2), 5: (10, 2)}, [], {0: 0, 5: 2, 10: 4}),
    "parsed": ({}, [(0, 5, 2), (5, 10, 2)], {0: 0, 5: 2, 10: 4}),
    "one after the other": ({0: (5, 2)}, [(5, 10, 2)], {0: 0, 5: 2, 10: 4}),
    "a gap": ({0: (5, 2)}, [(10, 14, 2)], {0: 0, 5: 2}),
    "not from the start": ({5: (10, 2)}, [], {0: 0}),
}


@pytest.mark.parametrize(("counted", "parsed", "expected"), BEFORE.values(), ids=BEFORE)
def test_lines_before_a_range_are_known_where_all_before_it_is(
    counted: dict[int, tuple[int, int]], parsed: list[tuple[int, int, int]], expected: dict[int, int]
) -> None:
    """Counted or parsed; behind a gap nobody knows."""
    pieces = [Piece(start, stop, lines, (), 0, "") for start, stop, lines in parsed]

    assert lines_before(counted, pieces) == expected
