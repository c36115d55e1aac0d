"""Tests of indexes in stores and of runs in stores: a real S3 server on loopback, real processes, connections cut and drivers killed."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from indexed import ShuffledEngine, assert_same, indexed
from range_server import RangeServer, range_server
from rows import lines, token_row, write_run
from s3_server import Bucket, cutting_proxy

from board import open_run
from board.cli.main import main
from board.indexing import frame_writer, prefix_folder
from board.indexing.range_task import RangeTask
from board.remote import mounts, object_store, stores
from board.runs.run import Run
from board.sources import index_file, presence, shards
from board.sql import stored_table

REPOSITORY = Path(__file__).parents[2]
WAIT_SECONDS = 60


@pytest.fixture(autouse=True)
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    """Lists at every look, waits little, and cuts small ranges."""
    monkeypatch.setattr(object_store, "FIRST_SECONDS", 0.001)
    monkeypatch.setattr(mounts, "POLL_SECONDS", 0.0)
    monkeypatch.setattr(mounts, "COSTS", 0.0)
    monkeypatch.setattr("board.runs.parsed_shard.RANGE_BYTES", 4_000)
    stores._shared.cache_clear()


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


def same(index: Run, run: Run) -> None:
    """As the same run opened from its shards, texts and arrays too."""
    assert_same(index, run)
    keys = run.frame.index.to_numpy()
    assert index.texts("response", keys).to_pylist() == run.texts("response", keys).to_pylist()
    for key in keys[::17]:
        assert index.rollout(int(key))["logprobs"].tolist() == run.rollout(int(key))["logprobs"].tolist()


def parts(bucket: Bucket) -> list[str]:
    """Names of the parts of an index."""
    return sorted(name for name in bucket.sizes("index/parts") if name.count(".") == 1 and name.endswith(".arrow"))


def pieces_named(bucket: Bucket) -> int:
    """How many pieces the manifests of an index name."""
    manifests = [bucket.data(f"index/parts/{name}") for name in bucket.sizes("index/parts") if name.endswith(".json")]
    return sum(len(json.loads(data.partition(b"\n")[2])["pieces"]) for data in manifests)


def left_behind() -> list[Path]:
    """What workers and drivers have left."""
    return [*(Path(os.environ["RL_BOARD_CACHE"]) / "indexing").glob("*")]


def test_is_what_the_run_is(bucket: Bucket, run: Path, tmp_path: Path) -> None:
    """From a store into a store, from a store into a folder, and from a folder into a store: row for row the run."""
    here, there = open_run(run), put(bucket, run)
    first = indexed(there, f"{bucket.address}/index")
    indexed(run, f"{bucket.address}/second")
    indexed(there, tmp_path / "index")

    for place in (f"{bucket.address}/index", f"{bucket.address}/second", tmp_path / "index"):
        same(open_run(place), here)
    assert first.failed == []
    assert left_behind() == []
    root = mounts.mounted(bucket.address)
    assert open_run(root / "index", within=root).raw(int(here.frame.index[3])) == here.raw(int(here.frame.index[3]))


def test_a_second_time_nothing_travels(bucket: Bucket, run: Path) -> None:
    """What is there is kept by its size and its manifest; of a shard that has grown its new bytes are parsed."""
    there, index = put(bucket, run), f"{bucket.address}/index"
    first = indexed(there, index)
    before = bucket.sizes("index")
    again = indexed(there, index)
    assert (again.ranges_parsed, again.ranges_kept) == (0, first.ranges_parsed)
    assert bucket.sizes("index") == before
    more = (run / "rank_0.jsonl").read_bytes() + b"\n" + lines(token_row(step) for step in range(30, 40))
    (run / "rank_0.jsonl").write_bytes(more)
    bucket.put("run/rank_0.jsonl", more)
    (run / "rank_2.jsonl.gz").unlink()
    bucket.remove("run/rank_2.jsonl.gz")
    grown = indexed(there, index)
    assert 0 < grown.ranges_parsed < first.ranges_parsed
    assert grown.shards_gone == ["rank_2.jsonl.gz"]
    same(open_run(index), open_run(run))
    made = [name for name in bucket.sizes("index/parts") if name.count(".") > 1]
    assert {name.partition(".")[0] for name in made} == {name.partition(".")[0] for name in parts(bucket)}


@pytest.mark.parametrize("victims", [(0, 1, 2), (3, 4, 0)], ids=str)
def test_verified_and_mended(bucket: Bucket, run: Path, victims: tuple[int, int, int]) -> None:
    """A part that is gone, or has another size, is made again; one whose bytes are others is seen where that is asked for."""
    index = f"{bucket.address}/index"
    indexed(run, index)
    first, second, third = (parts(bucket)[at] for at in victims)
    bucket.remove(f"index/parts/{first}")
    bucket.put(f"index/parts/{second}", b"short")
    data = bucket.data(f"index/parts/{third}")
    bucket.put(f"index/parts/{third}", data[: len(data) // 2] + b"?" + data[len(data) // 2 + 1 :])

    assert 1 <= indexed(run, index).ranges_parsed <= 2
    assert indexed(run, index, verify=True).ranges_mended <= 1
    same(open_run(index), open_run(run))
    assert indexed(run, index, verify=True).ranges_mended == 0


def test_a_shard_replaced_in_the_middle(bucket: Bucket, run: Path) -> None:
    """Its ranges are of one version: those of the other are told, and the shard is read again as it is then."""
    there, index = put(bucket, run), f"{bucket.address}/index"
    other = lines(token_row(step, prompt=f"other.{step}", response=["x"] * 9) for step in range(30))

    def replacing(task: RangeTask) -> bool:
        if task.byte_range.shard.name == "rank_0.jsonl" and task.byte_range.start:
            (run / "rank_0.jsonl").write_bytes(other)
            bucket.put("run/rank_0.jsonl", other)
        return False

    result = indexed(there, index, ShuffledEngine(1, fails=replacing))

    assert (result.shards_changed, result.failed) == (["rank_0.jsonl"], [])
    same(open_run(index), open_run(run))
    assert left_behind() == []


def ranges_asked(server: RangeServer) -> list[str]:
    """The files of which bytes were asked for since the last look, a name for each request."""
    asked = [path.rpartition("/")[2] for method, path, wanted in server.asked if method == "GET" and wanted]
    server.asked.clear()
    return asked


def test_what_opening_and_a_click_ask_for(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Opened is what says what there is, and a sample; a step is one request, a rollout one, beside tables that are fetched once for all."""
    rows = [token_row(step, prompt=f"{step}.{i}", response="x y z" * 50) for step in range(100) for i in range(6)]
    run = write_run(tmp_path / "run", {"rank_0.jsonl": rows[:400], "rank_1.jsonl": rows[400:]})
    monkeypatch.setattr("board.runs.parsed_shard.RANGE_BYTES", 100_000)
    for name, value in (("LEAST_ROLLOUTS", 1), ("STRETCH_ROLLOUTS", 200), ("SAMPLE_ROLLOUTS", 60)):
        monkeypatch.setattr(frame_writer, name, value)
    indexed(run, tmp_path / "served" / "index")
    monkeypatch.setenv("RL_BOARD_MEMORY_ROLLOUTS", "200")
    with range_server(tmp_path / "served") as server:
        found = open_run(f"{server.address}/index")
        assert sorted(ranges_asked(server)) == ["frame.json", "parts.arrow", index_file.NAME, "sample.arrow"]
        assert found.beyond is not None
        assert found.beyond.step(31) is not None
        assert sorted(name.partition("-")[0] for name in ranges_asked(server)) == ["rows", "steps"]
        assert found.beyond.step(77) is not None
        assert [name.partition("-")[0] for name in ranges_asked(server)] == ["rows"]
        found.rollout(int(found.frame.index[0]))
        asked = ranges_asked(server)
        assert sorted(name.rpartition(".")[2] for name in asked) == ["arrow", "json"]  # the part, and once its shard's manifest
        found.rollout(int(found.frame.index[0]))
        assert ranges_asked(server) == []
        query = "SELECT count(*) AS n, max(step) AS last FROM rollouts WHERE reward IS NOT NULL"
        assert stored_table.answer(found, query).to_pylist() == [{"n": 600, "last": 99}]
    assert found.rollout(int(found.frame.index[0])).texts["response"] == "x y z" * 50


