"""Tests of slices: read out of an index once, kept in the cache, and one key for a rollout in all of them."""

import os
import shutil
from pathlib import Path

import pandas as pd
import pytest
from indexed import indexed
from rows import token_row, write_run

from board import open_run
from board.errors import ArgumentRefused, RunNotFound
from board.runs.indexed.slices import SETTING
from board.sources import index_file
from board.sql import index_query
from board.sql.chips import parsed


@pytest.fixture
def index(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """600 rollouts of 30 steps, of which 80 are opened at once."""
    rows = [token_row(step, prompt=f"{step}.{one // 4}", reward=float(one)) for step in range(30) for one in range(20)]
    indexed(write_run(tmp_path / "run", {"a.jsonl": rows[:300], "b.jsonl": rows[300:]}), tmp_path / "index")
    monkeypatch.setenv(SETTING, "80")
    return tmp_path / "index"


def everything(index: Path) -> pd.DataFrame:
    """What the sample and a step beside it hold, token arrays too."""
    return open_run(index).at_step(3).to_pandas()


def test_is_kept_in_the_cache(index: Path) -> None:
    """What was read before is not read out of the rows again; what was not, cannot be."""
    before = everything(index)
    shutil.rmtree(index / index_file.ROWS)
    (index / index_file.ROWS).mkdir()

    pd.testing.assert_frame_equal(everything(index), before)
    with pytest.raises(RunNotFound, match="cannot be read: No such file"):
        open_run(index).at_step(20)


def test_a_damaged_copy_is_read_again(index: Path) -> None:
    """Numbers come out of the index where the cache does not hold what was written."""
    before = everything(index)
    for path in Path(os.environ["RL_BOARD_CACHE"]).rglob("*.arrow"):
        data = path.read_bytes()
        path.unlink()  # what is mapped stays as it was
        path.write_bytes(data[: len(data) // 3] + bytes(len(data) // 3) + data[2 * (len(data) // 3) :])

    pd.testing.assert_frame_equal(everything(index), before)


def test_without_a_cache(index: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """A cache that cannot be written costs time alone."""
    before = everything(index)
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("RL_BOARD_CACHE", str(tmp_path / "file"))

    pd.testing.assert_frame_equal(everything(index), before)


def test_a_rollout_has_one_key(index: Path) -> None:
    """In a sample, beside a whole step and in what a filter leaves."""
    run = open_run(index)
    step = run.at_step(7)
    few = index_query.filtered(run, list(parsed("step = 7")), "few")

    assert len(few.frame) == 20
    assert few.sources(few.frame.index.to_numpy()) == step.sources(few.frame.index.to_numpy())
    assert few.frame["group"].tolist() == step.frame.loc[few.frame.index, "group"].tolist()
    assert set(run.frame.index) < set(step.frame.index)


def test_a_step_that_is_too_large_stays_a_sample(index: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It would be more than may be opened at once."""
    run = open_run(index)
    monkeypatch.setenv(SETTING, "19")
    assert run.at_step(3) is run


def test_the_bound_is_a_number(index: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Another text is refused with a sentence."""
    monkeypatch.setenv(SETTING, "many")
    with pytest.raises(ArgumentRefused, match="a whole number of rollouts above 0"):
        open_run(index)
