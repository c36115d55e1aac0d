"""Rollouts in columns aligned with tokens, before derivation: what all readers give."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from board.metrics.formulas import BoolArray, Float64Array, IntArray
from board.schema import ALTERNATIVES, TOKENS

TEXT: Final = pa.large_string()

PER_TOKEN: Final[Mapping[str, pa.DataType]] = {
    TOKENS: pa.large_list(TEXT),
    ALTERNATIVES: pa.large_list(pa.large_list(pa.struct([("token", TEXT), ("logprob", pa.float32())]))),
}
"""Columns of a rollout with a value for each token other than a number, and their Arrow types."""


@dataclass(frozen=True, slots=True)
class TokenNumbers:
    """A number per token of many rollouts."""

    values: NDArray[np.float32]
    """(N,) end to end, NaN for a rollout without the array."""
    present: BoolArray
    """(n,): which rollouts have the array."""


@dataclass(frozen=True)
class Block:
    """Some rollouts in the order they were read: n of them with N tokens. Columns stand in the order in which the rollouts had them."""

    steps: IntArray
    """(n,)"""
    sources: Mapping[str, IntArray]
    """Where each came from, (n,) each: `line`, from 1; `offset`, of the line in bytes; `nth` of the rollouts in its record, from 0."""
    lengths: IntArray
    """(n,): tokens of each."""
    texts: Mapping[str, pa.Array]
    """(n,) large_string each, null where a rollout lacks the text."""
    ids: Mapping[str, pa.Array]
    """(n,) string each, null where a rollout lacks the id."""
    numbers: Mapping[str, Float64Array]
    """(n,) each, NaN where a rollout lacks the number."""
    arrays: Mapping[str, TokenNumbers]
    per_token: Mapping[str, pa.Array] = field(default_factory=dict)
    """As `PER_TOKEN` says, (n,) each, null where a rollout lacks it."""
    flags: Sequence[tuple[int, str]] = ()
    """What is odd about a rollout, a sentence each, after the rollout's place in the block."""

    def __len__(self) -> int:
        return len(self.steps)

    @property
    def token_offsets(self) -> NDArray[np.int64]:
        """(n + 1,): rollout i has the tokens from the i-th to before the next."""
        return offsets(self.lengths)


def offsets(lengths: Sequence[int] | IntArray) -> NDArray[np.int64]:
    """Where each of some lists begins when they lie end to end, and where the last one ends. Shape (n + 1,) of n."""
    return np.concatenate([[0], np.cumsum(np.asarray(lengths, np.int64), dtype=np.int64)])


def keys(mappings: Iterable[Mapping[str, object]]) -> list[str]:
    """Keys of all mappings, each once, in order of appearance."""
    return list(dict.fromkeys(key for one in mappings for key in one))


def joined(blocks: Sequence[Block]) -> Block:
    """Blocks one after the other as one; what one of them has no column for is missing there. At least one is needed."""
    if len(blocks) == 1:
        return blocks[0]
    starts = offsets([len(one) for one in blocks])
    return Block(
        steps=np.concatenate([one.steps for one in blocks]),
        sources={name: np.concatenate([one.sources[name] for one in blocks]) for name in blocks[0].sources},
        lengths=np.concatenate([one.lengths for one in blocks]),
        texts=_nullable(blocks, lambda one: one.texts, lambda _: TEXT),
        ids=_nullable(blocks, lambda one: one.ids, lambda _: pa.string()),
        numbers={name: _joined_numbers(blocks, name) for name in keys(one.numbers for one in blocks)},
        arrays={name: _joined_arrays(blocks, name) for name in keys(one.arrays for one in blocks)},
        per_token=_nullable(blocks, lambda one: one.per_token, PER_TOKEN.__getitem__),
        flags=[(start + at, flag) for start, one in zip(starts.tolist(), blocks, strict=False) for at, flag in one.flags],
    )


def _nullable(
    blocks: Sequence[Block], columns: Callable[[Block], Mapping[str, pa.Array]], kind: Callable[[str], pa.DataType]
) -> dict[str, pa.Array]:
    """Arrow columns of all blocks, null where a block has none of that name."""
    return {
        name: pa.concat_arrays([columns(one)[name] if name in columns(one) else pa.nulls(len(one), kind(name)) for one in blocks])
        for name in keys(map(columns, blocks))
    }


def _joined_numbers(blocks: Sequence[Block], name: str) -> Float64Array:
    return np.concatenate([one.numbers[name] if name in one.numbers else np.full(len(one), np.nan) for one in blocks])


def _joined_arrays(blocks: Sequence[Block], name: str) -> TokenNumbers:
    found = [one.arrays[name] if name in one.arrays else _absent(one) for one in blocks]
    return TokenNumbers(np.concatenate([one.values for one in found]), np.concatenate([one.present for one in found]))


def _absent(block: Block) -> TokenNumbers:
    return TokenNumbers(np.full(int(block.lengths.sum()), np.nan, np.float32), np.zeros(len(block), bool))
