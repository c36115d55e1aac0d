"""Tests of reading a shard's lines, plain and compressed: number, offset, bytes, and where a stream is cut or damaged."""

import gzip
import json
import os
import tempfile
from pathlib import Path
from typing import Any

import pytest
from found_shards import only_shard
from hypothesis import given
from hypothesis import strategies as st
from rows import compressed, lines, row, write_shard

from board.errors import RunNotFound
from board.sources import lines as source_lines
from board.sources import shards
from board.sources.shards import BOM, Line, Problem

KINDS = ["data.jsonl", "data.jsonl.gz", "data.jsonl.zst"]


def read(path: Path) -> tuple[list[Line], list[Problem]]:
    """Lines and problems of one file."""
    found = list(shards.read_lines(only_shard(path.parent)))
    return [one for one in found if isinstance(one, Line)], [one for one in found if isinstance(one, Problem)]


LINE_CASES: dict[str, tuple[bytes, list[tuple[int, int, bytes, bool]]]] = {
    "plain": (b"a\nbc\n", [(1, 0, b"a", True), (2, 2, b"bc", True)]),
    "no line end at the end": (b"a\nbc", [(1, 0, b"a", True), (2, 2, b"bc", False)]),
    "carriage returns": (b"a\r\nbc\r\n", [(1, 0, b"a", True), (2, 3, b"bc", True)]),
    "cut between carriage return and line feed": (b"a\r\nbc\r", [(1, 0, b"a", True), (2, 3, b"bc", False)]),
    "byte order mark": (BOM + b"a\nb\n", [(1, 3, b"a", True), (2, 5, b"b", True)]),
    "byte order mark and carriage returns": (BOM + b"a\r\nb\r\n", [(1, 3, b"a", True), (2, 6, b"b", True)]),
    "byte order mark alone": (BOM, []),
    "byte order mark on a line of its own": (BOM + b"\nb\n", [(2, 4, b"b", True)]),
    "byte order mark later is data": (b"a\n" + BOM + b"\n", [(1, 0, b"a", True), (2, 2, BOM, True)]),
    "blank lines": (b"\n  \na\n\r\n\t\nb\n", [(3, 4, b"a", True), (6, 10, b"b", True)]),
    "empty": (b"", []),
    "only blank": (b"\n\n \n", []),
    "cut within a character": ("a\n威".encode()[:-1], [(1, 0, b"a", True), (2, 2, b"\xe5\xa8", False)]),
    "spaces are kept": (b" a \n", [(1, 0, b" a ", True)]),
}


@pytest.mark.parametrize("name", KINDS)
@pytest.mark.parametrize(("data", "expected"), LINE_CASES.values(), ids=LINE_CASES)
def test_lines_have_number_offset_bytes_and_end(
    tmp_path: Path, data: bytes, expected: list[tuple[int, int, bytes, bool]], name: str
) -> None:
    """The same whatever the compression: 1-based number, offset in the decompressed bytes, no line end, no blank lines."""
    path = tmp_path / name
    path.write_bytes(compressed(data, name))

    found, problems = read(path)

    assert [(line.number, line.offset, line.data, line.whole) for line in found] == expected
    assert problems == []
    shard = only_shard(tmp_path)
    assert [shards.read_raw(shard, line.number, line.offset) for line in found] == [line.data for line in found]


@given(st.lists(st.binary(max_size=8), max_size=8), st.booleans(), st.sampled_from([b"\n", b"\r\n"]))
def test_offsets_point_at_the_data(tmp_path_factory: pytest.TempPathFactory, pieces: list[bytes], bom: bool, end: bytes) -> None:
    """Whatever the bytes, the shard holds a line's data at its offset, and every line that is not blank is there."""
    data = (BOM if bom else b"") + b"".join(piece.replace(b"\n", b"") + end for piece in pieces)
    path = tmp_path_factory.mktemp("run") / "data.jsonl"
    path.write_bytes(data)

    found, _ = read(path)

    assert all(data[line.offset :].startswith(line.data) for line in found)
    wanted = [line for number, line in enumerate(data.split(b"\n")) if line.strip() and (number or line.strip() != BOM)]
    assert len(found) == len(wanted)


def incompressible(rows: int) -> bytes:
    """Rows that stay as long when compressed, so that a stream cut in its middle has whole blocks before the cut."""
    return lines(row(step, prompt=os.urandom(150).hex()) for step in range(rows))


@pytest.mark.parametrize("name", KINDS[1:])
@pytest.mark.parametrize("share", [0.5, 0.9])
def test_rows_before_a_cut_are_kept_and_the_cut_is_said(tmp_path: Path, name: str, share: float) -> None:
    """A compressed stream that ends early gives every whole line before the cut, then one flagged problem."""
    data = incompressible(2_000)
    stream = compressed(data, name)
    path = tmp_path / name
    path.write_bytes(stream[: int(len(stream) * share)])

    found, problems = read(path)

    assert [line.data for line in found] == data.splitlines()[: len(found)]
    assert len(found) > 2_000 * share - 1_024  # a zstd block holds 128 KiB, some 400 rows
    assert all(json.loads(line.data) for line in found)
    assert [(problem.line, problem.severity) for problem in problems] == [(len(found), "flagged")]
    assert "ends early: cut off, or still being written" in problems[0].reason


DAMAGED = {
    "gzip in name only": ("data.jsonl.gz", b'{"step": 0}\n', "Not a gzipped file"),
    "zstd in name only": ("data.jsonl.zst", b'{"step": 0}\n', "ZSTD decompress failed"),
    "checksum wrong": ("data.jsonl.gz", gzip.compress(b"a\n", mtime=0)[:-8] + b"\0" * 8, "CRC check failed"),
    "deflate wrong": ("data.jsonl.gz", gzip.compress(b"", mtime=0)[:10] + b"\xff" * 20, "Error -3"),
}


