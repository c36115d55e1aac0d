"""The likeliest alternatives at every token. Arrow in, flat arrays out."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from board.text.token_decoding import codec_of, decoded

MOST: Final = 5
"""Alternatives shown per token."""

_ROOMY: Final = 4
"""Sorting token by token in a rectangle pays while it has at most so many times the cells of the lists."""


@dataclass(frozen=True)
class Likeliest:
    """The first alternatives of n tokens, likeliest first, end to end; m of them in all."""

    texts: pa.Array
    """(m,) utf8."""
    logprobs: NDArray[np.float32]
    """(m,) nats, NaN where the row has none."""
    ends: NDArray[np.int32]
    """(n,) where each token's alternatives end."""
    listed: NDArray[np.int32]
    """(n,) how many the row lists."""
    sampled: NDArray[np.int32]
    """(n,) the place of the sampled token among all listed ones, from 0; -1 when it is not among them."""


def likeliest(lists: pa.LargeListArray, tokens: Sequence[str], rows: NDArray[np.int64], most: int = MOST) -> Likeliest:
    """The `most` likeliest alternatives of the tokens at `rows`, (n,) positions.

    `lists` holds for each of the `tokens` a list of {token, logprob}, or null. An alternative is the sampled token when their texts are
    equal, as they stand or with the token's name decoded: some engines list text next to the tokenizer's names.
    """
    chosen = lists if len(rows) == len(lists) else lists.take(pa.array(rows))
    offsets = chosen.offsets.to_numpy()
    lengths = np.diff(offsets)
    pairs = chosen.values.slice(offsets[0], offsets[-1] - offsets[0])
    numbers = pairs.field("logprob").to_numpy(zero_copy_only=False)
    parents = np.repeat(np.arange(len(rows)), lengths)
    order = _likeliest_first(np.where(np.isnan(numbers), -np.inf, numbers), parents, lengths)
    place = np.arange(len(order)) - np.repeat(offsets[:-1] - offsets[0], lengths)
    names = pairs.field("token").take(pa.array(order))
    shown = place < most
    return Likeliest(
        texts=names.filter(pa.array(shown)).cast(pa.utf8()),
        logprobs=numbers[order[shown]].astype(np.float32),
        ends=np.cumsum(np.minimum(lengths, most), dtype=np.int32),
        listed=lengths.astype(np.int32),
        sampled=_places_of_sampled(names, [tokens[i] for i in rows], parents, place),
    )


def _likeliest_first(numbers: NDArray[np.floating], parents: NDArray[np.int64], lengths: NDArray[np.int64]) -> NDArray[np.int64]:
    """Order that puts each token's alternatives from likely to unlikely, equals as they stand. Shape (sum of lengths,)."""
    rising = (numbers[1:] > numbers[:-1]) & (parents[1:] == parents[:-1])
    if not rising.any():
        return np.arange(len(numbers))
    widest = int(lengths.max())
    if widest * len(lengths) > _ROOMY * len(numbers):
        return np.lexsort((-numbers, parents))
    there = np.arange(widest) < lengths[:, None]
    table = np.full(there.shape, np.inf, np.float32)
    table[there] = -numbers
    # What is not there is infinite like what is impossible, and stands behind it: the sort is stable.
    within = np.argsort(table, axis=1, kind="stable")
    starts = np.cumsum(lengths) - lengths
    return (within + starts[:, None])[there]


def _places_of_sampled(
    names: pa.Array, tokens: list[str], parents: NDArray[np.int64], place: NDArray[np.int64]
) -> NDArray[np.int32]:
    same = _equal(names, tokens, parents)
    codec = codec_of(tokens)
    if codec != "plain":
        spelled = {token: decoded(codec, token) for token in set(tokens)}
        same |= _equal(names, [spelled[token] for token in tokens], parents)
    found = np.full(len(tokens), -1, np.int32)
    at = np.flatnonzero(same)[::-1]
    found[parents[at]] = place[at]  # backwards: where several are equal, the first is written last
    return found


def _equal(names: pa.Array, tokens: list[str], parents: NDArray[np.int64]) -> NDArray[np.bool_]:
    expected = pa.array(tokens, pa.large_string()).take(pa.array(parents))
    equal: NDArray[np.bool_] = pc.equal(names, expected).to_numpy(zero_copy_only=False)
    return equal
