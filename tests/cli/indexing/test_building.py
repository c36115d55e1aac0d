"""Tests of making an index: whoever parses, in whatever order, however often it is stopped, it holds what the run shows."""

import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pandas as pd
import pytest
from indexed import HereEngine, assert_same, indexed, rows_of
from odd_cases import CASES, ODD_RUNS
from rows import lines, row, token_row, write_run, write_shard

from board import open_run
from board.cli.indexing import building, step_sums, target
from board.cli.indexing.building import IndexProgress
from board.errors import RunNotFound
from board.runs.opening import opened_whole
from board.sources import index_file

REPOSITORY = Path(__file__).parents[3]


def rows(steps: range, note: str = "") -> list[dict[str, object]]:
    """Four rows a step."""
    return [token_row(step, prompt=f"{note}{step}.{i}", reward=float(i)) for step in steps for i in range(4)]


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Two plain shards of several ranges each, one compressed, a bad line in the middle, a last line without its end."""
    monkeypatch.setattr("board.runs.parsing.parsed_shard.RANGE_BYTES", 2_000)
    first, second = lines(rows(range(12))), lines(rows(range(6), "b"))
    middle = first.index(b"\n", len(first) // 2) + 1
    return write_run(
        tmp_path / "run",
        {
            "rank_0.jsonl": first[:middle] + b'{"step": 3}\n{no\n' + first[middle:],
            "rank_1.jsonl": second[:-1],
            "rank_2.jsonl.gz": rows(range(4), "c"),
        },
    )


def test_holds_what_the_run_shows(run: Path, tmp_path: Path) -> None:
    """Row for row and token for token; a second run of the command parses nothing and changes nothing."""
    engine = HereEngine()
    first = indexed(run, tmp_path / "index", engine)
    state = index_file.state(tmp_path / "index")
    again = indexed(run, tmp_path / "index", engine)

    found, here = open_run(tmp_path / "index"), open_run(run)
    assert_same(found, here)
    assert [repr(found.rollout(key)) for key in found.frame.index] == [repr(here.rollout(key)) for key in here.frame.index]
    assert sorted(engine.parsed) == ["rank_0.jsonl", "rank_1.jsonl", "rank_2.jsonl.gz"]
    assert (first.parsed, again.parsed, again.kept, again.rollouts) == (3, 0, 3, first.rollouts)
    assert index_file.state(tmp_path / "index") == state


def test_what_another_source_has_parsed_anew_is_not_kept(tmp_path: Path) -> None:
    """A new source whose loss mask trains on end tokens makes pads of those that an old one holds."""
    cut = token_row(1) | {"response_tokens": ["a", "</s>", "</s>"], "response": "a</s></s>", "loss_mask": [1, 0, 0]}
    folder = write_run(tmp_path / "run", {"rank_0.jsonl": [cut]})
    indexed(folder, tmp_path / "index")
    write_run(folder, {"rank_1.jsonl": [cut | {"loss_mask": [1, 1, 0]}]})
    engine = HereEngine()

    result = indexed(folder, tmp_path / "index", engine)

    assert sorted(engine.parsed) == ["rank_0.jsonl", "rank_1.jsonl"]
    assert (result.parsed, result.kept, result.mended) == (2, 0, 0)


@pytest.mark.parametrize("case", [pytest.param(one, marks=[pytest.mark.slow] if at % 8 else []) for at, one in enumerate(CASES)])
def test_odd_run(case: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Odd runs are as odd in an index."""
    monkeypatch.setattr(step_sums, "STRETCH_ROLLOUTS", 3)
    run = opened_whole(ODD_RUNS / case)
    assert indexed(ODD_RUNS / case, tmp_path / "index").rollouts >= run.report.rows

    assert_same(opened_whole(tmp_path / "index"), run)


def test_is_an_open_format(run: Path, tmp_path: Path) -> None:
    """Any reader of Parquet has the numbers, texts and token arrays, what is missing being null."""
    indexed(run, tmp_path / "index")
    here = open_run(run)
    table = pd.read_parquet(tmp_path / "index" / index_file.ROWS)

    assert table["reward"].sum() == here.frame["reward"].sum()
    assert sorted(table["text/response"]) == sorted(here.texts("response", here.frame.index.to_numpy()).to_pylist())
    assert sum(map(len, table["token/logprobs"])) == sum(len(here.rollout(key)["logprobs"]) for key in here.frame.index)


def test_opens_without_its_shards(run: Path, tmp_path: Path) -> None:
    """The run folder may be gone, its last unended line and its texts are there all the same; a raw record says why it is not."""
    here = open_run(run)
    indexed(run, tmp_path / "index")
    run.rename(tmp_path / "elsewhere")
    (tmp_path / "index").rename(tmp_path / "moved")

    found = open_run(tmp_path / "moved")

    assert_same(found, here)
    assert found.rollout(int(found.frame.index[-1])).texts == here.rollout(int(here.frame.index[-1])).texts
    with pytest.raises(RunNotFound, match="cannot be read any more"):
        found.raw(0)


