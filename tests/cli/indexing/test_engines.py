"""Tests of the engine that has a Ray cluster parse: several nodes on this machine, which lose workers, nodes and drivers."""

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import faulty_tasks
import pytest
from indexed import assert_same, indexed, rows_of
from rows import lines, token_row, write_run
from s3_server import Bucket, as_aws_tools_take_them, s3_server

from board import open_run
from board.cli.indexing import building, engines, target
from board.cli.indexing.building import IndexProgress
from board.cli.indexing.engines import LocalEngine, RayEngine

REPOSITORY = Path(__file__).parents[3]
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
    monkeypatch.setattr("board.runs.parsing.parsed_shard.RANGE_BYTES", 4_000)
    rows = {at: [token_row(step, prompt=f"{at}.{step}") for step in range(80)] for at in range(3)}
    return write_run(
        tmp_path / "run", {"rank_0.jsonl": [*rows[0], b"{no"], "rank_1.jsonl": lines(rows[1])[:-1], "rank_2.jsonl.gz": rows[2]}
    )


def test_is_what_the_local_engine_makes(cluster: Any, run: Path, tmp_path: Path) -> None:
    """Row for row; a second run of the command keeps every source."""
    engine = RayEngine(cluster.address)
    first = indexed(run, tmp_path / "index", engine)
    second = indexed(run, tmp_path / "index", engine)
    indexed(run, tmp_path / "local", LocalEngine(2))

    assert_same(open_run(tmp_path / "index"), open_run(tmp_path / "local"))
    assert_same(open_run(tmp_path / "index"), open_run(run))
    assert (first.parsed, second.parsed, second.kept) == (3, 0, 3)


def test_from_a_store_into_a_store(cluster: Any, bucket: Bucket, run: Path) -> None:
    """Workers read objects and put files; machines need share no folder."""
    for path in run.iterdir():
        bucket.put(f"run/{path.name}", path.read_bytes())
    result = indexed(f"{bucket.address}/run", f"{bucket.address}/index", RayEngine(cluster.address))
    assert result.failed == {}
    assert_same(open_run(f"{bucket.address}/index"), open_run(run))


def test_worker_killed(cluster: Any, run: Path, tmp_path: Path) -> None:
    """Its source is parsed by another; what it had written is nowhere."""
    result = indexed(run, tmp_path / "index", RayEngine(cluster.address, faulty_tasks.killed_once))

    assert (tmp_path / "killed").exists()
    assert result.failed == {}
    assert_same(open_run(tmp_path / "index"), open_run(run))
    assert len(rows_of(tmp_path / "index")) == 3


def test_node_removed(cluster: Any, run: Path, tmp_path: Path) -> None:
    """The sources of a machine that is gone are parsed by those that are left."""
    gone = cluster.list_all_nodes()[-1]
    removed: list[float] = []

    def tell(progress: IndexProgress) -> None:
        if progress.read.bytes_done and not removed:
            removed.append(progress.read.share)
            cluster.remove_node(gone)

    try:
        with target.opened(run, tmp_path / "index") as goal:
            result = building.build(goal, RayEngine(cluster.address, faulty_tasks.slow), tell)
    finally:
        cluster.add_node(num_cpus=1, object_store_memory=STORE_BYTES)

    assert 0 < removed[0] < 1
    assert result.failed == {}
    assert_same(open_run(tmp_path / "index"), open_run(run))


def test_source_that_always_ends_its_worker(cluster: Any, run: Path, tmp_path: Path) -> None:
    """It is reported, and all else is there; without the fault the next run of the command parses it alone."""
    result = indexed(run, tmp_path / "index", RayEngine(cluster.address, faulty_tasks.always_killed))

    assert {*result.failed} == {"rank_1.jsonl"}
    here, found = open_run(run), open_run(tmp_path / "index")
    whole = here.frame[here.frame["shard"] != "rank_1.jsonl"]
    assert found.frame[["step", "shard", "line"]].to_numpy().tolist() == whole[["step", "shard", "line"]].to_numpy().tolist()
    assert indexed(run, tmp_path / "index", RayEngine(cluster.address)).parsed == 1
    assert_same(open_run(tmp_path / "index"), here)


@pytest.mark.parametrize("workers", [1, 3])
def test_processes_make_the_same_index(workers: int, run: Path, tmp_path: Path) -> None:
    """Row for row what the run shows."""
    assert indexed(run, tmp_path / "index", LocalEngine(workers)).failed == {}
    assert_same(open_run(tmp_path / "index"), open_run(run))


ENDS = """
import os, signal
from board.cli.indexing import source_writer
from board.runs import child_process

def answer(order, tell):
    if order["range"]["shard"]["name"] == "rank_1.jsonl":
        os.kill(os.getpid(), signal.SIGKILL)
    return source_writer.answer(order, tell)

child_process.serve(answer)
"""


def test_a_process_that_ends_costs_its_source(run: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It is tried three times, and reported; all else is there."""
    (tmp_path / "ending_worker.py").write_text(ENDS)
    monkeypatch.setenv("PYTHONPATH", str(tmp_path), prepend=os.pathsep)
    monkeypatch.setattr(engines, "WORKER", "ending_worker")
    result = indexed(run, tmp_path / "index", LocalEngine(2))

    assert [*result.failed] == ["rank_1.jsonl"]
    assert "a parsing process ended: it was ended by signal 9" in result.failed["rank_1.jsonl"]
    assert {*open_run(tmp_path / "index").frame["shard"]} == {"rank_0.jsonl", "rank_2.jsonl.gz"}