def test_cut_connections(bucket: Bucket, run: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Answers that end in the middle, of lists, shards and parts that are put, are asked for again."""
    there, index = put(bucket, run), f"{bucket.address}/index"
    with cutting_proxy(bucket.endpoint, [300, 50, 0, 1000, 700, 20, 0, 400, 100, 0, 30, 5]) as door:
        monkeypatch.setenv("AWS_ENDPOINT_URL", door)
        assert indexed(there, index).failed == []
    monkeypatch.setenv("AWS_ENDPOINT_URL", bucket.endpoint)
    stores._shared.cache_clear()
    monkeypatch.setattr(mounts, "_mounts", {})
    same(open_run(index), open_run(run))


def test_expired_credentials(bucket: Bucket, run: Path) -> None:
    """A store that refuses from the middle on ends the command with a sentence and no secret; with new ones it goes on where it was."""
    there, index = put(bucket, run), f"{bucket.address}/index"
    asked: list[RangeTask] = []

    def refusing(task: RangeTask) -> bool:
        asked.append(task)
        if len(asked) == 4:
            bucket.refuse(everybody=True)
        return False

    try:
        with pytest.raises(OSError, match="the store refuses the credentials") as refused:
            indexed(there, index, ShuffledEngine(1, fails=refusing))
    finally:
        bucket.refuse(everybody=False)
    assert os.environ["AWS_SECRET_ACCESS_KEY"] not in str(refused.value)
    assert indexed(there, index).failed == []
    same(open_run(index), open_run(run))
    held = b"".join(bucket.data(f"index/{name}") for name in bucket.sizes("index"))
    assert os.environ["AWS_SECRET_ACCESS_KEY"].encode() not in held


DRIVER = """
import sys
from board.runs import parsed_shard, manifest_saver
parsed_shard.RANGE_BYTES = 4_000
manifest_saver._SAVE_SECONDS = 0.0
from indexed import ShuffledEngine, indexed
print("ready", flush=True)
def slow(task):
    import time
    time.sleep(float(sys.argv[3]))
    return False
indexed(sys.argv[1], sys.argv[2], ShuffledEngine(1, fails=slow))
"""


def driver(there: str, index: str, seconds: float) -> "subprocess.Popen[bytes]":
    """A process that indexes, so many seconds before each range, and has begun."""
    environment = os.environ | {"PYTHONPATH": f"{REPOSITORY}:{REPOSITORY / 'tests/helpers'}"}
    command = [sys.executable, "-c", DRIVER, there, index, str(seconds)]
    process = subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, cwd=REPOSITORY)
    assert process.stdout is not None
    assert process.stdout.readline() == b"ready\n"
    return process


def until(met: Any) -> None:
    """Wait until something is so."""
    end = time.monotonic() + WAIT_SECONDS
    while not met():
        assert time.monotonic() < end
        time.sleep(0.02)


def test_a_driver_killed_and_started_again(bucket: Bucket, run: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """At any instant: nothing is lost, nothing is there twice, and what was half done is nowhere."""
    there, index = put(bucket, run), f"{bucket.address}/index"
    for wanted in (1, 2):
        process = driver(there, index, 0.7)
        until(lambda wanted=wanted: pieces_named(bucket) >= wanted)
        process.send_signal(signal.SIGKILL)
        process.communicate()
    assert "not complete" in open_run(index).report.noted[0]
    monkeypatch.setattr(prefix_folder, "UNNAMED_SECONDS", -1)

    result = indexed(there, index)

    assert result.failed == []
    assert result.ranges_kept >= 1
    same(open_run(index), open_run(run))
    assert len(parts(bucket)) == result.ranges_kept + result.ranges_parsed + 1  # and the last line without its end
    assert left_behind() == []


def test_two_drivers_at_once(bucket: Bucket, run: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each does the work, and whichever ends last leaves a sound index: a second begins, and ends, while the first has half of its parts.

    Also where a shard was replaced between their looks: it is there whole, as it is now.
    """
    there, index, asked = put(bucket, run), f"{bucket.address}/index", list[RangeTask]()
    other = lines(token_row(step, prompt=f"other.{step}", response=["x"] * 9) for step in range(30))

    def overtaken(task: RangeTask) -> bool:
        asked.append(task)
        if len(asked) == 3:
            bucket.put("run/rank_0.jsonl", other)
            (run / "rank_0.jsonl").write_bytes(other)
            assert indexed(there, index).failed == []
            same(open_run(index), open_run(run))
        return False

    assert indexed(there, index, ShuffledEngine(1, fails=overtaken)).failed == []
    assert len(asked) > 3
    same(open_run(index), open_run(run))
    monkeypatch.setattr(prefix_folder, "UNNAMED_SECONDS", -1)
    indexed(there, index)
    assert len(parts(bucket)) == pieces_named(bucket) + 1  # the last line without its end; what the other has left is gone


def test_a_part_that_another_removed(bucket: Bucket, run: Path) -> None:
    """The command ends with a sentence rather than with an index that names what is gone."""
    index, asked = f"{bucket.address}/index", list[RangeTask]()

    def removing(task: RangeTask) -> bool:
        asked.append(task)
        if len(asked) == 3:
            bucket.remove(f"index/parts/{parts(bucket)[0]}")
        return False

    with pytest.raises(OSError, match="was at work there, and has removed parts"):
        indexed(run, index, ShuffledEngine(1, fails=removing))
    assert indexed(run, index).failed == []
    same(open_run(index), open_run(run))


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
    assert (told["run"], told["index"], told["complete"]) == (there, index, True)
    same(open_run(index), open_run(run))
    assert index_file.read(mounts.mounted(index))["location"] == there


def test_its_frame(bucket: Bucket, run: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Is written below the prefix, `frame.json` last, and anew when the index has grown; a reader opens it without touching a part."""
    monkeypatch.setattr(frame_writer, "LEAST_ROLLOUTS", 1)
    there, index = put(bucket, run), f"{bucket.address}/index"
    indexed(there, index)
    first = bucket.sizes("index/frame")
    assert "frame.json" in first
    found = open_run(index)
    assert type(found.parts).__name__ == "LazyParts"
    same(found, open_run(run))
    indexed(there, index)
    assert bucket.sizes("index/frame") == first
    bucket.put("run/rank_3.jsonl", lines([token_row(99)]))
    (run / "rank_3.jsonl").write_bytes(lines([token_row(99)]))
    indexed(there, index)
    assert not {name for name in bucket.sizes("index/frame") if name.startswith("rows-")} & first.keys()
    same(open_run(index), open_run(run))
    assert left_behind() == []


def test_where_a_shard_is_cut_is_asked_for_at_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The places of all ends are known beforehand: they are fetched side by side, and nothing more is asked for by the driver."""
    rows = [token_row(step, prompt="p" * 3_000) for step in range(400)]
    write_run(tmp_path / "served", {"rank_0.jsonl": rows})
    monkeypatch.setattr("board.runs.parsed_shard.RANGE_BYTES", 200_000)
    with range_server(tmp_path / "served") as server:
        folder = mounts.mounted(server.address)
        (shard,), _ = shards.find_shards(folder)
        presence.look_ahead(presence.ends_of(shard.path, shard.size))
        ranges_asked(server)
        cut = shards.cuts(shard, 0, shards.last_line_end(shard), 200_000)
        asked = len(ranges_asked(server))
    assert len(cut) >= 6
    assert asked <= len(cut) + 2  # the ends may be under way still
