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
    """Apart from each other, in the order of bytes; the end of each shard is in one."""
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
        assert snippet.first_line == (None if snippet.start else 0)
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
    """A line is never guessed: those of the first snippet are known, and those of one before which the lines were counted."""
    data = written(tmp_path / "run", "a.jsonl", 200)
    ranges = ranges_of(tmp_path / "run", 4_000)
    snippets = sampling.snippets(ranges, 10_000)
    (sample,) = sampling.samples(snippets, ReadOptions())

    ((lines, steps, offsets),) = [
        [part.scalars.column(name).to_pylist() for name in ("line", "step", "offset")] for part in sample.parts
    ]
    assert lines == [step + step // 5 + 1 if at < snippets[0].stop else 0 for step, at in zip(steps, offsets, strict=True)]
    assert {*lines} > {0, 1}
    assert [data[at : data.index(b"\n", at)].count(b"prompt") for at in offsets] == [1] * len(steps)
    assert sample.rows == len(steps)
    within, start = ranges[2], data.index(b"\nbad", ranges[2].start) + 1
    number = data[:start].count(b"\n")
    snippet = sampling.snippet_at(within, start, number)
    assert snippet is not None
    (known,) = sampling.samples([snippet], ReadOptions())
    assert known.problems[0].line == number + 1
    assert known.parts[0].scalars.column("line").to_pylist()[0] == number + 2
