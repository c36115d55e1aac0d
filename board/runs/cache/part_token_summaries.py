"""Summaries of a part's tokens by step and metric: spread, positions, extremes.

Only where a step has many tokens in the part; where it has few, reading their arrays is quick and the summary would weigh as much.
"""

from collections.abc import Mapping
from typing import Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from board.metrics.formulas import BoolArray, IntArray, token_makers
from board.metrics.token_summaries import Summary, counted, packed, summaries, unpacked
from board.runs.cache.columns import Columns
from board.schema import DISCARDED, EVALUATION, extreme

LEAST: Final = 32_768
"""Counted tokens of a step in a part that are worth a summary: it takes some 12 kB a metric, and they 128."""

LEFT_OUT: Final = frozenset({"prob", "ref_prob", "ref_logprob", "rollout_logprob", "old_logprob"})
"""Metrics without a summary: those that are seldom needed, or follow from others."""


def group_of(steps: IntArray, split: pa.Array | pa.ChunkedArray | None) -> NDArray[np.int64]:
    """A number for each rollout, (n,): the same for those of one step that are all of training, of an evaluation, or discarded."""
    step: NDArray[np.int64] = np.unique(steps, return_inverse=True)[1].astype(np.int64)
    if split is None:
        return step
    kinds = pc.index_in(split.cast(pa.string()), pa.array([EVALUATION, DISCARDED]))  # null for those of training
    found: NDArray[np.int64] = 3 * step + kinds.fill_null(2).to_numpy(zero_copy_only=False)
    return found


def build(groups: NDArray[np.int64], flats: Mapping[str, NDArray[np.float32]], offsets: IntArray, counts: BoolArray) -> pa.Table:
    """A column of bytes for each metric, as many rows as rollouts: a summary in the row of the first rollout of each large group, else null.

    `groups` (n,) are those of the rollouts; `flats` (N,) the token arrays by field, `counts` (N,) which tokens count. No column where no
    group is large.
    """
    before = np.concatenate([[0], np.cumsum(counts, dtype=np.int64)])
    large = np.flatnonzero(np.bincount(groups, np.diff(before[np.asarray(offsets)]), minlength=1) >= LEAST)
    columns: dict[str, list[bytes | None]] = {}
    for group in large.tolist() if flats else []:
        rows = np.flatnonzero(groups == group)
        first, last = int(offsets[rows[0]]), int(offsets[rows[-1] + 1])
        within = np.clip(np.asarray(offsets) - first, 0, last - first)  # what lies around the group's tokens is not looked at
        where = counted(within, counts[first:last], rows, np.zeros(len(rows), np.int64))
        own = {name: values[first:last] for name, values in flats.items()}
        for name, make in token_makers(own).items():
            if name not in LEFT_OUT:
                (found,) = summaries(where, make(), extreme(name), within)
                if len(found.bins):
                    columns.setdefault(name, [None] * len(groups))[int(rows[0])] = packed(found)
    return pa.table({name: pa.array(column, pa.large_binary()) for name, column in columns.items()})


def summaries_of(table: Columns, metric: str) -> dict[int, Summary]:
    """The summaries of a metric in a part's table, by the row of the group's first rollout."""
    if metric not in table.column_names:
        return {}
    column = table.column(metric).chunk(0)
    rows = np.flatnonzero(column.is_valid().to_numpy(zero_copy_only=False))
    return {row: unpacked(column[row].as_buffer().to_pybytes()) for row in rows.tolist()}