@pytest.mark.parametrize(("name", "data", "reason"), DAMAGED.values(), ids=DAMAGED)
def test_damaged_streams_end_in_one_problem(tmp_path: Path, name: str, data: bytes, reason: str) -> None:
    """What cannot be decompressed is refused with the reason."""
    path = tmp_path / name
    path.write_bytes(data)

    _, problems = read(path)

    assert [problem.severity for problem in problems] == ["refused"]
    assert problems[0].reason.startswith("cannot be read further: ")
    assert reason in problems[0].reason


@pytest.mark.parametrize("name", KINDS[1:])
def test_streams_appended_to_streams_are_read_through(tmp_path: Path, name: str) -> None:
    """A job that opens its compressed shard again appends a second stream."""
    path = tmp_path / name
    path.write_bytes(compressed(b"a\n", name) + compressed(b"b\n", name))

    found, problems = read(path)

    assert ([(line.number, line.offset, line.data) for line in found], problems) == ([(1, 0, b"a"), (2, 2, b"b")], [])


@pytest.mark.parametrize("name", KINDS[1:])
def test_empty_compressed_file_has_no_lines(tmp_path: Path, name: str) -> None:
    """A file of no bytes is a stream that has not begun."""
    (tmp_path / name).write_bytes(b"")

    assert read(tmp_path / name) == ([], [])


@pytest.mark.parametrize("name", KINDS)
def test_reading_tells_how_far_it_is_in_the_file(tmp_path: Path, name: str) -> None:
    """Bytes of the file itself, never more than it has, never going back."""
    path = write_shard(tmp_path / name, incompressible(600))
    seen: list[int] = []

    list(shards.read_lines(only_shard(tmp_path), seen.append))

    assert seen == sorted(seen)
    assert seen
    assert 0 < seen[-1] <= path.stat().st_size


@pytest.mark.parametrize("name", KINDS)
def test_raw_line_is_what_was_read_even_after_the_shard_grew(tmp_path: Path, name: str) -> None:
    """Appending moves no line."""
    rows: list[Any] = [row(), row(1, text="威 é\U0001f600"), row(2)]
    path = write_shard(tmp_path / name, rows)
    shard = only_shard(tmp_path)
    found = [one for one in shards.read_lines(shard) if isinstance(one, Line)]
    path.write_bytes(path.read_bytes() + compressed(lines([row(3)]), name))

    assert [json.loads(shards.read_raw(shard, line.number, line.offset)) for line in found] == rows


REWRITTEN = {
    "shorter": b"a\n",
    "gone blank": b"x\n\n\n\n\n\n\n\n\n\n",
    "other line ends": b"x" * 100 + b"\n",
    "empty": b"",
}


@pytest.mark.parametrize("name", KINDS)
@pytest.mark.parametrize("data", REWRITTEN.values(), ids=REWRITTEN)
def test_rewritten_shard_is_said_rather_than_another_line_shown(tmp_path: Path, data: bytes, name: str) -> None:
    """Where there is no line any more, or the old place is in the middle of another, the reader is told."""
    path = tmp_path / name
    path.write_bytes(compressed(b"ab\ncd\n", name))
    shard = only_shard(tmp_path)
    path.write_bytes(compressed(data, name))

    with pytest.raises(RunNotFound, match=r"has no line 2 any more: it was rewritten"):
        shards.read_raw(shard, 2, 3)


def test_raw_line_of_a_vanished_shard_is_said(tmp_path: Path) -> None:
    """The message names the shard and why."""
    path = write_shard(tmp_path / "data.jsonl", [row()])
    shard = only_shard(tmp_path)
    path.unlink()

    with pytest.raises(RunNotFound, match=r"data\.jsonl cannot be read any more: No such file"):
        shards.read_raw(shard, 1, 0)


PROBLEMS = {
    "a line": (Problem("a.jsonl", 3, "is odd", "flagged"), "a.jsonl:3: is odd"),
    "a shard": (Problem("a.jsonl", None, "is gone", "refused"), "a.jsonl: is gone"),
}


@pytest.mark.parametrize(("problem", "text"), PROBLEMS.values(), ids=PROBLEMS)
def test_problems_read_as_place_and_reason(problem: Problem, text: str) -> None:
    """`shard:line: reason`, without a line where the whole shard is meant."""
    assert str(problem) == text


ENDS = st.lists(st.sampled_from([b"a", b"\n", b"bc", b"\r\n"]), max_size=40).map(b"".join)


@given(data=ENDS, places=st.tuples(st.integers(0, 60), st.integers(0, 60)), number=st.integers(0, 12), size=st.integers(1, 9))
def test_line_ends_are_counted_and_found(data: bytes, places: tuple[int, int], number: int, size: int) -> None:
    """Between any two places, however little is read at a time; against the slow way."""
    start, stop = sorted(min(place, len(data)) for place in places)
    starts = [start, *(at + 1 for at in range(start, stop) if data[at : at + 1] == b"\n")]
    expected = starts[number] if number < len(starts) and starts[number] < stop else None
    with pytest.MonkeyPatch.context() as patch, tempfile.TemporaryFile() as file:
        patch.setattr(source_lines, "_COUNTED", size)
        file.write(data)
        file.flush()

        assert source_lines.ends(file, start, stop) == data[start:stop].count(b"\n")
        assert source_lines.start_of(file, start, stop, number) == expected
