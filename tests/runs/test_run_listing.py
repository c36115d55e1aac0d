"""Tests of the list of runs that is there at once and looked up again behind the reader's back."""

import threading
import time
from pathlib import Path

from rows import row, write_run

from board.runs import run_listing
from board.runs.library import RunFolder, list_runs
from board.runs.run_listing import RunListing, without_shelves


def test_a_list_that_is_known_is_there_at_once_and_new_runs_follow(tmp_path: Path, monkeypatch) -> None:  # type: ignore[no-untyped-def]
    """Nobody waits but the first to ask; one look at a time is under way."""
    monkeypatch.setattr(run_listing, "FRESH_SECONDS", 0.0)
    monkeypatch.setattr(run_listing, "COSTS", 0.0)
    going, looks = threading.Event(), []

    def look(root: Path) -> list[RunFolder]:
        looks.append(root)
        if len(looks) > 1:
            going.wait(10)
        return [RunFolder(f"run_{len(looks)}", 1, 1, 1)]

    listing = RunListing(look)
    for _ in range(5):
        assert [one.name for one in listing.folders(tmp_path)] == ["run_1"]
    going.set()
    until = time.monotonic() + 10
    while listing.folders(tmp_path)[0].name == "run_1" and time.monotonic() < until:
        time.sleep(0.01)
    assert listing.folders(tmp_path)[0].name != "run_1"


def test_a_folder_that_only_holds_other_runs_is_none(tmp_path: Path) -> None:
    """A run that others lie below stays, if anything is its own."""
    for name in ("sweep/seed_a", "sweep/seed_b", "alone"):
        write_run(tmp_path / name, {"a.jsonl": [row(0)]})
    assert [one.name for one in without_shelves(list_runs(tmp_path))] == ["alone", "sweep/seed_a", "sweep/seed_b"]
    recording = [RunFolder("run", 2, 30, 1), RunFolder("run/dump", 1, 10, 1)]
    assert without_shelves(recording) == recording
