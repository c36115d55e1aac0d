"""Tests of the list of runs, which is looked up again after a while."""

import threading
from pathlib import Path

import pytest
from rows import row, write_run

from board.errors import RunNotFound
from board.runs import run_listing
from board.runs.library import RunFolder, list_runs
from board.runs.run_listing import RunListing, without_shelves


def test_a_list_is_looked_up_again_after_a_while_or_for_a_run_that_is_none_of_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Until then it is there at once; where the root is gone, that is told."""
    looks = list[Path]()

    def look(root: Path) -> list[RunFolder]:
        looks.append(root)
        if len(looks) == 4:
            raise RunNotFound("it is gone")
        return [RunFolder(f"run_{len(looks)}", 1, 1, 1)]

    listing = RunListing(look)
    for asked, wanted in ((None, "run_1"), ("run_1", "run_1"), (None, "run_1"), ("run_2", "run_2"), ("run_2", "run_2")):
        assert [one.name for one in listing.folders(tmp_path, asked)] == [wanted]
    monkeypatch.setattr(run_listing, "FRESH_SECONDS", 0.0)
    monkeypatch.setattr(run_listing, "COSTS", 0.0)
    assert [one.name for one in listing.folders(tmp_path, "run_3")] == ["run_3"]
    with pytest.raises(RunNotFound):
        listing.folders(tmp_path)


def test_of_many_who_ask_at_once_one_looks(tmp_path: Path) -> None:
    """The others wait for what it finds."""
    going, looks = threading.Event(), list[Path]()

    def look(root: Path) -> list[RunFolder]:
        looks.append(root)
        going.wait(10)
        return []

    listing = RunListing(look)
    threads = [threading.Thread(target=listing.folders, args=(tmp_path,)) for _ in range(4)]
    for thread in threads:
        thread.start()
    going.set()
    for thread in threads:
        thread.join()
    assert len(looks) == 1


def test_a_folder_that_only_holds_other_runs_is_none(tmp_path: Path) -> None:
    """A run that others lie below stays, if anything is its own."""
    for name in ("sweep/seed_a", "sweep/seed_b", "alone"):
        write_run(tmp_path / name, {"a.jsonl": [row(0)]})
    assert [one.name for one in without_shelves(list_runs(tmp_path))] == ["alone", "sweep/seed_a", "sweep/seed_b"]
    recording = [RunFolder("run", 2, 30, 1), RunFolder("run/dump", 1, 10, 1)]
    assert without_shelves(recording) == recording
