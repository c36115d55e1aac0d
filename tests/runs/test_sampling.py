"""Tests of which snippets of a run are read ahead of the rest, and of what is made of them."""

import json
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from rows import compressed, token_row

from board.formats import native
from board.runs.loading import sampling
from board.runs.parsing.byte_range import ByteRange
from board.runs.read_options import ReadOptions
from board.sources import shards


@given(count=st.integers(0, 300))
def test_every_beginning_is_spread(count: int) -> None:
    """All numbers once; of the first so many, no two neighbours are further apart than twice their even distance, rounded up."""
    order = sampling.spread(count)

    assert sorted(order) == [*range(count)]
    for many in range(2, count + 1):
        gaps = np.diff(np.sort(order[:many]))
        assert gaps.max() <= 2 * (1 << (count - 1).bit_length()) / (1 << (many - 1).bit_length() - 1)
    assert order[:2] == [count - 1, 0][: min(2, count)] if count != 1 else order == [0]


def ranges_of(folder: Path, size: int) -> list[ByteRange]:
    """All byte ranges of the shards of a folder."""
    found = []
    for shard in shards.find_shards(folder)[0]:
        whole = [(0, shard.size)]
        plain = shards.is_plain(shard)
        cuts = shards.cuts(shard, 0, shards.last_line_end(shard), size) if plain else whole
        found += [ByteRange(shard, *cut, native.NAME) for cut in cuts]
    return found


def written(folder: Path, name: str, rows: int) -> bytes:
    """A shard with a bad line behind every fifth row."""
    lines = [json.dumps(token_row(at, prompt="p" * (at % 90))) + ("\nbad" if at % 5 == 4 else "") for at in range(rows)]
    data = "\n".join([*lines, ""]).encode()
    folder.mkdir(exist_ok=True)
    (folder / name).write_bytes(compressed(data, name))
    return data


@pytest.fixture
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    """Snippets of a line or two."""
    monkeypatch.setattr(sampling, "SNIPPET_BYTES", 300)
    monkeypatch.setattr(sampling, "SHARD_BYTES", 0)


@pytest.mark.usefixtures("small")
@pytest.mark.parametrize("size", [1, 3_000, 10**9])
def test_snippets_are_whole_lines_of_their_ranges(tmp_path: Path, size: int) -> None:
    """Apart from each other, in the order of bytes, with the lines before them counted; the end of each shard is in one."""
    data = {name: written(tmp_path / "run", name, 200) for name in ("a.jsonl", "b.jsonl")}
    ranges = ranges_of(tmp_path / "run", 4_000)

    found = sampling.snippets(ranges, size)

    places = [(snippet.within.shard.name, snippet.start, snippet.stop) for snippet in found]
    assert places == sorted(places)
    assert all(a[0] != b[0] or a[2] <= b[1] for a, b in pairwise(places))
    for snippet in found:
        whole = data[snippet.within.shard.name]
        assert snippet.within.start <= snippet.start < snippet.stop <= snippet.within.stop
        assert whole[: snippet.start].endswith(b"\n") or not snippet.start
        assert whole[: snippet.stop].endswith(b"\n")
        assert snippet.lines_before == whole[snippet.within.start : snippet.start].count(b"\n")
    assert places[-1][2] == len(data["b.jsonl"])
    assert len(found) == 1 if size == 1 else {snippet.within for snippet in found} == {*ranges} or len(found) < len(ranges)


@pytest.mark.usefixtures("small")
def test_of_what_cannot_be_cut_there_is_no_snippet(tmp_path: Path) -> None:
    """A compressed shard is read from its beginning or not at all; one that is gone has no snippet either."""
    written(tmp_path / "run", "a.jsonl.gz", 50)
    written(tmp_path / "run", "b.jsonl", 50)
    ranges = ranges_of(tmp_path / "run", 4_000)
    (tmp_path / "run/b.jsonl").unlink()

    assert sampling.snippets(ranges, 10_000) == []


@pytest.mark.usefixtures("small")
def test_rows_of_a_sample_have_their_lines_or_none(tmp_path: Path) -> None:
    """Rows and problems of the snippets that are wanted alone; a line is never guessed."""
    data = written(tmp_path / "run", "a.jsonl", 200)
    ranges = ranges_of(tmp_path / "run", 4_000)
    snippets = sampling.snippets(ranges, 10_000)
    before = np.array([data[: snippet.within.start].count(b"\n") for snippet in snippets])
    (sample,) = sampling.samples(snippets, ReadOptions())
    wanted = np.arange(len(snippets)) % 2 == 0
    unknown = np.where(np.arange(len(snippets)) < 4, before, -1)

    parts = [*sample.rows_of(wanted, before)]
    lines = [line for part in parts for line in part.scalars.column("line").to_pylist()]
    steps = [step for part in parts for step in part.scalars.column("step").to_pylist()]
    problems = [problem.line for problem in sample.problems_of(wanted, before)]
    some = [line for part in sample.rows_of(wanted, unknown) for line in part.scalars.column("line").to_pylist()]

    read = [line for snippet, on in zip(snippets, wanted, strict=True) if on for line in _lines(data, snippet)]
    assert sorted([*lines, *problems]) == read
    assert lines == [step + step // 5 + 1 for step in steps]
    assert [part.texts.column("prompt").to_pylist() for part in parts] == [["p" * (step % 90) for step in steps]]
    assert some == [line if line <= _lines(data, snippets[3])[-1] else 0 for line in lines]
    assert [one.first for one in sample.steps] == sorted(one.first for one in sample.steps)


def _lines(data: bytes, snippet: sampling.Snippet) -> list[int]:
    """Numbers of the lines in a snippet."""
    first = data[: snippet.start].count(b"\n") + 1
    return [*range(first, first + data[snippet.start : snippet.stop].count(b"\n"))]
