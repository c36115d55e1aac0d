"""The ways to open a run that are compared: `python -m benchmarks.openers NAME FOLDER` opens it and prints seconds and memory as JSON.

One process each, so that memory is its own. The clock starts when the libraries are imported and stops when the result can be used.
Every way ends with all rows in the order of the steps; how many those are is printed, so that none gets away with fewer.
"""

import gzip
import json
import os
import resource
import sys
import time
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path
from typing import IO, Any

import numpy as np

from benchmarks.machine import memory
from benchmarks.rollouts import append, shards

ARRAYS = ("logprobs", "ref_logprobs", "values", "token_rewards")
PIECE_BYTES = 8_000_000
"""The floor reads so much at once: of 2, 8, 16 and 64 MB this was fastest."""

LATER_STEP = 10**6
"""Appended steps are numbered from here on."""


def opened(shard: Path) -> IO[bytes] | gzip.GzipFile:
    """The shard's bytes, decompressed."""
    return gzip.open(shard, "rb") if shard.suffix == ".gz" else shard.open("rb")


def ours() -> Callable[[Path], Any]:
    """This board's `open_run`; whether it is a cold or a warm open is a matter of RL_BOARD_CACHE."""
    from board import open_run

    return open_run


def ujson_loop() -> Callable[[Path], Any]:
    """A line at a time with ujson, appended to lists, the derived token lists and the KL of each row at once, as the board's ancestor does."""
    import pandas as pd
    import ujson

    def read(folder: Path) -> Any:
        rows: list[dict[str, Any]] = []
        for shard in shards(folder):
            with opened(shard) as stream:
                for line in stream:
                    row = ujson.loads(line)
                    logprobs, reference = np.array(row["logprobs"]), np.array(row["ref_logprobs"])
                    log_ratio = logprobs - reference
                    kl = np.exp(-log_ratio) - 1 + log_ratio
                    row |= {
                        "log_ratio": log_ratio.tolist(),
                        "kl": kl.tolist(),
                        "avg_kl": float(kl.mean()),
                        "sum_kl": float(kl.sum()),
                    }
                    row |= {"probs": np.exp(logprobs).tolist(), "ref_probs": np.exp(reference).tolist()}
                    rows.append(row)
        return pd.DataFrame(rows).sort_values("step", kind="stable")

    return read


def pandas_lines() -> Callable[[Path], Any]:
    """`pandas.read_json(lines=True)`."""
    import pandas as pd

    return lambda folder: pd.concat([pd.read_json(shard, lines=True) for shard in shards(folder)]).sort_values(
        "step", kind="stable"
    )


def polars_scan() -> Callable[[Path], Any]:
    """`polars.scan_ndjson(...).collect()`, its schema found from the rows."""
    import polars as pl

    return lambda folder: pl.scan_ndjson(shards(folder)).sort("step").collect()


def polars_schema() -> Callable[[Path], Any]:
    """The same with the schema given, arrays as float32."""
    import polars as pl

    texts = dict.fromkeys(("prompt", "response", "ref_response", "ground_truth"), pl.String)
    lists = dict.fromkeys(ARRAYS, pl.List(pl.Float32))
    numbers = {"step": pl.Int64, "reward": pl.Float64, "ref_reward": pl.Float64}
    schema: dict[str, Any] = {**texts, **lists, **numbers, "response_tokens": pl.List(pl.String)}
    return lambda folder: pl.scan_ndjson(shards(folder), schema=schema).sort("step").collect()


def duckdb_read() -> Callable[[Path], Any]:
    """`duckdb.read_json` into Arrow."""
    import duckdb

    def read(folder: Path) -> Any:
        files = [str(shard) for shard in shards(folder)]
        relation = duckdb.sql(
            f"select * from read_json({files!r}, format='newline_delimited', maximum_object_size=100000000) order by step"
        )
        assert relation is not None  # a query has rows
        return relation.to_arrow_table()

    return read


