"""Tests of the search of all parts in the background: what it finds is what a search in memory finds, and it stops and goes on."""

import shutil
import time
from pathlib import Path

import pandas as pd
import pytest
from indexed import indexed
from rows import row, write_run

from board import open_run
from board.analysis import stored_search
from board.analysis.stored_search import StoredHits, StoredSearch
from board.analysis.text_search import SearchText, by_step, count_hits
from board.indexing import frame_writer
from board.runs.beyond_memory import SETTING
from board.runs.run import Run

STEPS, EACH, PARTS = 9, 6, 3


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run of several shards, some rollouts of an evaluation, some discarded, and its index."""
    place = tmp_path_factory.mktemp("search")
    rows = [
        row(
            step,
            prompt=f"ask {one // 2}",
            response="so it is, it is" if (step + one) % 3 else "no",
            reward=float(one) if one else None,
            split="evaluation" if one == 5 else "train",
            is_filtered=int(one == 4),
        )
        for step in range(STEPS)
        for one in range(EACH)
    ]
    write_run(place / "run", {f"rank_{at}.jsonl": rows[at::PARTS] for at in range(PARTS)})
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(frame_writer, "LEAST_ROLLOUTS", 1)
        patch.setattr(frame_writer, "SAMPLE_ROLLOUTS", 9)
        indexed(place / "run", place / "index")
    return place


def all_of(search: StoredSearch) -> StoredHits:
    """What is found once all parts were gone through."""
    search.go_on()
    for _ in range(600):
        found = search.see()
        if found.is_done or found.trouble:
            return found
        time.sleep(0.05)
    raise AssertionError("it did not end")


@pytest.fixture
def sample(folder: Path, monkeypatch: pytest.MonkeyPatch) -> Run:
    """The index as it opens where five rollouts fit in memory."""
    monkeypatch.setenv(SETTING, "5")
    monkeypatch.setattr(stored_search, "_TOGETHER", 1)
    return open_run(folder / "index")


@pytest.mark.parametrize("split", ["train", "evaluation", "discarded"])
def test_finds_what_a_search_in_memory_finds(folder: Path, sample: Run, split: str) -> None:
    """Counts, rewards by step, and the rollouts, of each split."""
    wanted, columns = SearchText("it is"), ("prompt", "response")
    whole = open_run(folder / "run").of_split(split)  # type: ignore[arg-type]
    search = StoredSearch(sample.of_split(split), wanted, columns)  # type: ignore[arg-type]
    found, counts = all_of(search), count_hits(whole, wanted, columns)

    hit = (counts > 0).any(axis=1).to_numpy()
    assert (found.trouble, found.rollouts, found.hit, found.places) == ("", len(hit), hit.sum(), counts.to_numpy().sum())
    pd.testing.assert_frame_equal(search.by_step(found), by_step(whole.frame, hit), check_dtype=False)
    assert sorted(found.rows["response"].index) == sorted(whole.frame.index[hit])
    assert {str(rows["step"].dtype) for rows in found.rows.values()} == {"int64"}
    assert found.totals == {"prompt": 0, "response": int(hit.sum())}


def test_keeps_the_same_rollouts_whatever_the_order(folder: Path, sample: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of many hits some are kept, drawn by their keys."""
    monkeypatch.setattr(stored_search, "MOST_KEPT", 4)
    one, other = (StoredSearch(sample.of_split("train"), SearchText("it"), ("response",)) for _ in range(2))
    other._order = other._order[::-1]
    kept = [sorted(all_of(search).rows["response"].index) for search in (one, other)]
    assert kept[0] == kept[1]
    assert 1 <= len(kept[0]) <= 4 < one.see().totals["response"]


def test_stops_and_goes_on(sample: Run) -> None:
    """Stopped it keeps what it found; it goes on from there, and does nothing twice."""
    search = StoredSearch(sample.of_split("train"), SearchText("it"), ("response",))
    search.go_on()
    search.stop()
    while search.see().is_running:
        time.sleep(0.01)
    before = search.see()
    assert before.parts <= before.of == PARTS
    assert all_of(search).hit == all_of(StoredSearch(sample.of_split("train"), SearchText("it"), ("response",))).hit


def test_nobody_looks(sample: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    """A search that nobody is told of ends by itself."""
    monkeypatch.setattr(stored_search, "UNWATCHED_SECONDS", 0.0)
    search = StoredSearch(sample.of_split("train"), SearchText("it"), ("response",))
    search.go_on()
    while search._found.is_running:
        time.sleep(0.01)
    assert search.see().parts < PARTS


def test_a_part_that_is_gone_is_trouble(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where neither the index nor the run has it any more it is told in a sentence, and nobody waits."""
    monkeypatch.setattr(frame_writer, "LEAST_ROLLOUTS", 1)
    monkeypatch.setenv(SETTING, "1")
    indexed(write_run(tmp_path / "run", {"a.jsonl": [row(step) for step in range(4)]}), tmp_path / "index")
    run = open_run(tmp_path / "index")
    shutil.rmtree(tmp_path / "run")
    for part in (tmp_path / "index" / "parts").glob("*.arrow"):
        part.unlink()

    found = all_of(StoredSearch(run, SearchText("it"), ("response",)))
    assert found.trouble
    assert (found.parts, found.is_running) == (0, False)
