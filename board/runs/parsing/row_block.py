"""Rows → a block of rollouts: arrays aligned with their tokens, in columns."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa

from board.formats.row import Alternative, Row, align, flag_not_finite
from board.metrics.formulas import IntArray
from board.runs.cache.rollout_block import PER_TOKEN, TEXT, Block, TokenNumbers, keys, offsets
from board.schema import ALTERNATIVES, TOKENS


@dataclass(frozen=True, slots=True)
class RowPlace:
    """Where a row came from in its shard."""

    line: int
    """Number of the line or record, from 1."""
    offset: int
    """Byte offset of the line in the decompressed shard."""
    nth: int = 0
    """Which of the rollouts in the line's record, from 0."""


def block_of_rows(rows: Sequence[Row], sources: Sequence[RowPlace]) -> Block:
    """The rows as a block. Flags about numbers that are missing and about alignment are added to the rows."""
    flag_not_finite(rows)
    for row in rows:
        align(row)
    return Block(
        steps=np.array([row.step for row in rows], np.int64),
        sources={name: np.array([getattr(source, name) for source in sources], np.int64) for name in RowPlace.__slots__},
        lengths=np.array([row.length for row in rows], np.int64),
        texts={name: pa.array(column, TEXT) for name, column in _columns([row.texts for row in rows]).items()},
        ids={name: pa.array(column, pa.string()) for name, column in _columns([row.ids for row in rows]).items()},
        numbers={name: np.array(column, np.float64) for name, column in _columns([row.numbers for row in rows]).items()},
        arrays={name: _array(rows, name) for name in keys(row.arrays for row in rows)},
        per_token=_per_token(rows),
        flags=[(at, flag) for at, row in enumerate(rows) for flag in row.flags],
    )


def _columns(rows: Sequence[Mapping[str, Any]]) -> dict[str, list[Any]]:
    """The values under each name, None in a row without it. Takes as long as there are values, however many names there are."""
    columns: dict[str, list[Any]] = {}
    for at, row in enumerate(rows):
        for name, value in row.items():
            if name not in columns:
                columns[name] = [None] * len(rows)
            columns[name][at] = value
    return columns


def _array(rows: Sequence[Row], name: str) -> TokenNumbers:
    """One metric of all rows end to end, NaN for a row without it."""
    pieces = [row.arrays[name] if name in row.arrays else np.full(row.length, np.nan, np.float32) for row in rows]
    return TokenNumbers(np.concatenate(pieces), np.array([name in row.arrays for row in rows]))


def _per_token(rows: Sequence[Row]) -> dict[str, pa.Array]:
    columns = {}
    if any(row.tokens is not None for row in rows):
        columns[TOKENS] = pa.array([row.tokens for row in rows], PER_TOKEN[TOKENS])
    if any(row.alternatives is not None for row in rows):
        columns[ALTERNATIVES] = alternatives([row.alternatives for row in rows])
    return columns


def alternatives(rows: Sequence[list[list[Alternative] | None] | None]) -> pa.LargeListArray:
    """Rows of tokens of alternatives as nested lists of (token, logprob); null where a row or a token has none."""
    tokens = [token for row in rows for token in row or ()]
    pairs = [pair for token in tokens for pair in token or ()]
    values = pa.StructArray.from_arrays(
        [pa.array([text for text, _ in pairs], TEXT), pa.array([number for _, number in pairs], pa.float32())],
        names=["token", "logprob"],
    )
    return _nested(rows, _nested(tokens, values))


def _nested(lists: Sequence[Sequence[Any] | None], values: pa.Array) -> pa.LargeListArray:
    bounds: IntArray = offsets([len(one or ()) for one in lists])
    return pa.LargeListArray.from_arrays(
        pa.array(bounds, pa.int64()), values, mask=pa.array([one is None for one in lists], pa.bool_())
    )
