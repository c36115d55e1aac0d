"""Tests of the frame of an index written out: opened from there, a run is row for row the one in memory, however odd it is."""

from pathlib import Path

import pytest
from indexed import assert_same, indexed
from odd_cases import CASES, ODD_RUNS
from rows import lines, token_row, write_run

from board import open_run
from board.indexing import frame_writer
from board.runs.run import Run


@pytest.fixture(autouse=True)
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    """Frames are written of few rollouts, in many stretches."""
    monkeypatch.setattr(frame_writer, "LEAST_ROLLOUTS", 1)
    monkeypatch.setattr(frame_writer, "STRETCH_ROLLOUTS", 3)
    monkeypatch.setattr(frame_writer, "SAMPLE_ROLLOUTS", 4)


def opens_no_part(run: Run) -> bool:
    """Whether a run was made of a written frame."""
    return type(run.parts).__name__ == "LazyParts"


@pytest.mark.parametrize("case", CASES)
def test_odd_run(case: str, tmp_path: Path) -> None:
    """Odd runs are as odd out of a written frame."""
    run = open_run(ODD_RUNS / case)
    indexed(ODD_RUNS / case, tmp_path / "index")

    found = open_run(tmp_path / "index")
    assert_same(found, run)
    assert opens_no_part(found) == bool(len(run.frame)) or not all(found.frame.shape)


def test_a_grown_run_has_its_frame_written_anew(tmp_path: Path) -> None:
    """A frame is of one state of its index: it is never shown for another, and the next run of the command writes it."""
    rows = [token_row(step, prompt=f"{step}.{one}", reward=float(one)) for step in range(5) for one in range(4)]
    run = write_run(tmp_path / "run", {"a.jsonl": rows[:12]})
    indexed(run, tmp_path / "index")
    (run / "a.jsonl").write_bytes(lines(rows))
    indexed(run, tmp_path / "index")

    found = open_run(tmp_path / "index")
    assert opens_no_part(found)
    assert_same(found, open_run(run))
    assert len([*(tmp_path / "index" / "frame").glob("rows-*")]) == len(found.steps)


@pytest.mark.parametrize("damage", ["cut", "gone", "other"])
def test_a_damaged_account_is_not_used(damage: str, tmp_path: Path) -> None:
    """Where `frame.json` is not as it was written the frame is made of the parts."""
    rows = [token_row(step, prompt=f"{step}.{one}", reward=float(one)) for step in range(3) for one in range(4)]
    run = write_run(tmp_path / "run", {"a.jsonl": rows})
    indexed(run, tmp_path / "index")
    path = tmp_path / "index" / "frame" / "frame.json"
    text = path.read_bytes()
    if damage == "gone":
        path.unlink()
    else:
        path.write_bytes(text[:-9] if damage == "cut" else text.replace(b'"rows": 12', b'"rows": 11', 1))

    found = open_run(tmp_path / "index")
    assert not opens_no_part(found)
    assert_same(found, open_run(run))
