"""Digests of 53 bits of a rollout's response, final answer and arrays.

A part in, columns out (a measure of `rollout_measures`). Equal numbers are equal things, but for one chance in 10,000 in a run of a million
rollouts.
"""

from typing import Final

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from board.analysis.rollouts.verifier_noise import final_answers, normalised
from board.metrics.formulas import Float64Array
from board.runs.cache.parts import Part

SAMPLED: Final = ("rollout_logprobs", "old_logprobs", "logprobs")
"""Arrays that are of the moment at which a response was sampled, the surest first."""

_TAIL: Final = 400
"""A response states its answer within so many characters from its end."""
_BITS: Final = np.uint64(11)
"""What a float64 cannot hold of 64 bits."""


def measure(part: Part) -> dict[str, Float64Array]:
    """response_digest, answer_digest (without regard to white space and case) and array_digest, of the logprobs: (n,), NaN without one."""
    texts = part.texts.column("response") if "response" in part.texts.column_names else pa.nulls(len(part), pa.large_string())
    texts = texts if isinstance(texts, pa.ChunkedArray) else pa.chunked_array([texts])
    return {
        "response_digest": _of_texts(pc.utf8_trim_whitespace(texts)),
        "answer_digest": _of_texts(normalised(final_answers(pc.utf8_slice_codeunits(texts, -_TAIL)))),
        "array_digest": of_arrays(part),
    }


def _of_texts(texts: pa.ChunkedArray) -> Float64Array:
    known = ~texts.is_null().to_numpy()
    values = texts.drop_null().to_numpy().astype(object)
    found = np.full(len(texts), np.nan)
    found[known] = (pd.util.hash_array(values, categorize=False) >> _BITS).astype(np.float64)
    return found


def of_arrays(part: Part) -> Float64Array:
    """Of the first of SAMPLED that each rollout has; NaN for one without, or of no tokens."""
    found = np.full(len(part), np.nan)
    for name in SAMPLED:
        if name not in part.tokens.column_names:
            continue
        lists = part.tokens.column(name).chunk(0)
        there = lists.is_valid().to_numpy(zero_copy_only=False) & np.isnan(found)
        if there.any():
            found[there] = of_numbers(lists.values.to_numpy(), lists.offsets.to_numpy())[there]
    return found


def of_numbers(values: NDArray[np.float32], offsets: NDArray[np.int64]) -> Float64Array:
    """A digest of `values[offsets[i]:offsets[i + 1]]` for every i, NaN for an empty one: the sum of each number's bits, mixed with its place."""
    lengths = np.diff(offsets)
    filled = np.flatnonzero(lengths > 0)
    found = np.full(len(lengths), np.nan)
    if not len(filled):
        return found
    bits = np.ascontiguousarray(values, np.float32).view(np.uint32).astype(np.uint64)
    places = np.arange(len(values), dtype=np.uint64) - np.repeat(offsets[:-1], lengths).astype(np.uint64)
    # where lists do not tile the array, as in a slice, what is in none is summed with what is before it: so sums are cut at both ends
    sums = np.concatenate([np.zeros(1, np.uint64), np.cumsum(_mixed(bits + places * _ODD), dtype=np.uint64)])
    of_lists = sums[offsets[1:][filled]] - sums[offsets[:-1][filled]]
    found[filled] = (_mixed(of_lists) >> _BITS).astype(np.float64)
    return found


_ODD: Final = np.uint64(0x9E3779B97F4A7C15)


def _mixed(bits: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """Every bit made to depend on every other: splitmix64 (Steele, Lea and Flood 2014)."""
    with np.errstate(over="ignore"):
        z = bits + _ODD
        z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
        return z ^ (z >> np.uint64(31))
