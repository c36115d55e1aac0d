"""Tests of the engine that has a Ray cluster parse: several nodes on this machine, which lose workers, nodes and drivers."""

import os
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import faulty_tasks
import pytest
from indexed import assert_same, indexed, parts_of
from rows import lines, read_manifest, token_row, write_run
from s3_server import Bucket, as_aws_tools_take_them, s3_server

from board import open_run
from board.indexing import target
from board.indexing.job import IndexJob
from board.indexing.progress import IndexProgress
from board.indexing.ray_engine import RayEngine
from board.remote import places

REPOSITORY = Path(__file__).parents[2]
STORE_BYTES = 80_000_000
WAIT_SECONDS = 60


@pytest.fixture(scope="module")
def endpoint() -> Iterator[str]:
    """A server of S3."""
    with s3_server() as address:
        yield address


@pytest.fixture(scope="module")
def cluster(endpoint: str) -> Iterator[Any]:
    """A head without processors and two nodes with one each; their workers find this board, the tests' helpers and the server."""
    ray = pytest.importorskip("ray")
    from ray.cluster_utils import Cluster

    with pytest.MonkeyPatch.context() as environment:
        environment.setenv("PYTHONPATH", f"{REPOSITORY}{os.pathsep}{REPOSITORY / 'tests' / 'helpers'}")
        for name, value in as_aws_tools_take_them(endpoint).items():
            environment.setenv(name, value)
        environment.setenv("RAY_USAGE_STATS_ENABLED", "0")
        environment.setenv("OMP_NUM_THREADS", "1")
        head = {"num_cpus": 0, "object_store_memory": STORE_BYTES, "include_dashboard": False}
        started = Cluster(initialize_head=True, head_node_args=head)
        for _ in range(2):
            started.add_node(num_cpus=1, object_store_memory=STORE_BYTES)
        yield started
        ray.shutdown()
        started.shutdown()


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Two shards of several ranges, the second with a last line without its end, and a compressed one."""
    monkeypatch.setattr("board.runs.parsed_shard.RANGE_BYTES", 4_000)
    rows = {at: [token_row(step, prompt=f"{at}.{step}") for step in range(80)] for at in range(3)}
    return write_run(
        tmp_path / "run", {"rank_0.jsonl": [*rows[0], b"{no"], "rank_1.jsonl": lines(rows[1])[:-1], "rank_2.jsonl.gz": rows[2]}
    )


def test_is_what_the_local_engine_makes(cluster: Any, run: Path, tmp_path: Path) -> None:
    """Row for row; a second run of the command keeps every range."""
    engine = RayEngine(cluster.address)
    first = indexed(run, tmp_path / "index", engine)
    second = indexed(run, tmp_path / "index", engine)
    local = indexed(run, tmp_path / "local")

    assert_same(open_run(tmp_path / "index"), open_run(tmp_path / "local"))
    assert_same(open_run(tmp_path / "index"), open_run(run))
    assert first.ranges_parsed == local.ranges_parsed > 6
    assert (second.ranges_parsed, second.ranges_kept, second.failed) == (0, first.ranges_parsed, [])


def test_from_a_store_into_a_store(cluster: Any, bucket: Bucket, run: Path) -> None:
    """Workers read ranges of objects and put parts; machines need share no folder, and keep nothing."""
    for path in run.iterdir():
        bucket.put(f"run/{path.name}", path.read_bytes())
    index = f"{bucket.address}/index"
    first = indexed(f"{bucket.address}/run", index, RayEngine(cluster.address))
    second = indexed(f"{bucket.address}/run", index, RayEngine(cluster.address))

    assert_same(open_run(index), open_run(run))
    assert (first.failed, second.ranges_parsed, second.ranges_kept) == ([], 0, first.ranges_parsed)
    assert not [*(Path(os.environ["RL_BOARD_CACHE"]) / places.FOLDER).glob("lent-*")]


def test_worker_killed(cluster: Any, run: Path, tmp_path: Path) -> None:
    """Its range is parsed by another; what it had written is nowhere."""
    result = indexed(run, tmp_path / "index", RayEngine(cluster.address, faulty_tasks.killed_once))

    assert (tmp_path / "killed").exists()
    assert result.failed == []
    assert_same(open_run(tmp_path / "index"), open_run(run))
    assert len(parts_of(tmp_path / "index")) == result.ranges_parsed + 1  # and the last line without its end


def test_node_removed(cluster: Any, run: Path, tmp_path: Path) -> None:
    """The ranges of a machine that is gone are parsed by those that are left."""
    gone = cluster.list_all_nodes()[-1]
    removed: list[float] = []

    def tell(progress: IndexProgress) -> None:
        if progress.read.bytes_done and not removed:
            removed.append(progress.read.share)
            cluster.remove_node(gone)

    try:
        with target.opened(run, tmp_path / "index") as goal:
            result = IndexJob(goal, RayEngine(cluster.address, faulty_tasks.slow), tell).run()
    finally:
        cluster.add_node(num_cpus=1, object_store_memory=STORE_BYTES)

    assert 0 < removed[0] < 1
    assert result.failed == []
    assert_same(open_run(tmp_path / "index"), open_run(run))


def test_range_that_always_ends_its_worker(cluster: Any, run: Path, tmp_path: Path) -> None:
    """It is reported, and all else is there; without the fault the next run of the command parses it alone."""
    result = indexed(run, tmp_path / "index", RayEngine(cluster.address, faulty_tasks.always_killed))

    assert [(one.shard, one.start) for one in result.failed] == [("rank_1.jsonl", 0)]
    here, found = open_run(run), open_run(tmp_path / "index")
    first_kept = int(found.frame["line"][found.frame["shard"] == "rank_1.jsonl"].min())
    whole = here.frame[(here.frame["shard"] != "rank_1.jsonl") | (here.frame["line"] >= first_kept)]
    assert found.frame[["step", "shard", "line"]].to_numpy().tolist() == whole[["step", "shard", "line"]].to_numpy().tolist()
    assert 1 < first_kept < 80
    assert indexed(run, tmp_path / "index", RayEngine(cluster.address)).ranges_parsed == 1
    assert_same(open_run(tmp_path / "index"), here)


DRIVER = """
import sys
from pathlib import Path
from board.runs import parsed_shard
parsed_shard.RANGE_BYTES = 4_000
from board.indexing.ray_engine import RayEngine
from board.runs import manifest_saver
manifest_saver._SAVE_SECONDS = 0.0
import faulty_tasks
from indexed import indexed
indexed(Path(sys.argv[1]), Path(sys.argv[2]), RayEngine(sys.argv[3], faulty_tasks.slow))
"""


@pytest.mark.slow
def test_driver_killed_and_started_again(cluster: Any, run: Path, tmp_path: Path) -> None:
    """It goes on where it was: what was finished is verified and kept, nothing is lost, nothing is there twice."""
    index = tmp_path / "index"
    driver = subprocess.Popen(
        [sys.executable, "-c", DRIVER, str(run), str(index), cluster.address], cwd=REPOSITORY, env=os.environ
    )
    until = time.monotonic() + WAIT_SECONDS
    while not any(read_manifest(path)["pieces"] for path in (index / "parts").glob("*.json")) and time.monotonic() < until:
        assert driver.poll() is None
        time.sleep(0.02)
    driver.kill()
    driver.wait()
    assert "not complete" in open_run(index).report.noted[0]

    result = indexed(run, index, RayEngine(cluster.address))

    assert result.ranges_kept >= 1
    assert result.ranges_parsed >= 1
    assert result.failed == []
    assert_same(open_run(index), open_run(run))
