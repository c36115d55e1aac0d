"""Tests of indexes in stores and of runs in stores: a real S3 server on loopback, connections cut and drivers killed."""

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import CliRunner
from indexed import HereEngine, assert_same, indexed
from rows import lines, token_row, write_run
from s3_server import Bucket, cutting_proxy

from board import open_run
from board.cli.main import main
from board.errors import RunNotFound
from board.runs.indexed.slices import SETTING
from board.sources import index_file
from board.sources.remote import listings, object_store
from board.sql import index_query

REPOSITORY = Path(__file__).parents[3]
WAIT_SECONDS = 60


@pytest.fixture(autouse=True)
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    """Lists at every look, waits little, and cuts small ranges."""
    monkeypatch.setattr(object_store, "FIRST_SECONDS", 0.001)
    monkeypatch.setattr(listings, "POLL_SECONDS", 0.0)
    monkeypatch.setattr(listings, "COSTS", 0.0)
    monkeypatch.setattr("board.runs.parsing.parsed_shard.RANGE_BYTES", 4_000)
    object_store._shared.cache_clear()


@pytest.fixture
def run(tmp_path: Path) -> Path:
    """Two plain shards of several ranges, the second with a last line without its end, and a compressed one."""
    rows = {at: [token_row(step, prompt=f"{at}.{step}") for step in range(30)] for at in range(3)}
    return write_run(
        tmp_path / "run",
        {"rank_0.jsonl": [*rows[0], b"{no"], "deep/rank_1.jsonl": lines(rows[1])[:-1], "rank_2.jsonl.gz": rows[2]},
    )


def put(bucket: Bucket, run: Path, prefix: str = "run") -> str:
    """The address of a run put into a bucket."""
    for path in run.rglob("*"):
        if path.is_file():
            bucket.put(f"{prefix}/{path.relative_to(run).as_posix()}", path.read_bytes())
    return f"{bucket.address}/{prefix}"


def rows_of(bucket: Bucket) -> set[str]:
    """Names of the files of rows of an index."""
    return {*bucket.sizes(f"index/{index_file.ROWS}")}


def test_is_what_the_run_is(bucket: Bucket, run: Path, tmp_path: Path) -> None:
    """From a store into a store, from a store into a folder, and from a folder into a store: row for row and token for token the run."""
    here, there = open_run(run), put(bucket, run)
    first = indexed(there, f"{bucket.address}/index")
    indexed(run, f"{bucket.address}/second")
    indexed(there, tmp_path / "index")

    for place in (f"{bucket.address}/index", f"{bucket.address}/second", tmp_path / "index"):
        assert_same(open_run(place), here)
    assert first.failed == {}
    assert [*(Path(os.environ["RL_BOARD_CACHE"]) / "indexing").glob("*")] == []
    root = listings.mounted(bucket.address)
    found = open_run(root / "index", within=root)
    assert found.raw(int(found.frame.index[3])) == here.raw(int(here.frame.index[3]))


def test_a_second_time_nothing_travels(bucket: Bucket, run: Path) -> None:
    """Sources that are there are kept; of a run that has changed those are parsed that have."""
    there, index = put(bucket, run), f"{bucket.address}/index"
    indexed(there, index)
    before = bucket.sizes("index")
    again = indexed(there, index)
    assert (again.parsed, again.kept) == (0, 3)
    assert bucket.sizes("index") == before
    more = (run / "rank_0.jsonl").read_bytes() + b"\n" + lines(token_row(step) for step in range(30, 40))
    (run / "rank_0.jsonl").write_bytes(more)
    bucket.put("run/rank_0.jsonl", more)
    (run / "rank_2.jsonl.gz").unlink()
    bucket.remove("run/rank_2.jsonl.gz")
    engine = HereEngine()
    assert indexed(there, index, engine).gone == ["rank_2.jsonl.gz"]
    assert engine.parsed == ["rank_0.jsonl"]
    assert_same(open_run(index), open_run(run))
    told = index_file.read(listings.mounted(index))["sources"].values()
    assert rows_of(bucket) == {file["name"] for one in told for file in one["files"]}


