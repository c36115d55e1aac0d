"""The ways to open a run that are compared: `python benchmarks/openers.py NAME FOLDER` opens it and prints seconds and memory as JSON.

One process each, so that memory is its own. The clock starts when the libraries are imported and stops when the result can be used.
"""

import json
import os
import resource
import sys
import time
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import numpy as np

ARRAYS = ("logprobs", "ref_logprobs", "values", "token_rewards")


def shards(folder: Path) -> list[Path]:
    """The shards of the run."""
    return sorted(folder.glob("*.jsonl"))


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
            with shard.open(encoding="utf-8") as stream:
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
    schema = {**texts, **lists, **numbers, "response_tokens": pl.List(pl.String)}
    return lambda folder: pl.scan_ndjson(shards(folder), schema=schema).sort("step").collect()


def duckdb_read() -> Callable[[Path], Any]:
    """`duckdb.read_json` into Arrow."""
    import duckdb

    def read(folder: Path) -> Any:
        files = [str(shard) for shard in shards(folder)]
        return duckdb.sql(f"select * from read_json({files!r}, maximum_object_size=100000000) order by step").to_arrow_table()

    return read


def pyarrow_json() -> Callable[[Path], Any]:
    """`pyarrow.json.read_json`, which finds the schema from the first block."""
    import pyarrow as pa
    from pyarrow import json as arrow_json

    options = arrow_json.ReadOptions(block_size=1 << 24)
    return lambda folder: pa.concat_tables(
        [arrow_json.read_json(shard, read_options=options) for shard in shards(folder)]
    ).sort_by("step")


def floor() -> Callable[[Path], Any]:
    """Bare `orjson.loads` over the same bytes, on as many processes as there are cores; nothing is kept."""

    def read(folder: Path) -> int:
        cores = os.cpu_count() or 1
        work = [cut for shard in shards(folder) for cut in cuts(shard, cores)]
        with ProcessPoolExecutor(cores, mp_context=get_context("fork")) as pool:
            return sum(pool.map(parsed, work))

    return read


def cuts(shard: Path, count: int) -> list[tuple[Path, int, int]]:
    """A shard in `count` pieces that end at line ends."""
    size, ends = shard.stat().st_size, [0]
    with shard.open("rb") as stream:
        for at in range(1, count):
            stream.seek(size * at // count)
            stream.readline()
            ends.append(stream.tell())
    return [(shard, start, stop) for start, stop in zip(ends, [*ends[1:], size], strict=True)]


def parsed(cut: tuple[Path, int, int]) -> int:
    """How many rows the piece of a shard has, each parsed."""
    import orjson

    shard, start, stop = cut
    with shard.open("rb") as stream:
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
    opener, folder = OPENERS[sys.argv[1]](), Path(sys.argv[2])
    started = time.perf_counter()
    kept = opener(folder)
    seconds = time.perf_counter() - started
    own = resident()
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(
        json.dumps(
            {"seconds": seconds, "resident_mb": own, "peak_mb": peak, "rows": len(kept) if hasattr(kept, "__len__") else 0}
        )
    )


def resident() -> float:
    """Memory of this process in megabytes that is its own: pages of mapped files can be dropped at any time and do not count."""
    fields = dict(line.split(":", 1) for line in Path("/proc/self/status").read_text().splitlines() if ":" in line)
    return float(fields["RssAnon"].split()[0]) / 1024


if __name__ == "__main__":
    main()
