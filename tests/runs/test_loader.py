"""Tests of which stretches of a shard are parsed, by whom, and of what is left when a load is interrupted."""

import json
import os
from collections.abc import Callable
from pathlib import Path

import pandas as pd
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from rows import compressed, token_row

from board import open_run
from board.formats import native
from board.runs.cache.parts import Part
from board.runs.cache.store import Store
from board.runs.load_report import LoadReport
from board.runs.loading.loader import Loader
from board.runs.parsing import parsed_shard, part_builder, range_parsing
from board.runs.progress import Progress
from board.runs.read_options import ReadOptions
from board.sources import shards
from board.sources.shards import Line


def text(rows: int) -> bytes:
    """Shard bytes with a bad line after every seventh row."""
    written = [json.dumps(token_row(at // 4, prompt=f"p{at}")) + ("\nnot json" if at % 7 == 6 else "") for at in range(rows)]
    return "\n".join([*written, ""]).encode()


def run_of(tmp_path: Path, name: str = "rank_0.jsonl", rows: int = 100) -> Path:
    """A run with one shard."""
    folder = tmp_path / "run"
    folder.mkdir(exist_ok=True)
    (folder / name).write_bytes(compressed(text(rows), name))
    return folder


LINES = st.lists(st.sampled_from([b"{}", b"", b"  ", b'{"a":1}', b"x" * 40, b"\r", "é中".encode()]), max_size=40)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=200, deadline=None)
@given(
    lines=LINES,
    tail=st.sampled_from([b"", b"{", b"\n"]),
    bom=st.booleans(),
    size=st.integers(1, 120),
    piece=st.sampled_from([1, 7, 64, 1 << 20]),
)
def test_stretches_are_the_whole(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, lines: list[bytes], tail: bytes, bom: bool, size: int, piece: int
) -> None:
    """However a shard is cut, and in whatever pieces it is read, its stretches tile it up to the last line end, and their lines are its own."""
    monkeypatch.setattr(shards, "_PIECE", piece)
    data = (shards.BOM if bom else b"") + b"".join(line + b"\n" for line in lines) + tail
    (tmp_path / "a.jsonl").write_bytes(data)
    shard = shards.find_shards(tmp_path)[0][0]

    end = shards.last_line_end(shard)
    cuts = shards.cuts(shard, 0, end, size)

    assert end == data.rfind(b"\n") + 1
    assert [0, *(stop for _, stop in cuts)] == [*(start for start, _ in cuts), end]
    found: list[Line] = []
    before = 0
    for cut in [*cuts, (end, shard.size)]:
        read = shards.RangeLines(shard, *cut)
        found += [Line(line.number + before, line.offset, line.data, line.whole) for line in read if isinstance(line, Line)]
        before += read.count
        assert read.seal == shards.seal(shard, *cut)
    assert found == [line for line in shards.read_lines(shard) if isinstance(line, Line)]


@pytest.mark.parametrize("name", ["rank_0.jsonl", "rank_0.jsonl.gz", "rank_0.jsonl.zst"])
def test_workers_read_what_is_read_here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    """Parsed in many stretches by processes or in one here, the run is the same: rows, lines, order, problems."""
    folder = run_of(tmp_path, name)
    here = open_run(folder)
    monkeypatch.setenv("RL_BOARD_CACHE", str(tmp_path / "another"))
    monkeypatch.setattr(range_parsing, "SMALL_BYTES", 100)
    monkeypatch.setattr(parsed_shard, "RANGE_BYTES", 2_000)

    there = open_run(folder)

    pd.testing.assert_frame_equal(there.to_pandas(), here.to_pandas())
    assert here.report.problems == there.report.problems
    assert [problem.line for problem in there.report.problems] == [8 * (at + 1) for at in range(14)]
    assert there.raw(55) == here.raw(55)


class Left(Exception):
    """The reader went to another page."""


@pytest.mark.parametrize("small", [100, 10**9], ids=["processes", "here"])
def test_interrupted_load_keeps_what_it_has(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, small: int) -> None:
    """A load that ends in its progress report leaves a cache that is right, and the next one goes on from there."""
    monkeypatch.setattr(range_parsing, "SMALL_BYTES", small)
    monkeypatch.setattr(parsed_shard, "RANGE_BYTES", 2_000)
    folder = run_of(tmp_path)
    seen: list[Progress] = []

    def leave(progress: Progress) -> None:
        if progress.rows > 20:
            raise Left

    with pytest.raises(Left):
        open_run(folder, progress=leave)
    run = open_run(folder, progress=seen.append)

    assert list(run.texts("prompt", run.frame.index.to_numpy()).to_pylist()) == [f"p{at}" for at in range(100)]
    assert seen[0].bytes_done > 2_000
    assert seen[-1].share == 1.0
    rows = [progress.rows for progress in seen]
    assert rows == sorted(rows)


def test_short_last_piece_is_joined(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A run that grows by a step at a time does not end in thousands of small parts."""
    monkeypatch.setattr(parsed_shard, "RANGE_BYTES", 40_000)
    folder = run_of(tmp_path, rows=1)
    for rows in range(2, 60):
        (folder / "rank_0.jsonl").write_bytes(text(rows))
        open_run(folder)
    shard = shards.find_shards(folder)[0][0]

    manifest = Store(folder).manifest(shard)

    assert manifest is not None
    assert len(manifest.pieces) <= 3
    assert sum(piece.rows for piece in manifest.pieces) == 59


def test_vanished_shard_is_a_problem_not_an_end(tmp_path: Path) -> None:
    """A shard that is deleted between being found and being read is reported; the others load."""
    folder = run_of(tmp_path)
    (folder / "rank_1.jsonl").write_bytes(text(10))
    found, _ = shards.find_shards(folder)
    (folder / "rank_1.jsonl").unlink()
    report = LoadReport()

    loader = Loader(found, Store(folder), ReadOptions())
    with loader.loading():
        pass
    parts = list(loader.parts(report))

    assert sum(map(len, parts)) == 100
    assert "rank_1.jsonl: cannot be read: No such file or directory" in [str(problem) for problem in report.problems]


def loaded(found: list[shards.Shard], folder: Path, then: Callable[[], object] = lambda: None) -> tuple[int, list[str]]:
    """Rows and problems of a load, something happening to the shards or the cache before its parts are read."""
    report = LoadReport()
    loader = Loader(found, Store(folder), ReadOptions())
    with loader.loading():
        pass
    then()
    return sum(map(len, loader.parts(report))), [str(problem) for problem in report.problems if "not JSON" not in problem.reason]


def test_vanished_shard_without_a_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where nothing can be kept, a shard that vanishes is a problem all the same, and the others load."""
    (tmp_path / "file").write_text("in the way")
    monkeypatch.setenv("RL_BOARD_CACHE", str(tmp_path / "file"))
    folder = run_of(tmp_path)
    (folder / "rank_1.jsonl.gz").write_bytes(compressed(text(10), "rank_1.jsonl.gz"))
    found, _ = shards.find_shards(folder)
    (folder / "rank_1.jsonl.gz").unlink()

    assert loaded(found, folder) == (100, ["rank_1.jsonl.gz: cannot be read: No such file or directory"])


LOST: dict[str, tuple[Callable[[Path], object], str]] = {
    "deleted": (lambda shard: shard.unlink(), "rank_0.jsonl: cannot be read: No such file or directory"),
    "cut": (lambda shard: os.truncate(shard, 10), "rank_0.jsonl: was cut while it was being read: load the run again"),
    "rewritten": (
        lambda shard: shard.write_bytes(b"\n" * shard.stat().st_size),
        "rank_0.jsonl: was rewritten while it was being read: load the run again",
    ),
}


@pytest.mark.parametrize("name", LOST)
def test_part_and_shard_lost_at_once(tmp_path: Path, name: str) -> None:
    """When a part is gone from the cache and the shard no longer holds its bytes, the report says so and counts no row."""
    lose, problem = LOST[name]
    folder = run_of(tmp_path)
    found, _ = shards.find_shards(folder)

    def both() -> None:
        next(Store(folder).folder.glob("*.arrow")).unlink()
        lose(folder / "rank_0.jsonl")

    assert loaded(found, folder, both) == (0, [problem])


def test_damaged_part_is_parsed_once_more(tmp_path: Path) -> None:
    """A damaged part is removed when it is met, so that the next load keeps the stretch again."""
    folder = run_of(tmp_path)
    open_run(folder)
    kept = Store(folder).folder
    part = next(kept.glob("*.arrow"))
    part.write_bytes(b"x")

    assert len(open_run(folder).frame) == 100
    assert not part.exists()
    assert len(open_run(folder).frame) == 100
    assert len([*kept.glob("*.arrow")]) == 1


def test_lines_behind_a_lost_stretch_wait(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Behind a stretch that could not be read nobody knows the lines' numbers: they are shown when the stretch is."""
    monkeypatch.setattr(parsed_shard, "RANGE_BYTES", 2_000)
    folder = run_of(tmp_path)
    open_run(folder)
    shard = shards.find_shards(folder)[0][0]
    loader = Loader([shard], Store(folder), ReadOptions())
    kept = loader.shards[shard.name]
    before = sum(piece.rows for piece in kept.pieces[:3])
    del kept.pieces[3]

    assert sum(map(len, loader.parts(LoadReport()))) == before


def test_part_is_cut_by_bytes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A compressed shard, which is one stretch, becomes parts of bounded size, in order and with their lines."""
    monkeypatch.setattr(part_builder, "BYTES_PER_PART", 2_000)
    folder = run_of(tmp_path, "rank_0.jsonl.gz")
    kept: list[Part] = []
    shard = shards.find_shards(folder)[0][0]

    part_builder.read_parts(shards.read_lines(shard), shard, native, ReadOptions(), LoadReport(), kept.append)

    assert len(kept) > 5
    lines = [line for part in kept for line in part.scalars.column("line").to_pylist()]
    assert lines == [at + at // 7 + 1 for at in range(100)]