def test_a_slice_of_it(bucket: Bucket, run: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A sample opens, a step is whole beside it, and a query looks at all rollouts."""
    indexed(run, f"{bucket.address}/index")
    monkeypatch.setenv(SETTING, "20")
    found, here = open_run(f"{bucket.address}/index"), open_run(run)

    assert len(found.frame) < len(here.frame) == found.rollout_count
    assert len(found.at_step(3).of_steps(3, 3).frame) == len(here.of_steps(3, 3).frame)
    said = index_query.answer(found, "SELECT count(*) AS n, sum(step) AS steps FROM rollouts").to_pylist()
    assert said == [{"n": len(here.frame), "steps": int(here.frame["step"].sum())}]


DAMAGE: dict[str, Callable[[bytes], bytes | None]] = {
    "gone": lambda data: None,
    "of another size": lambda data: b"short",
    "of other bytes": lambda data: data[:100] + bytes(one ^ 1 for one in data[100:160]) + data[160:],
}


@pytest.mark.parametrize("damage", DAMAGE)
def test_verified_and_mended(damage: str, bucket: Bucket, run: Path) -> None:
    """A file that is gone, or has another size, is made again; one whose bytes are others is seen where that is asked for."""
    index = f"{bucket.address}/index"
    indexed(run, index)
    name = f"index/{index_file.ROWS}/{min(rows_of(bucket))}"
    data = DAMAGE[damage](bucket.data(name))
    bucket.remove(name)
    if data is not None:
        bucket.put(name, data)

    assert indexed(run, index).mended == (damage != "of other bytes")
    assert indexed(run, index, verify=True).mended == (damage == "of other bytes")
    assert_same(open_run(index), open_run(run))


def test_a_shard_replaced_in_the_middle(bucket: Bucket, run: Path) -> None:
    """What is read of it is of one version: another is told, and the next run of the command reads it as it is then."""
    there, index = put(bucket, run), f"{bucket.address}/index"
    other = lines(token_row(step, prompt=f"other.{step}") for step in range(30))

    def replaced(name: str) -> bool:
        bucket.put("run/rank_0.jsonl", other)
        (run / "rank_0.jsonl").write_bytes(other)
        return False

    assert [*indexed(there, index, HereEngine(fails=replaced)).failed] == ["rank_0.jsonl"]
    assert indexed(there, index).failed == {}
    assert_same(open_run(index), open_run(run))


def test_cut_connections(bucket: Bucket, run: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Answers that end in the middle, of lists and shards, are asked for again; a file that is not put is put by the next run of the command."""
    there, index = put(bucket, run), f"{bucket.address}/index"
    with cutting_proxy(bucket.endpoint, [300, 50, 0, 1000, 700, 20, 0, 400, 100, 0, 30, 5]) as door:
        monkeypatch.setenv("AWS_ENDPOINT_URL", door)
        for _ in range(12):
            try:
                if not indexed(there, index).failed:
                    break
            except (OSError, RunNotFound):
                continue
    monkeypatch.setenv("AWS_ENDPOINT_URL", bucket.endpoint)
    object_store._shared.cache_clear()
    monkeypatch.setattr(listings, "_mounts", {})
    assert_same(open_run(index), open_run(run))


def test_expired_credentials(bucket: Bucket, run: Path) -> None:
    """A store that refuses from the middle on ends the command with a sentence and no secret; with new ones it goes on where it was."""
    there, index = put(bucket, run), f"{bucket.address}/index"

    def refusing(name: str) -> bool:
        if name == "deep/rank_1.jsonl":
            bucket.refuse(everybody=True)
        return False

    try:
        with pytest.raises(OSError, match="the store refuses the credentials") as refused:
            indexed(there, index, HereEngine(fails=refusing))
    finally:
        bucket.refuse(everybody=False)
    assert os.environ["AWS_SECRET_ACCESS_KEY"] not in str(refused.value)
    assert indexed(there, index).failed == {}
    assert_same(open_run(index), open_run(run))
    held = b"".join(bucket.data(f"index/{name}") for name in bucket.sizes("index"))
    assert os.environ["AWS_SECRET_ACCESS_KEY"].encode() not in held


DRIVER = """
import sys, time
from board.cli.indexing import building
building._SAVE_SECONDS = 0.0
from indexed import HereEngine, indexed
indexed(sys.argv[1], sys.argv[2], HereEngine(fails=lambda name: time.sleep(0.7)))
"""


def test_a_driver_killed_and_started_again(bucket: Bucket, run: Path) -> None:
    """Nothing is lost, and what was half done is nowhere; until then it opens with a sentence."""
    there, index = put(bucket, run), f"{bucket.address}/index"
    environment = os.environ | {"PYTHONPATH": f"{REPOSITORY}:{REPOSITORY / 'tests/helpers'}"}
    process = subprocess.Popen([sys.executable, "-c", DRIVER, there, index], env=environment, cwd=REPOSITORY)
    end = time.monotonic() + WAIT_SECONDS
    while not bucket.sizes(f"index/{index_file.ROWS}") and time.monotonic() < end:
        time.sleep(0.02)
    time.sleep(0.3)
    process.send_signal(signal.SIGKILL)
    process.wait()
    with pytest.raises(RunNotFound, match="is not finished"):
        open_run(index)

    result = indexed(there, index)

    assert result.failed == {}
    assert result.kept >= 1
    assert_same(open_run(index), open_run(run))


REFUSED = {
    "other files": ("{bucket}/run", "holds other files"),
    "within the run": ("{bucket}/run/index", "within the run"),
    "around the run": ("{bucket}", "within the run"),
    "the web": ("http://127.0.0.1:9/index", "can be read and not written to"),
    "a secret": ("s3://me:hunter2@bucket/index", "credentials"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_refused(name: str, bucket: Bucket, run: Path) -> None:
    """A sentence, exit status 2, and nothing is written."""
    there = put(bucket, run)
    place, said = REFUSED[name]
    location = str(run) if name == "other files" else there
    before = bucket.sizes("run")
    ended = CliRunner().invoke(main, ["index", location, "--out", place.format(bucket=bucket.address)])
    assert (ended.exit_code, said in ended.output) == (2, True), ended.output
    assert "hunter2" not in ended.output
    assert bucket.sizes("run") == before


def test_the_command(bucket: Bucket, run: Path) -> None:
    """By processes of this machine; it names run and index by their addresses, and the index says of which run it is."""
    there, index = put(bucket, run), f"{bucket.address}/index"
    ended = CliRunner().invoke(main, ["index", there, "--out", index, "--json"])
    told = json.loads(ended.stdout)
    assert (told["run"], told["index"], told["complete"], told["rollouts"]) == (there, index, True, 90)
    assert index_file.read(listings.mounted(index))["location"] == there
