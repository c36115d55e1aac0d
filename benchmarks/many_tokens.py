"""Writes a run of very many tokens: `python -m benchmarks.many_tokens FOLDER --tokens 100000000`. Seeded.

Its vocabulary is as wide as a model's, a few tokens are most of the text, and some rise and some fall as training goes on. Parquet with as
few columns as vocabulary needs, since a hundred million tokens in JSON with all arrays would be ten gigabytes.
"""

import argparse
from pathlib import Path
from typing import Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
from numpy.typing import NDArray

WORDS: Final = 50_000
"""Different tokens."""
PER_STEP: Final = 256
GROUP: Final = 8
LENGTH: Final = 1000
"""Tokens of a response on average."""
SHARDS: Final = 2

_COMMON: Final = 1.05
"""Exponent of the frequency by rank."""
_MOVING: Final = 200
"""Every so many words one rises over the run, and the one after it falls."""


def write(folder: Path, tokens: int, seed: int = 0) -> int:
    """Whole steps of at least so many tokens; how many rollouts that is."""
    folder.mkdir(parents=True, exist_ok=True)
    dice, written = np.random.default_rng(seed), 0
    names = pa.array([f" w{i:x}" if i % 3 else f"词{i:x}" for i in range(WORDS)], pa.large_string())
    steps = max(1, round(tokens / (PER_STEP * LENGTH)))
    outs = [pq.ParquetWriter(folder / f"rank_{shard}.parquet", _SCHEMA, compression="zstd") for shard in range(SHARDS)]
    for step in range(steps):
        cumulated = np.cumsum(_shares(step / steps))
        for out in outs:
            out.write_table(_rollouts(step, PER_STEP // SHARDS, cumulated, names, dice))
        written += PER_STEP
    for out in outs:
        out.close()
    return written


_SCHEMA: Final = pa.schema(
    {
        "step": pa.int64(),
        "prompt": pa.large_string(),
        "response": pa.large_string(),
        "response_tokens": pa.large_list(pa.large_string()),
        "logprobs": pa.large_list(pa.float32()),
        "reward": pa.float64(),
    }
)


def _shares(done: float) -> NDArray[np.float64]:
    """How often each word is drawn when that share of the run is over; adds up to 1."""
    shares = np.arange(1, WORDS + 1) ** -_COMMON
    shares[::_MOVING] *= 1 + done
    shares[1::_MOVING] *= 1 - 0.5 * done
    found: NDArray[np.float64] = shares / shares.sum()
    return found


def _rollouts(step: int, count: int, cumulated: NDArray[np.float64], names: pa.Array, dice: np.random.Generator) -> pa.Table:
    lengths = np.clip(dice.normal(LENGTH, LENGTH / 4, count), 20, 3 * LENGTH).astype(np.int64)
    offsets = pa.array(np.concatenate([[0], np.cumsum(lengths)]))
    drawn = np.minimum(np.searchsorted(cumulated, dice.random(int(lengths.sum()))), WORDS - 1)
    tokens = pa.LargeListArray.from_arrays(offsets, names.take(pa.array(drawn)))
    logprobs = pa.array(-dice.gamma(0.6, 0.8, len(drawn)).astype(np.float32))
    problems = [step * (PER_STEP // GROUP) + at // GROUP for at in range(count)]
    columns = [
        pa.array([step] * count),
        pa.array([f"Problem {one}: how many are left?" for one in problems], pa.large_string()),
        pc.binary_join(tokens.cast(pa.list_(pa.string())), "").cast(pa.large_string()),
        tokens,
        pa.LargeListArray.from_arrays(offsets, logprobs),
        pa.array(dice.normal(step / 1000, 0.3, count)),
    ]
    return pa.table(columns, schema=_SCHEMA)


if __name__ == "__main__":
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("folder", type=Path)
    options.add_argument("--tokens", type=int, default=100_000_000)
    options.add_argument("--seed", type=int, default=0)
    given = options.parse_args()
    print(f"{write(given.folder, given.tokens, given.seed):,} rollouts in {given.folder}")
