"""A run made into an index: by processes of this machine and by a Ray cluster of one-processor nodes on it, with 1 to 4 workers.

Each is a process of its own, `python -m benchmarks.index RUN INDEX ENGINE WORKERS`. A cluster, and the board in its workers, is started
before the clock; the local engine starts its processes within the time.
"""

import json
import os
import resource
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from itertools import product
from pathlib import Path
from typing import Final

from benchmarks import rollouts
from benchmarks.machine import memory
from benchmarks.plan import Plan, say
from benchmarks.sections import Cell, Section, figure, ratio
from board.sources import index_file

REPOSITORY: Final = Path(__file__).resolve().parent.parent
ENGINES: Final = ("local", "ray")
WORKERS: Final = (1, 2, 3, 4)
TIMEOUT_SECONDS: Final = 1_800

COLUMNS: Final = (
    "engine",
    "workers",
    "seconds",
    "MB/s",
    "against one local",
    "against local",
)
OF_AN_INDEX: Final = ("what", "figure", "per rollout (bytes)")

Found = dict[str, float]


def sections(plan: Plan, place: Path) -> Iterator[Section]:
    """One table of engines and workers, and one of what an index costs afterwards."""
    run = place / "run"
    say(f"index: writing {plan.index_megabytes} MB")
    size = rollouts.write(run, plan.index_megabytes * 1_000_000)
    ways = list(product(ENGINES, WORKERS))
    found: dict[tuple[str, int], list[Found]] = {way: [] for way in ways}
    for at in range(plan.large_rounds):
        say(f"index: round {at + 1} of {plan.large_rounds}")
        for engine, workers in ways[at % len(ways) :] + ways[: at % len(ways)]:
            shutil.rmtree(place / "index", ignore_errors=True)
            found[engine, workers].append(attempt(run, place / "index", engine, workers))
    note = (
        f"Medians of {plan.large_rounds}, summing up included, which one process does. Workers beyond the cores of this machine show what "
        "is lost by them, not what a machine more would bring."
    )
    megabytes = round(size / 1e6)
    yield Section("index", f"An index of {megabytes} MB", COLUMNS, tuple(row(way, found, size) for way in ways), note)
    yield of_an_index(run, place, size, plan)


def row(way: tuple[str, int], found: dict[tuple[str, int], list[Found]], size: int) -> tuple[Cell, ...]:
    """What a way took, round by round."""
    own, one, local = (_of(found[key], "seconds") for key in (way, ("local", 1), ("local", way[1])))
    return (
        way[0],
        str(way[1]),
        figure(own, "s"),
        figure([size / 1e6 / seconds for seconds in own], "MB/s"),
        ratio(one, own),
        ratio(own, local),
    )


def _of(found: Sequence[Found], name: str) -> list[float]:
    return [one[name] for one in found]


def of_an_index(run: Path, place: Path, size: int, plan: Plan) -> Section:
    """What lies on the disk, what it takes to verify it, and to open it."""
    index = place / "index"
    shutil.rmtree(index, ignore_errors=True)
    made = attempt(run, index, "local", 2)
    again = [attempt(run, index, "local", 2) for _ in range(plan.large_rounds)]
    opened = [_attempt(["open", str(index)], place / "cache") for _ in range(plan.large_rounds)]
    rows = made["rollouts"]
    held = sum(path.stat().st_size for path in (index / index_file.ROWS).iterdir())
    whole = sum(path.stat().st_size for path in index.rglob("*") if path.is_file())
    listed: list[tuple[Cell, ...]] = [
        ("the run", figure([size / 1e6], "MB"), figure([size / rows], "B")),
        ("its rows", figure([held / 1e6], "MB"), figure([held / rows], "B")),
        ("all of the index", figure([whole / 1e6], "MB"), figure([whole / rows], "B")),
        ("looked at again, nothing new", figure(_of(again, "seconds"), "s"), ""),
        ("opened", figure(_of(opened, "seconds"), "s"), ""),
        (
            "anonymous memory, more once open",
            figure(_of(opened, "more"), "MB"),
            figure([1e6 * one["more"] / rows for one in opened], "B"),
        ),
        ("peak memory of a local worker", figure([made["worker_peak"]], "MB"), ""),
    ]
    return Section("index", f"What an index of {round(rows):,} rollouts costs", OF_AN_INDEX, tuple(listed))


def attempt(run: Path, index: Path, engine: str, workers: int) -> Found:
    """What one index took."""
    return _attempt([engine, str(run), str(index), str(workers)], index.with_name("cache"))


def _attempt(arguments: Sequence[str], cache: Path) -> Found:
    """Raises RuntimeError with the last line of what went wrong."""
    environment = os.environ | {"RL_BOARD_CACHE": str(cache), "PYTHONPATH": str(REPOSITORY), "OMP_NUM_THREADS": "1"}
    environment |= {"RAY_USAGE_STATS_ENABLED": "0"}
    command = [sys.executable, "-m", "benchmarks.index", *arguments]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=TIMEOUT_SECONDS)
    if done.returncode:
        raise RuntimeError(f"{arguments[0]}: {(done.stderr.strip().splitlines() or ['no word'])[-1]}")
    return dict(json.loads(done.stdout.splitlines()[-1]))


def made(engine: str, run: Path, index: Path, workers: int) -> Found:
    """In a process of its own: one index."""
    from board.cli.indexing import building, target
    from board.cli.indexing.engines import Engine, LocalEngine, RayEngine

    with _cluster(workers if engine == "ray" else 0) as address:
        chosen: Engine = RayEngine(address) if engine == "ray" else LocalEngine(workers)
        os.sync()
        began = time.perf_counter()
        with target.opened(run, index) as goal:
            result = building.build(goal, chosen)
        seconds = time.perf_counter() - began
    if result.failed:
        raise RuntimeError(str(result.failed))
    peak = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1e3
    return {"seconds": seconds, "rollouts": result.rollouts, "worker_peak": peak}


@contextmanager
def _cluster(workers: int) -> Iterator[str]:
    """The address of a cluster with so many nodes, whose workers have imported the board; none for no workers."""
    if not workers:
        yield ""
        return
    import ray
    from ray.cluster_utils import Cluster

    cluster = Cluster(
        initialize_head=True, head_node_args={"num_cpus": 0, "object_store_memory": 80_000_000, "include_dashboard": False}
    )
    for _ in range(workers):
        cluster.add_node(num_cpus=1, object_store_memory=80_000_000)
    ray.init(address=cluster.address, log_to_driver=False)
    try:
        ray.get([ray.remote(num_cpus=1)(_imported).remote() for _ in range(workers)])
        yield cluster.address
    finally:
        ray.shutdown()
        cluster.shutdown()


def _imported() -> None:
    from board.cli.indexing import source_writer

    assert source_writer
    time.sleep(1)  # so that each worker takes one


def opened(index: Path) -> Found:
    """In a process of its own: an index opened."""
    from board.runs.opening import open_run

    before, began = memory()["anonymous"], time.perf_counter()
    run = open_run(index)
    seconds = time.perf_counter() - began
    return {"seconds": seconds, "rollouts": len(run.frame), "more": memory()["anonymous"] - before}


if __name__ == "__main__":
    first, *rest = sys.argv[1:]
    print(json.dumps(opened(Path(rest[0])) if first == "open" else made(first, Path(rest[0]), Path(rest[1]), int(rest[2]))))
