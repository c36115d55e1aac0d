"""Runs under a root by name: what is listed, what is opened, what is not."""

import os
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from asked import asked_run, plain_run
from rows import row, write_shard

from board.cli.replies.root import Root
from board.errors import RunNotFound


def test_listed_and_opened(tmp_path: Path) -> None:
    """The one written last first, no more than asked for; opened by name, once until it grows."""
    first, second = asked_run(tmp_path, "first"), plain_run(tmp_path, "second")
    os.utime(first / "rank_0.jsonl", (1e9, 1e9))
    root = Root(tmp_path)

    told, one = root.runs(10), root.runs(1)

    assert [(run.run, run.shards) for run in told.runs] == [("second", 1), ("first", 1)]
    assert told.runs[1].written == "2001-09-09T01:46:40+00:00"
    assert ([run.run for run in one.runs], one.more) == (["second"], 1)
    assert root.run("second") is root.run("second")
    write_shard(second / "rank_1.jsonl", [row(8)])
    assert len(root.run("second").frame) == 2


@pytest.mark.skipif(not Path("/dev/shm").is_dir(), reason="needs a file system that keeps any time")
@pytest.mark.parametrize("seconds", [253_402_300_800, 9 * 10**15, -62_135_596_801])
def test_a_time_that_no_calendar_has_is_none(seconds: int) -> None:
    """One file of a broken clock does not end the list."""
    with TemporaryDirectory(dir="/dev/shm") as folder:
        run = asked_run(Path(folder), "first")
        os.utime(run / "rank_0.jsonl", (seconds, seconds))

        assert [(one.run, one.written) for one in Root(Path(folder)).runs(10).runs] == [("first", "")]


def test_a_link_out_of_the_root_is_named(tmp_path: Path) -> None:
    """A run folder that is a link to elsewhere is no run, and the list names it with the way to open it, as the page does."""
    asked_run(tmp_path / "root", "first")
    plain_run(tmp_path, "elsewhere")
    (tmp_path / "root" / "linked").symlink_to(tmp_path / "elsewhere")

    told = Root(tmp_path / "root").runs(10)

    assert [run.run for run in told.runs] == ["first"]
    assert [sentence.partition(" to ")[0] for sentence in told.links_out] == ["linked is a link"]
    assert Root(tmp_path / "root").runs(0).links_out == told.links_out


@pytest.mark.parametrize("name", ["", "..", "../other", "/etc", "first/../../other", "no such", "a\0b", "first/rank_0.jsonl"])
def test_nothing_outside(name: str, tmp_path: Path) -> None:
    """Whatever a name says, it is a listed run or none."""
    asked_run(tmp_path / "root", "first")
    plain_run(tmp_path, "other")

    with pytest.raises(RunNotFound, match="no run"):
        Root(tmp_path / "root").run(name)
