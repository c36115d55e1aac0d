"""A shard that is replaced, rewritten or appended to while it is read: what is shown is of one version, and whole."""

import json
import os
from collections.abc import Callable
from pathlib import Path

import pytest

from board import Run, open_run
from board.runs.parsing import parsed_shard
from board.runs.progress import Progress

ROWS = 40


@pytest.fixture(autouse=True)
def _small_ranges(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(parsed_shard, "RANGE_BYTES", 1_000)


def text(version: str, rows: int = ROWS, end: str = "\n") -> str:
    """Rows that all say which version they are of."""
    said = [json.dumps({"step": at, "prompt": f"p{at}", "response": version * 20, "reward": 1.0}) for at in range(rows)]
    return "\n".join(said) + end


def renamed(shard: Path, new: str) -> None:
    """Put another file in the place of the shard."""
    beside = shard.with_suffix(".new")
    beside.write_text(new)
    beside.replace(shard)


def rewritten(shard: Path, new: str) -> None:
    """Put another text into the same file."""
    shard.write_text(new)
    later = shard.stat().st_mtime_ns + 1_000_000_000  # the clock of a file system may not have gone on
    os.utime(shard, ns=(later, later))


def appended(shard: Path, new: str) -> None:
    """Write on."""
    with shard.open("a") as stream:
        stream.write(new)


Change = Callable[[Path, str], None]


def opened(shard: Path, change: Change, news: list[str]) -> Run:
    """The run of a shard to which a change is made each time that something of it was read, as long as there are new texts."""

    def after_a_range(progress: Progress) -> None:
        if progress.bytes_done and news:
            change(shard, news.pop(0))

    return open_run(shard.parent, progress=after_a_range)


def versions(run: Run) -> list[str]:
    """The first letter of each response."""
    return [text[:1] for text in run.texts("response", run.frame.index.to_numpy()).to_pylist()]


@pytest.mark.parametrize("change", [renamed, rewritten])
@pytest.mark.parametrize("rows", [ROWS - 9, ROWS, ROWS + 9])
@pytest.mark.parametrize("end", ["\n", ""])
def test_a_shard_that_is_replaced_is_read_anew(tmp_path: Path, change: Change, rows: int, end: str) -> None:
    """After its first range it is another: all rows are of the other one, and all of its rows are there."""
    shard = tmp_path / "run" / "rollouts.jsonl"
    shard.parent.mkdir()
    shard.write_text(text("a", end=end))

    run = opened(shard, change, [text("b", rows, end)])

    assert versions(run) == ["b"] * rows
    assert not run.report.problems
    assert versions(open_run(shard.parent)) == ["b"] * rows


def test_a_shard_that_is_appended_to_is_the_same(tmp_path: Path) -> None:
    """What was there when it was found is shown, and read once."""
    shard = tmp_path / "run" / "rollouts.jsonl"
    shard.parent.mkdir()
    shard.write_text(text("a"))

    run = opened(shard, appended, [text("b", 15)])

    assert versions(run) == ["a"] * ROWS
    assert sorted(versions(open_run(shard.parent))) == ["a"] * ROWS + ["b"] * 15


def test_a_shard_that_is_replaced_again_and_again_is_refused(tmp_path: Path) -> None:
    """Nothing of it is shown, which is said; what is beside it is there, and so is the shard once its writer rests."""
    shard = tmp_path / "run" / "rollouts.jsonl"
    shard.parent.mkdir()
    shard.write_text(text("a"))
    (shard.parent / "other.jsonl").write_text(text("o"))

    run = opened(shard, renamed, [text("b", ROWS + at) for at in range(100)])

    assert set(versions(run)) == {"o"}
    assert any(one.shard == shard.name and "was replaced each of the 5 times" in one.reason for one in run.report.problems)
    assert versions(open_run(shard.parent)).count("b") >= ROWS


def test_a_shard_that_is_gone_after_it_was_replaced_is_told(tmp_path: Path) -> None:
    """Of the old one nothing is shown, and why the new one ends early is said."""
    shard = tmp_path / "run" / "rollouts.jsonl"
    shard.parent.mkdir()
    shard.write_text(text("a"))

    def replaced_or_gone(path: Path, new: str) -> None:
        if new:
            renamed(path, new)
        else:
            path.unlink()

    run = opened(shard, replaced_or_gone, [text("b"), ""])

    assert set(versions(run)) == {"b"}
    assert any("No such file" in one.reason for one in run.report.problems)
