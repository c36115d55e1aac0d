"""Tables made of parts: made once, of each part by itself, and made again when they are damaged or the part goes."""

from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from rows import row, write_run

from board import open_run
from board.analysis.rollouts import rollout_measures
from board.runs.cache import part_tables
from board.runs.cache.parts import Part
from board.runs.run import Run


class Counting:
    """Makes a table of each row's reward, and counts how often it was asked."""

    def __init__(self) -> None:
        self.parts: list[int] = []

    def __call__(self, part: Part) -> pa.Table:
        """The rewards."""
        self.parts.append(len(part))
        return pa.table({"reward": part.scalars.column("reward")})


def run_of(folder: Path, rows: int) -> Run:
    """A run of so many rows in one shard."""
    return open_run(write_run(folder, {"a.jsonl": [row(0, reward=float(at)) for at in range(rows)]}))


def tables(run: Run, make: Counting) -> list[list[int]]:
    """The table of each part."""
    return [part_tables.table(part, "rewards", make).column("reward").to_pylist() for part in run.parts]


def kept_files(run: Run) -> list[Path]:
    """Where the tables are kept."""
    return [path for part in run.parts if part.file for path in part.file.parent.glob(f"{part.file.stem}.rewards.*")]


def test_made_once_however_often_the_run_is_opened(tmp_path: Path) -> None:
    """A second opening finds the table; a run that grew makes it of the new part alone."""
    make = Counting()
    assert tables(run_of(tmp_path / "run", 3), make) == tables(open_run(tmp_path / "run"), make) == [[0, 1, 2]]
    assert make.parts == [3]

    write_run(tmp_path / "run", {"b.jsonl": [row(1, reward=9.0)]})
    assert tables(open_run(tmp_path / "run"), make) == [[0, 1, 2], [9]]
    assert make.parts == [3, 1]


@pytest.mark.parametrize("damage", ["zeroed", "cut", "empty", "other bytes"])
def test_damage_means_made_again(tmp_path: Path, damage: str) -> None:
    """A table that is not as it was written is never believed."""
    run, make = run_of(tmp_path / "run", 50), Counting()
    tables(run, make)
    (path,) = kept_files(run)
    data = path.read_bytes()
    middle = len(data) // 2
    path.write_bytes(
        {
            "zeroed": data[:middle] + bytes(200) + data[middle + 200 :],
            "cut": data[:middle],
            "empty": b"",
            "other bytes": b"x" * 999,
        }[damage]
    )

    assert tables(run, make) == [[*range(50)]]
    assert make.parts == [50, 50]
    assert tables(run, make) == [[*range(50)]]
    assert make.parts == [50, 50]


def test_a_cache_that_cannot_be_written_to(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without a cache the tables are made whenever they are asked for."""
    (tmp_path / "cache").write_text("a file, no folder")
    monkeypatch.setenv("RL_BOARD_CACHE", str(tmp_path / "cache"))
    run, make = run_of(tmp_path / "run", 3), Counting()

    assert tables(run, make) == tables(run, make) == [[0, 1, 2]]
    assert make.parts == [3, 3]


def test_whose_a_file_of_the_cache_is() -> None:
    """What this code made of a part is the part's; what other code made is nobody's, and goes with time."""
    assert part_tables.part_of(f"abc.rewards.{part_tables.version()}.arrow") == "abc.arrow"
    assert part_tables.part_of("abc.rewards.0123.arrow") == "abc.rewards.0123.arrow"
    assert part_tables.part_of("abc.arrow") == "abc.arrow"


def test_measures_are_in_the_frames_order(tmp_path: Path) -> None:
    """Columns of measures have a row for each rollout of the frame, whichever part it lies in, and go by its key."""
    rows = {"a.jsonl": [row(2, reward=1.0), row(0, reward=2.0)], "b.jsonl": [row(1, reward=3.0)]}
    run = open_run(write_run(tmp_path, rows))
    measures = {"own": lambda part: {"own": part.scalars.column("reward").to_numpy() * 10}}

    assert not rollout_measures.is_cached(run, measures)
    found = rollout_measures.of_run(run, measures)

    assert found["own"].tolist() == [20, 30, 10]
    assert np.array_equal(found.index, run.frame.index)
    assert rollout_measures.is_cached(run, measures)
    assert rollout_measures.of_run(run.of_steps(1, 2), measures)["own"].tolist() == [30, 10]
