"""Tests of making an index: whoever parses, in whatever order, however often it is stopped, it holds what the cache would."""

import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from indexed import ShuffledEngine, assert_same, indexed, parts_of
from rows import lines, read_manifest, row, token_row, write_run, write_shard

from board import open_run
from board.errors import RunNotFound
from board.indexing.job import TRIES
from board.runs import parsed_shard
from board.sources import index_file

REPOSITORY = Path(__file__).parents[2]


def rows(steps: range, note: str = "") -> list[dict[str, object]]:
    """Four rows a step."""
    return [token_row(step, prompt=f"{note}{step}.{i}", reward=float(i)) for step in steps for i in range(4)]


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Two plain shards of several ranges each, one compressed, a bad line in the middle, a last line without its end."""
    monkeypatch.setattr("board.runs.parsed_shard.RANGE_BYTES", 2_000)
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


@settings(max_examples=8)
@given(workers=st.integers(1, 9), seed=st.integers(0, 2**32), size=st.integers(300, 6_000))
def test_any_number_of_workers_ending_in_any_order(workers: int, seed: int, size: int) -> None:
    """The index is row for row what the cache shows, whatever the ranges, and a second run of the command parses nothing."""
    before = parsed_shard.RANGE_BYTES
    with tempfile.TemporaryDirectory() as folder:
        run = write_run(Path(folder) / "run", {"a.jsonl": rows(range(7)), "b.jsonl": lines(rows(range(5), "b"))[:-1]})
        try:
            parsed_shard.RANGE_BYTES = size  # type: ignore[misc]
            engine = ShuffledEngine(workers, seed)
            result = indexed(run, Path(folder) / "index", engine)
            again = indexed(run, Path(folder) / "index", ShuffledEngine(workers, seed + 1))
        finally:
            parsed_shard.RANGE_BYTES = before  # type: ignore[misc]
        assert_same(open_run(Path(folder) / "index"), open_run(run))
    assert len(engine.parsed) == len(set(engine.parsed)) == result.ranges_parsed
    assert (again.ranges_parsed, again.ranges_kept, again.rollouts) == (0, result.ranges_parsed, result.rollouts)


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


GROWTH: dict[str, tuple[Callable[[Path], object], int]] = {
    "nothing happened": (lambda run: None, 0),
    "a shard has grown": (lambda run: _append(run / "rank_1.jsonl", b"\n" + lines(rows(range(6, 9), "b"))), 4),
    "its last line has ended": (lambda run: _append(run / "rank_1.jsonl", b"\n"), 1),
    "a shard was replaced": (lambda run: write_shard(run / "rank_2.jsonl.gz", rows(range(9), "new")), 1),
    "a shard has come": (lambda run: write_shard(run / "rank_3.jsonl", rows(range(1), "d")), 1),
    "a shard is gone": (lambda run: (run / "rank_2.jsonl.gz").unlink(), 0),
}
"""What happens to a run, and how many ranges at most are parsed for it."""


def _append(path: Path, data: bytes) -> None:
    path.write_bytes(path.read_bytes() + data)


@pytest.mark.parametrize("name", GROWTH)
def test_changed_run_is_indexed_where_it_changed(name: str, run: Path, tmp_path: Path) -> None:
    """Only what is new is parsed; the index is then that of the run as it is, and no part lies there that it does not name."""
    change, most = GROWTH[name]
    indexed(run, tmp_path / "index")
    state = index_file.state(tmp_path / "index")
    change(run)
    result = indexed(run, tmp_path / "index")

    assert result.ranges_parsed <= most
    assert result.shards_gone == (["rank_2.jsonl.gz"] if name == "a shard is gone" else [])
    assert_same(open_run(tmp_path / "index"), open_run(run))
    assert parts_of(tmp_path / "index") == _named(tmp_path / "index")
    assert (index_file.state(tmp_path / "index") == state) == (name == "nothing happened")


def _named(index: Path) -> set[str]:
    told = index_file.read(index)["kept"]
    manifests = [read_manifest(path) for path in (index / "parts").glob("*.json")]
    pieces = [piece for one in manifests if one["shard"] in told for piece in one["pieces"]]
    return {
        file["name"] for piece in (*pieces, *(one["tail"] for one in told.values() if one["tail"])) for file in piece["files"]
    }


@pytest.mark.parametrize("what", ["a part", "a part's middle", "a part that is gone", "a manifest", "the file of the index"])
def test_damage_is_told_and_mended(what: str, run: Path, tmp_path: Path) -> None:
    """A damaged index never shows a wrong number, whatever is left of the run; the next run of the command mends what is damaged alone."""
    indexed(run, tmp_path / "index")
    here, parts = open_run(run), tmp_path / "index" / "parts"
    victim = max((parts / name for name in parts_of(tmp_path / "index")), key=lambda path: path.stat().st_size)
    damaged = {"a manifest": next(parts.glob("*.json")), "the file of the index": tmp_path / "index" / index_file.NAME}.get(
        what, victim
    )
    data = damaged.read_bytes()
    damaged.unlink()
    if what != "a part that is gone":
        damaged.write_bytes(data[:-300] if what == "a part" else data[: len(data) // 2] + b"?" + data[len(data) // 2 + 1 :])
    if what == "the file of the index":
        with pytest.raises(RunNotFound, match="damaged: run `rl-logging-board index` again"):
            open_run(tmp_path / "index")
    elif what != "a part's middle":
        found = open_run(tmp_path / "index", within=tmp_path / "index")
        assert 0 < len(found.frame) < len(here.frame)
        assert len(found.report.problems) > 0
        assert "run `rl-logging-board index` again" in str(found.report.problems)

    result = indexed(run, tmp_path / "index")

    assert_same(open_run(tmp_path / "index"), here)
    assert (result.ranges_mended + result.ranges_parsed >= 1) == (what != "the file of the index") or result.ranges_kept == 0


def test_range_that_always_fails_is_reported_and_the_rest_is_whole(run: Path, tmp_path: Path) -> None:
    """Rows behind it keep their lines; once its worker no longer fails, a run of the command parses that range alone."""
    here = open_run(run)
    engine = ShuffledEngine(fails=lambda task: (task.byte_range.shard.name, task.byte_range.start > 0) == ("rank_0.jsonl", True))
    result = indexed(run, tmp_path / "index", engine)

    assert len(result.failed) == len({one.start for one in result.failed}) > 2
    assert all(engine.parsed.count((one.shard, one.start)) == TRIES for one in result.failed)
    found = open_run(tmp_path / "index")
    lost = {(one.start, one.stop) for one in result.failed}
    offsets = here._by_key.source("offset", np.arange(here.rows_read))
    whole = [
        not (shard == "rank_0.jsonl" and any(start <= offsets[int(str(key))] < stop for start, stop in lost))
        for key, shard in here.frame["shard"].items()
    ]
    kept = here.frame[whole]
    assert found.frame["line"].tolist() == kept["line"].tolist()
    assert found.frame["shard"].tolist() == kept["shard"].tolist()
    assert sum("could not be indexed: a worker ended" in one.reason for one in found.report.problems) == len(result.failed)
    assert "not complete" in found.report.noted[0]

    again = indexed(run, tmp_path / "index")

    assert (again.ranges_parsed, again.failed) == (len(result.failed), [])
    assert_same(open_run(tmp_path / "index"), here)


def test_shard_that_vanishes_while_it_is_indexed(run: Path, tmp_path: Path) -> None:
    """The run is looked at again, and what is left of it indexed; which shard went is told."""

    def vanishing(task: object) -> bool:
        (run / "rank_1.jsonl").unlink(missing_ok=True)
        return False

    result = indexed(run, tmp_path / "index", ShuffledEngine(fails=vanishing))

    assert (result.shards_changed, result.failed) == (["rank_1.jsonl"], [])
    assert_same(open_run(tmp_path / "index"), open_run(run))


def test_files_of_parts_alone_are_looked_at_without_verifying(run: Path, tmp_path: Path) -> None:
    """`--no-verify` takes what is there by its name, and parses what is not."""
    indexed(run, tmp_path / "index")
    next(iter((tmp_path / "index" / "parts" / name) for name in parts_of(tmp_path / "index"))).unlink()

    result = indexed(run, tmp_path / "index", verify=False)

    assert result.ranges_parsed <= 1
    assert_same(open_run(tmp_path / "index"), open_run(run))


def test_another_version_makes_it_anew(run: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It opens, and says whose numbers they are; the next run of the command parses all of it."""
    indexed(run, tmp_path / "index")
    with monkeypatch.context() as other:
        other.setattr("board.runs.indexed_run.version", lambda: "v-other")
        assert "another version of the board" in open_run(tmp_path / "index").report.noted[0]
        for module in ("target", "index_account", "range_task"):
            other.setattr(f"board.indexing.{module}.version", lambda: "v-other")
        before = parts_of(tmp_path / "index")
        result = indexed(run, tmp_path / "index")
    assert result.ranges_kept == 0
    assert not before & parts_of(tmp_path / "index")


