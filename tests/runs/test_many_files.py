"""Tests of runs of very many small files, which are read and kept together: nothing of a rollout's place or of its faults may change by it."""

from pathlib import Path

import pandas as pd
import pytest
from rows import lines, row, write_run

from board import open_run
from board.runs.cache.store import Store
from board.runs.loading import parsed_run
from board.runs.parsing import range_parsing

FILES = 240


@pytest.fixture(autouse=True)
def fewer(monkeypatch: pytest.MonkeyPatch) -> None:
    """So many files are very many, and kept by a few together."""
    monkeypatch.setattr(parsed_run, "MANY_FILES", FILES - 40)
    monkeypatch.setattr(parsed_run, "TOGETHER", 50)


def many(folder: Path) -> Path:
    """A run of very many files, of one row each but for one of two."""
    return write_run(folder, {f"r_{at}.jsonl": [row(at // 20, reward=float(at))] * (1 + (at == 140)) for at in range(FILES)})


def kept(folder: Path) -> set[str]:
    """The files of parts that the cache holds of a run."""
    return {path.name for path in Store(folder).folder.glob("*.arrow")}


def places(frame: pd.DataFrame) -> list[tuple[str, int, float]]:
    """Where each rollout stands, and its reward."""
    return [*zip(frame["shard"].astype(str), frame["line"], frame["reward"], strict=True)]


@pytest.mark.parametrize("small", [range_parsing.SMALL_BYTES, 0], ids=["here", "by processes"])
def test_many_files_are_kept_together(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, small: int) -> None:
    """The cache holds far fewer files than the run does, and each rollout has its own file and line, at first and from the cache."""
    monkeypatch.setattr(range_parsing, "SMALL_BYTES", small)
    folder = many(tmp_path / "run")
    expected = [(f"r_{at}.jsonl", line, float(at)) for at in range(FILES) for line in range(1, 2 + (at == 140))]

    for run in (open_run(folder), open_run(folder)):
        assert places(run.frame) == expected
        assert run.report.shards == FILES
        assert run.rollout(run.frame.index[140]).source == "r_140.jsonl:1"
    assert 0 < len(kept(folder)) < FILES / 20


def test_one_more_file_has_few_read_again(tmp_path: Path) -> None:
    """A file that is new, or another, among very many has those read again that are kept with it."""
    folder = many(tmp_path / "run")
    open_run(folder)
    before = kept(folder)
    write_run(folder, {"r_100b.jsonl": [row(5, reward=-1.0)], "r_180.jsonl": [row(9, reward=-2.0)]})

    frame = open_run(folder).frame

    assert len(frame) == FILES + 2
    assert sorted(frame["reward"])[:2] == [-2.0, -1.0]
    assert 0 < len(kept(folder) - before) < len(before)


def test_what_is_wrong_is_said_of_its_file(tmp_path: Path) -> None:
    """A line that cannot be read, and one that is still being written, are told by file and line, at first and from the cache."""
    folder = many(tmp_path / "run")
    write_run(
        folder,
        {"r_8.jsonl": lines([row(0), b"no json"]), "r_9.jsonl": b'{"step": 0, "resp', "r_160.jsonl": lines([row(8)]) + b'{"s'},
    )

    for _ in range(2):
        report = open_run(folder).report

        assert [(one.shard, one.line, one.severity) for one in report.problems] == [("r_8.jsonl", 2, "refused")]
        assert sorted(report.unfinished) == ["r_160.jsonl", "r_9.jsonl"]


def test_what_is_kept_of_its_own_stays(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What a run's files had kept of their own while they were few is used when they have become many."""
    folder = many(tmp_path / "run")
    with monkeypatch.context() as few:
        few.setattr(parsed_run, "MANY_FILES", FILES + 1)
        open_run(folder)
    before = kept(folder)

    assert places(open_run(folder).frame)[-1] == (f"r_{FILES - 1}.jsonl", 1, FILES - 1.0)
    assert kept(folder) == before
