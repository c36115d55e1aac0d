"""Tables made of a whole run: found again by these very rollouts and choices alone, and in the place of those of an earlier state."""

import math
from dataclasses import dataclass, fields
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
from numpy.typing import NDArray
from rows import row, write_run

from board import open_run
from board.runs.cache import run_tables
from board.runs.run import Run


def run_of(folder: Path, rows: int, shard: str = "a.jsonl") -> Run:
    """A run with so many more rows in a shard, every third of an evaluation."""
    made = [row(at, split="evaluation" if at % 3 == 2 else "train") for at in range(rows)]
    return open_run(write_run(folder, {shard: made}))


def test_found_again_by_the_rollouts_and_choices_it_is_of(tmp_path: Path) -> None:
    """Of the same run opened anew, or not at all: of another split, of other choices, of a filter, or under another name."""
    run, table = run_of(tmp_path / "run", 6), pa.table({"n": [1, 2]})
    assert run_tables.read(run, "some") is None
    run_tables.keep(run, "some", table, "5")

    again = open_run(tmp_path / "run")
    found = run_tables.read(again, "some", "5")
    assert found is not None
    assert found.column("n").to_pylist() == [1, 2]
    assert run_tables.read(again, "some", "6") is None
    assert run_tables.read(again, "other", "5") is None
    assert run_tables.read(again.trained, "some", "5") is None
    assert run_tables.read(again.of_rows(np.ones(6, bool), "filtered"), "some", "5") is None


def test_a_run_that_grew_has_its_own(tmp_path: Path) -> None:
    """The table of the state before is not taken for it, and makes room."""
    run = run_of(tmp_path / "run", 3)
    run_tables.keep(run, "some", pa.table({"n": [1]}))
    grown = run_of(tmp_path / "run", 2, "b.jsonl")
    assert run_tables.read(grown, "some") is None
    run_tables.keep(grown, "some", pa.table({"n": [2]}))
    found = run_tables.read(grown, "some")
    assert found is not None
    assert found.column("n").to_pylist() == [2]
    assert run.parts[0].file is not None
    assert len(list(run.parts[0].file.parent.glob("*.some.*"))) == 1


def test_a_filter_keeps_nothing(tmp_path: Path) -> None:
    """Each choice of a reader would leave a file."""
    run = run_of(tmp_path / "run", 3)
    some = run.of_rows(np.array([True, True, False]), "filtered")
    assert not run_tables.is_cacheable(some)
    run_tables.keep(some, "some", pa.table({"n": [1]}))
    assert run_tables.read(some, "some") is None
    assert run.parts[0].file is not None
    assert not list(run.parts[0].file.parent.glob("*.some.*"))


@dataclass(frozen=True)
class Made:
    """A bit of everything that is kept."""

    grid: NDArray[np.float32]
    none: NDArray[np.uint8]
    frame: pd.DataFrame
    by_name: dict[str, NDArray[np.int64]]
    nothing: dict[str, NDArray[np.int64]]
    texts: tuple[str, ...]
    share: float
    word: str


def test_what_was_made_comes_back(tmp_path: Path) -> None:
    """Arrays with their types and shapes, of no rows too, frames, texts of any letters, numbers that are none; it is made but once."""
    frame = pd.DataFrame({"phrase": np.array(["a\0", "\u2028 ü"], object), "n": [1, 2], "z": [0.5, np.nan]}).astype(
        {"phrase": object}
    )
    grid = np.arange(6, dtype=np.float32).reshape(2, 3)
    made = Made(grid, np.zeros((0, 4), np.uint8), frame, {"a": np.array([1, 2, 3])}, {}, ("", "\ud800x", "明"), math.nan, "words")
    run = run_of(tmp_path / "run", 1)
    for make in (lambda: made, None):
        found = run_tables.made(run, "some", "", Made, make)  # type: ignore[arg-type]
        pd.testing.assert_frame_equal(found.frame, frame)
        for one in fields(made):
            if one.name != "frame":
                np.testing.assert_equal(getattr(found, one.name), getattr(made, one.name))
        assert found.none.dtype.name == "uint8"