def test_tables_of_parts_are_there(run: Path, tmp_path: Path) -> None:
    """Vocabulary and measures lie beside every part, so that no page reads tokens to make them."""
    from board.analysis import measured_columns, rollout_measures
    from board.analysis.tagged_responses import MEASURES
    from board.runs import kept_tables

    indexed(run, tmp_path / "index")
    found = open_run(tmp_path / "index")

    assert measured_columns.are_kept(found)
    assert rollout_measures.is_kept(found, MEASURES)
    assert all(kept_tables.is_kept(part, "vocabulary") for part in found.parts)


KILLED = """
import sys
from pathlib import Path
from board.runs import parsed_shard
parsed_shard.RANGE_BYTES = 2_000
from indexed import ShuffledEngine, indexed
print("ready", flush=True)
for seed in range(1_000):
    indexed(Path(sys.argv[1]), Path(sys.argv[2]), ShuffledEngine(3, seed))
    if "--once" in sys.argv:
        break
"""


@pytest.mark.skipif(sys.platform == "win32", reason="needs SIGKILL")
def test_driver_killed_at_any_instant(run: Path, tmp_path: Path) -> None:
    """Killed with SIGKILL again and again, it goes on where it was; nothing is lost and nothing is there twice."""
    here = open_run(run)
    environment = os.environ | {"PYTHONPATH": f"{REPOSITORY}:{REPOSITORY / 'tests/helpers'}"}
    for at, seconds in enumerate((0.0, 0.04, 0.12)):
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
        if at % 2 and (tmp_path / "index" / index_file.NAME).exists():
            open_run(tmp_path / "index")

    indexed(run, tmp_path / "index")

    assert_same(open_run(tmp_path / "index"), here)
    assert parts_of(tmp_path / "index") == _named(tmp_path / "index")


def test_progress_tells_rate_bad_lines_and_the_slowest_shard(run: Path, tmp_path: Path) -> None:
    """What is told at the end counts every byte of the ranges and every refused line once."""
    result = indexed(run, tmp_path / "index")

    assert result.progress is not None
    said = result.progress.as_json()
    assert said["bytes_done"] == said["bytes_total"] > 0
    assert (said["bad_lines"], said["failed_ranges"]) == (2, 0)
    assert said["slowest_shard"]["name"] in {"rank_0.jsonl", "rank_1.jsonl", "rank_2.jsonl.gz"}
    assert json.loads(json.dumps(said)) == said
    assert "2 bad lines" in result.progress.words()
    assert result.bad_lines == 2


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