GROWTH: dict[str, tuple[Callable[[Path], object], list[str]]] = {
    "nothing happened": (lambda run: None, []),
    "a shard has grown": (lambda run: _append(run / "rank_1.jsonl", b"\n" + lines(rows(range(6, 9), "b"))), ["rank_1.jsonl"]),
    "a shard was replaced": (lambda run: write_shard(run / "rank_2.jsonl.gz", rows(range(9), "new")), ["rank_2.jsonl.gz"]),
    "a shard has come": (lambda run: write_shard(run / "a.jsonl", rows(range(1), "d")), ["a.jsonl"]),
    "a shard is gone": (lambda run: (run / "rank_2.jsonl.gz").unlink(), []),
}
"""What happens to a run, and which sources are parsed for it."""


def _append(path: Path, data: bytes) -> None:
    path.write_bytes(path.read_bytes() + data)


@pytest.mark.parametrize("name", GROWTH)
def test_changed_run_is_indexed_where_it_changed(name: str, run: Path, tmp_path: Path) -> None:
    """Only what is new is parsed; the index is then that of the run as it is, and no file lies there that it does not name."""
    change, parsed = GROWTH[name]
    indexed(run, tmp_path / "index")
    change(run)
    engine = HereEngine()
    result = indexed(run, tmp_path / "index", engine)

    assert engine.parsed == parsed
    assert result.gone == (["rank_2.jsonl.gz"] if name == "a shard is gone" else [])
    assert_same(open_run(tmp_path / "index"), open_run(run))
    assert rows_of(tmp_path / "index") == _named(tmp_path / "index")


def _named(index: Path) -> set[str]:
    told = index_file.read(index)
    assert {path.name for path in index.glob("*.parquet")} == {told["sums"]["name"], told["places"]["name"]}
    return {file["name"] for source in told["sources"].values() for file in source["files"]}


def _damaged(data: bytes) -> bytes:
    start, stop = len(data) // 4, 3 * len(data) // 4
    return data[:start] + bytes(one ^ 1 for one in data[start:stop]) + data[stop:]


DAMAGE: dict[str, Callable[[Path], object]] = {
    "cut": lambda path: path.write_bytes(path.read_bytes()[:-300]),
    "bits in the middle": lambda path: path.write_bytes(_damaged(path.read_bytes())),
    "gone": lambda path: path.unlink(),
}


@pytest.mark.parametrize("what", ["rows", "places", "the file of the index"])
@pytest.mark.parametrize("damage", DAMAGE)
def test_damage_is_told_and_mended(damage: str, what: str, run: Path, tmp_path: Path) -> None:
    """A damaged index is named, and never shows a wrong number; the command mends what is damaged alone."""
    indexed(run, tmp_path / "index")
    here, told = open_run(run), index_file.read(tmp_path / "index")
    rows_file = told["sources"]["rank_1.jsonl"]["files"][0]["name"]
    names = {"rows": f"{index_file.ROWS}/{rows_file}", "places": told["places"]["name"], "the file of the index": index_file.NAME}
    DAMAGE[damage](tmp_path / "index" / names[what])
    with pytest.raises(RunNotFound, match="rl-logging-board index` again"):
        open_run(tmp_path / "index")

    engine = HereEngine()
    result = indexed(run, tmp_path / "index", engine, verify=True)

    assert_same(open_run(tmp_path / "index"), here)
    assert engine.parsed == {"rows": ["rank_1.jsonl"], "places": []}.get(what, [*reversed(told["sources"])])
    assert result.mended == (what == "rows")


def test_source_that_always_fails_is_reported_and_the_rest_is_whole(run: Path, tmp_path: Path) -> None:
    """Once its worker no longer fails, a run of the command parses that source alone."""
    here = open_run(run)
    result = indexed(run, tmp_path / "index", HereEngine(fails=lambda name: name == "rank_0.jsonl"))

    assert result.failed == {"rank_0.jsonl": "a worker ended"}
    found = open_run(tmp_path / "index")
    kept = here.frame[here.frame["shard"] != "rank_0.jsonl"]
    assert found.frame["line"].tolist() == kept["line"].tolist()
    assert [str(one) for one in found.report.problems] == ["rank_0.jsonl: could not be indexed: a worker ended"]
    engine = HereEngine()
    assert indexed(run, tmp_path / "index", engine).failed == {}
    assert engine.parsed == ["rank_0.jsonl"]
    assert_same(open_run(tmp_path / "index"), here)