def pyarrow_json() -> Callable[[Path], Any]:
    """`pyarrow.json.read_json`, which finds the schema from the first block."""
    import pyarrow as pa
    from pyarrow import json as arrow_json

    options = arrow_json.ReadOptions(block_size=1 << 24)
    return lambda folder: pa.concat_tables(
        [arrow_json.read_json(pa.input_stream(shard), read_options=options) for shard in shards(folder)]
    ).sort_by("step")


def floor() -> Callable[[Path], Any]:
    """Bare `orjson.loads` over the same bytes, on as many processes as there are cores; nothing is kept but the count."""

    def read(folder: Path) -> int:
        cores = len(os.sched_getaffinity(0))
        work = [cut for shard in shards(folder) for cut in cuts(shard)]
        with ProcessPoolExecutor(cores, mp_context=get_context("fork")) as pool:
            return sum(pool.map(parsed, work))

    return read


Cut = tuple[Path, int, int]


def cuts(shard: Path) -> list[Cut]:
    """A plain shard in pieces that end at line ends; a compressed one whole, because it can only be read from its start."""
    if shard.suffix == ".gz":
        return [(shard, 0, 0)]
    size, ends = shard.stat().st_size, [0]
    with shard.open("rb") as stream:
        while ends[-1] + PIECE_BYTES < size:
            stream.seek(ends[-1] + PIECE_BYTES)
            stream.readline()
            ends.append(stream.tell())
    return [(shard, start, stop) for start, stop in zip(ends, [*ends[1:], size], strict=True) if start < stop]


def parsed(cut: Cut) -> int:
    """How many rows the piece of a shard has, each parsed."""
    import orjson

    shard, start, stop = cut
    with opened(shard) as stream:
        if shard.suffix == ".gz":
            return sum(1 for line in stream if orjson.loads(line))
        stream.seek(start)
        return sum(1 for line in stream.read(stop - start).splitlines() if orjson.loads(line))


OPENERS: dict[str, Callable[[], Callable[[Path], Any]]] = {
    "ours": ours,
    "floor": floor,
    "ujson_loop": ujson_loop,
    "pandas": pandas_lines,
    "polars": polars_scan,
    "polars_schema": polars_schema,
    "duckdb": duckdb_read,
    "pyarrow": pyarrow_json,
}


def main() -> None:
    """Open the folder as named, and print what it took."""
    name, folder = sys.argv[1], Path(sys.argv[2])
    found = live(folder, int(sys.argv[3])) if name == "live" else once(OPENERS[name](), folder)
    helpers = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss * 1024 / 1e6
    print(json.dumps(found | {"largest_helper": helpers}))


def once(opener: Callable[[Path], Any], folder: Path) -> dict[str, float]:
    """Seconds to open the folder, memory while the result is held, and its rows."""
    started = time.perf_counter()
    kept = opener(folder)
    seconds = time.perf_counter() - started
    return {"seconds": seconds} | memory() | {"rows": rows(kept)}


def rows(kept: Any) -> int:
    """How many rollouts a way has found: ours holds a frame, the floor has counted, the others are tables."""
    return int(kept if isinstance(kept, int) else len(getattr(kept, "frame", kept)))


def live(folder: Path, step: int) -> dict[str, float]:
    """As the server follows a run: it holds the run, a step of 256 rollouts is appended, the change is seen and taken in.

    As `board.ui.frame.live_reload` on a look that finds something: compare fingerprints, have the library load the run again.
    """
    from board.runs.library import Library, current_fingerprint

    library = Library()
    run = library.open(folder, folder.parent)
    append(folder, step, 256)
    started = time.perf_counter()
    assert current_fingerprint(folder, folder.parent) != run.fingerprint
    library.refresh(run, folder.parent)
    fresh = library.peek(folder)
    seconds = time.perf_counter() - started
    assert fresh is not None
    assert rows(fresh) == rows(run) + 256
    del run
    return {"seconds": seconds} | memory() | {"rows": rows(fresh)}


if __name__ == "__main__":
    main()
