"""Tests of the frame of an index written out: opened from there, a run is row for row the one in memory, however odd it is."""

import shutil
from pathlib import Path

import pytest
from indexed import ShuffledEngine, assert_same, indexed
from odd_cases import CASES, ODD_RUNS
from rows import lines, token_row, write_run

from board import open_run
from board.indexing import frame_writer, target
from board.indexing.job import IndexJob
from board.indexing.progress import IndexProgress
from board.runs.opening import opened_whole
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


@pytest.mark.parametrize("case", [pytest.param(one, marks=[pytest.mark.slow] if at % 4 else []) for at, one in enumerate(CASES)])
def test_odd_run(case: str, tmp_path: Path) -> None:
    """Odd runs are as odd in an index, out of a written frame and, where there is none, out of its parts."""
    run = opened_whole(ODD_RUNS / case)
    assert indexed(ODD_RUNS / case, tmp_path / "index").rollouts == run.report.rows

    found = opened_whole(tmp_path / "index")
    assert_same(found, run)
    assert opens_no_part(found) == bool(len(run.frame)) or not all(found.frame.shape)
    shutil.rmtree(tmp_path / "index" / "frame", ignore_errors=True)
    found = opened_whole(tmp_path / "index")
    assert_same(found, run)
    assert not opens_no_part(found)


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


@pytest.fixture
def run(tmp_path: Path) -> Path:
    """Three shards, whose frame takes many pieces of work."""
    rows = [token_row(step, prompt=f"{step}.{one}", reward=float(one)) for step in range(5) for one in range(3)]
    return write_run(tmp_path / "run", {f"{name}.jsonl": rows[at::3] for at, name in enumerate("abc")})


def files_of(index: Path) -> dict[str, bytes]:
    """The frame of an index, byte for byte."""
    return {path.name: path.read_bytes() for path in (index / "frame").iterdir()}


@pytest.mark.parametrize("after", [1, 5])
def test_a_command_that_was_stopped_begins_the_frame_anew(after: int, run: Path, tmp_path: Path) -> None:
    """Until it is whole there is none; nothing half written is taken for whole, and what comes of it is the same."""
    indexed(run, tmp_path / "whole")

    def stop(progress: IndexProgress) -> None:
        if progress.frame and progress.frame.done >= 3 * after:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt), target.opened(run, tmp_path / "index") as goal:
        IndexJob(goal, ShuffledEngine(), stop).run()
    assert (tmp_path / "index" / "frame").is_dir()
    for path in (tmp_path / "index" / "frame").glob("rows-*"):
        path.write_bytes(path.read_bytes()[:-7])
    if after < 5:
        assert not opens_no_part(open_run(tmp_path / "index"))

    indexed(run, tmp_path / "index")
    assert opens_no_part(open_run(tmp_path / "index"))
    assert_same(open_run(tmp_path / "index"), open_run(run))
    own, other = ({name for name in files_of(tmp_path / place) if not name.startswith("rows-")} for place in ("index", "whole"))
    assert own == other


@pytest.mark.parametrize("name", ["rows-", "sample", "steps-", "parts"])
def test_a_damaged_file_is_found_and_mended(name: str, run: Path, tmp_path: Path) -> None:
    """The command reads what is there against its sums, and writes the frame anew where one is off."""
    indexed(run, tmp_path / "index")
    wanted = files_of(tmp_path / "index")
    path = next((tmp_path / "index" / "frame").glob(f"{name}*"))
    path.write_bytes(bytes(9) + wanted[path.name][9:])

    indexed(run, tmp_path / "index", verify=False)
    assert files_of(tmp_path / "index") != wanted
    indexed(run, tmp_path / "index")
    assert files_of(tmp_path / "index") == wanted


def test_a_frame_that_cannot_be_written_is_told(run: Path, tmp_path: Path) -> None:
    """The command ends with the reason; the parts are there, and the run opens from them."""
    indexed(run, tmp_path / "index")
    shutil.rmtree(tmp_path / "index" / "frame")
    (tmp_path / "index" / "frame").write_text("a file where the folder should be")

    with pytest.raises(OSError, match="frame"):
        indexed(run, tmp_path / "index")
    assert_same(open_run(tmp_path / "index"), open_run(run))


def test_says_how_far_it_is(run: Path, tmp_path: Path) -> None:
    """From nothing to all rollouts, with a rate and the time left."""
    said = list[IndexProgress]()
    with target.opened(run, tmp_path / "index") as goal:
        IndexJob(goal, ShuffledEngine(), said.append).run()
    frames = [one.frame for one in said if one.frame]
    assert [one.done for one in frames] == [0, 3, 6, 9, 12, 15]
    assert all(one.total == 15 for one in frames)
    assert said[-1].words().startswith("frame: 100%, 15 of 15 rollouts, ")
    assert said[-1].as_json()["frame"]["seconds_left"] == 0