def test_shard_that_vanishes_or_changes_while_it_is_indexed(run: Path, tmp_path: Path) -> None:
    """It is told, nothing of it is in the index, and the next run of the command looks again."""

    def changing(name: str) -> bool:
        (run / "rank_1.jsonl").unlink(missing_ok=True)
        write_shard(run / "rank_0.jsonl", rows(range(3), "other"))
        return False

    result = indexed(run, tmp_path / "index", HereEngine(fails=changing))
    assert {*result.failed} == {"rank_0.jsonl", "rank_1.jsonl"}
    assert len(open_run(tmp_path / "index").frame) == 16

    assert indexed(run, tmp_path / "index").failed == {}
    assert_same(open_run(tmp_path / "index"), open_run(run))


def test_another_version_makes_it_anew(run: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It opens, and says whose numbers they are; the next run of the command parses all of it."""
    indexed(run, tmp_path / "index")
    with monkeypatch.context() as other:
        other.setattr("board.runs.indexed.indexed_run.version", lambda: "v-other")
        assert "another version of the board" in open_run(tmp_path / "index").report.noted[0]
        for module in ("building", "source_writer", "target"):
            other.setattr(f"board.cli.indexing.{module}.version", lambda: "v-other")
        before = rows_of(tmp_path / "index")
        result = indexed(run, tmp_path / "index")
    assert result.kept == 0
    assert not before & rows_of(tmp_path / "index")


KILLED = """
import sys, time
from pathlib import Path
from board.cli.indexing import building, target
building._SAVE_SECONDS = 0.0
from indexed import HereEngine, indexed
print("ready", flush=True)
while True:
    indexed(Path(sys.argv[1]), Path(sys.argv[2]), HereEngine(fails=lambda name: time.sleep(0.1)))
"""


@pytest.mark.skipif(sys.platform == "win32", reason="needs SIGKILL")
def test_driver_killed_at_any_instant(run: Path, tmp_path: Path) -> None:
    """Killed with SIGKILL again and again, it goes on where it was; nothing is lost and nothing is there twice."""
    here = open_run(run)
    environment = os.environ | {"PYTHONPATH": f"{REPOSITORY}:{REPOSITORY / 'tests/helpers'}"}
    for seconds in (0.0, 0.1, 0.3, 0.8):
        process = subprocess.Popen(
            [sys.executable, "-c", KILLED, str(run), str(tmp_path / "index")],
            env=environment,
            stdout=subprocess.PIPE,
            cwd=REPOSITORY,
        )
        assert process.stdout is not None
        assert process.stdout.readline() == b"ready\n"
        time.sleep(seconds)
        process.send_signal(signal.SIGKILL)
        process.communicate()
        if index_file.is_there(tmp_path / "index") and not (tmp_path / "index" / index_file.NAME).exists():
            with pytest.raises(RunNotFound, match="is not finished, or its file is gone: run `rl-logging-board index` again"):
                open_run(tmp_path / "index")

    indexed(run, tmp_path / "index")

    assert_same(open_run(tmp_path / "index"), here)
    assert rows_of(tmp_path / "index") == _named(tmp_path / "index")


def test_goes_on_with_what_is_missing(run: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Stopped before its end, it keeps the sources that were done."""
    monkeypatch.setattr(building, "_SAVE_SECONDS", 0.0)

    def stopping(name: str) -> bool:
        if name == "rank_2.jsonl.gz":
            raise KeyboardInterrupt
        return False

    with pytest.raises(KeyboardInterrupt):
        indexed(run, tmp_path / "index", first := HereEngine(fails=stopping))
    then = HereEngine()
    indexed(run, tmp_path / "index", then)

    assert sorted([*first.parsed, *then.parsed]) == ["rank_0.jsonl", "rank_1.jsonl", "rank_2.jsonl.gz", "rank_2.jsonl.gz"]
    assert_same(open_run(tmp_path / "index"), open_run(run))


def test_progress_tells_bytes_rollouts_and_bad_lines(run: Path, tmp_path: Path) -> None:
    """What is told at the end counts every byte of the sources and every refused line once, then what is summed up."""
    told = list[IndexProgress]()
    with target.opened(run, tmp_path / "index") as goal:
        building.build(goal, HereEngine(), told.append)

    parsed = next(one for one in reversed(told) if not one.summed)
    assert parsed.read.bytes_done == parsed.read.bytes_total > 0
    assert "2 bad lines" in parsed.words()
    assert told[-1].summed == told[-1].read.rows == 88


def test_empty_run(tmp_path: Path) -> None:
    """A run whose only shard is empty is an index without rows."""
    run = write_run(tmp_path / "run", {"rank_0.jsonl": b""})
    indexed(run, tmp_path / "index")

    assert_same(open_run(tmp_path / "index"), open_run(run))
    shutil.rmtree(run)
    assert open_run(tmp_path / "index").frame.empty


def test_one_row(tmp_path: Path) -> None:
    """The least run there is."""
    run = write_run(tmp_path / "run", {"rank_0.jsonl": [row(1)]})
    assert indexed(run, tmp_path / "index").rollouts == 1
    assert_same(open_run(tmp_path / "index"), open_run(run))
