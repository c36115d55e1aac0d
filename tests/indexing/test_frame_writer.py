"""Tests of the frame of an index written out: opened from there, a run is row for row the one in memory, however odd it is."""

import shutil
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest
from indexed import ShuffledEngine, assert_same, indexed
from odd_cases import CASES, ODD_RUNS
from rows import lines, token_row, write_run

from board import open_run
from board.indexing import frame_writer, local_engine, target
from board.indexing.job import IndexJob
from board.indexing.local_engine import LocalEngine
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


@pytest.mark.parametrize("case", CASES)
def test_odd_run(case: str, tmp_path: Path) -> None:
    """Odd runs are as odd out of a written frame."""
    run = opened_whole(ODD_RUNS / case)
    indexed(ODD_RUNS / case, tmp_path / "index")

    found = opened_whole(tmp_path / "index")
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


@pytest.fixture
def run(tmp_path: Path) -> Path:
    """Three shards, whose frame takes many pieces of work."""
    rows = [token_row(step, prompt=f"{step}.{one}", reward=float(one)) for step in range(5) for one in range(3)]
    return write_run(tmp_path / "run", {f"{name}.jsonl": rows[at::3] for at, name in enumerate("abc")})


def files_of(index: Path) -> dict[str, bytes]:
    """The frame of an index, byte for byte."""
    return {path.name: path.read_bytes() for path in (index / "frame").iterdir()}


def test_the_same_whoever_writes_it(run: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Byte for byte: this process, processes of this machine, or workers that end in any order."""
    monkeypatch.setattr(frame_writer, "TOGETHER_PARTS", 1)
    monkeypatch.setattr(local_engine, "SMALL_ROLLOUTS", 0)
    indexed(run, tmp_path / "index", ShuffledEngine(seed=1))
    wanted = files_of(tmp_path / "index")
    assert {"sample.arrow", "steps-train.arrow", "frame.json"} <= wanted.keys()
    assert not [name for name in wanted if name.startswith("made-")]

    for engine in (ShuffledEngine(seed=2), LocalEngine(1), LocalEngine(2)):
        shutil.rmtree(tmp_path / "index" / "frame")
        indexed(run, tmp_path / "index", engine)
        assert files_of(tmp_path / "index") == wanted


class StoppedEngine(ShuffledEngine):
    """Is ended after so many pieces of work on the frame."""

    def __init__(self, after: int) -> None:
        super().__init__()
        self._after = after
        self.made = list[str]()
        """Kind and place of what had to be made."""

    def answers(self, orders: Sequence[dict[str, Any]], tick: Callable[[], None]) -> Iterator[tuple[int, dict[str, Any]]]:
        """As an engine does, until it is ended."""
        for at, said in super().answers(orders, tick):
            if said.get("made"):
                self.made.append(f"{orders[at]['kind']} {orders[at]['first']}")
            yield at, said
            self._after -= 1
            if not self._after:
                raise KeyboardInterrupt


@pytest.mark.parametrize("after", [1, 4, 7])
def test_goes_on_where_it_was_stopped(after: int, run: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Stopped at any piece of work it does none twice, and what comes of it is the same; until then there is no frame."""
    monkeypatch.setattr(frame_writer, "TOGETHER_PARTS", 1)
    indexed(run, tmp_path / "whole")
    first, second = StoppedEngine(after), StoppedEngine(1_000)
    with pytest.raises(KeyboardInterrupt):
        indexed(run, tmp_path / "index", first)
    assert not opens_no_part(open_run(tmp_path / "index"))

    indexed(run, tmp_path / "index", second)
    assert opens_no_part(open_run(tmp_path / "index"))
    assert not set(first.made) & set(second.made)
    assert {"facts 0", "facts 1", "facts 2", "stretch 0"} <= {*first.made, *second.made}
    assert_same(open_run(tmp_path / "index"), open_run(run))
    own, other = ({name for name in files_of(tmp_path / place) if not name.startswith("rows-")} for place in ("index", "whole"))
    assert own == other


@pytest.mark.parametrize("left", ["made-", "rows-"])
def test_what_a_stop_left_damaged_is_made_again(left: str, run: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing half written is taken for whole."""
    monkeypatch.setattr(frame_writer, "TOGETHER_PARTS", 1)
    with pytest.raises(KeyboardInterrupt):
        indexed(run, tmp_path / "index", StoppedEngine(7))
    for path in (tmp_path / "index" / "frame").glob(f"{left}*"):
        path.write_bytes(path.read_bytes()[:-7])
    indexed(run, tmp_path / "index")
    assert_same(open_run(tmp_path / "index"), open_run(run))


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


def test_a_piece_of_work_that_always_fails_is_told(run: Path, tmp_path: Path) -> None:
    """The command ends with the reason; the parts are there, and the run opens from them."""

    class Failing(ShuffledEngine):
        def answers(self, orders: Sequence[dict[str, Any]], tick: Callable[[], None]) -> Iterator[tuple[int, dict[str, Any]]]:
            yield from ((at, {"failed": "no room"}) for at, _ in enumerate(orders))

    with pytest.raises(OSError, match=r"could not be written: no room"):
        indexed(run, tmp_path / "index", Failing())
    assert_same(open_run(tmp_path / "index"), open_run(run))


def test_says_how_far_it_is(run: Path, tmp_path: Path) -> None:
    """Twice through all rollouts, each from nothing to all, with a rate and the time left."""
    said = list[IndexProgress]()
    with target.opened(run, tmp_path / "index") as goal:
        IndexJob(goal, ShuffledEngine(), said.append).run()
    frames = [one.frame for one in said if one.frame]
    assert [*dict.fromkeys(one.doing for one in frames)] == ["counting", "rows"]
    assert {one.doing: one.done for one in frames} == dict.fromkeys(["counting", "rows"], 15)
    assert all(one.total == 15 for one in frames)
    assert said[-1].words().startswith("frame, rows (2 of 2): 100%, 15 of 15 rollouts, ")
    assert said[-1].as_json()["frame"]["seconds_left"] == 0
