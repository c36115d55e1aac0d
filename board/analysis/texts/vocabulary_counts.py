"""Token counts and sums of token metrics per step of a part, cached per part.

Tokens of training that count, by their names as the trainer wrote them.
"""

from typing import Any, Final

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from board.metrics import token_sums
from board.metrics.formulas import DEFAULT_ESTIMATOR, FloatArray, token_makers
from board.metrics.token_sums import Tokens
from board.runs.cache import part_tables
from board.runs.cache.parts import Alike, Part
from board.schema import DISCARDED, EVALUATION, TOKENS

METRICS: Final = ("log_ratio", "kl", "entropy", "advantage", "prob", "clipped")
"""Token metrics that are added up, KL by k3; `clipped` is 1 where clipping changes the objective."""

FIELDS: Final = ("logprobs", "ref_logprobs", "entropies", "advantages", "old_logprobs")
"""What they are made of."""

_NAME: Final = "vocabulary"
_DENSE: Final = 4
"""So many cells of steps and tokens for each token that is counted are added up in a grid; where there would be more, cell by cell."""


def cached(part: Part) -> pa.Table:
    """`count` of all rollouts of a part that are of training, out of the cache where it was made before."""
    return part_tables.table(part, _NAME, lambda one: count(one, training_rows(one)))


def training_rows(part: Part) -> NDArray[np.int64]:
    """The rows that are neither of an evaluation nor discarded."""
    if "split" not in part.scalars.column_names:
        return np.arange(len(part))
    others = pc.is_in(part.scalars.column("split").cast(pa.string()), pa.array([EVALUATION, DISCARDED]))
    return np.flatnonzero(~others.to_numpy(zero_copy_only=False))


def count(part: Part, rows: NDArray[np.int64]) -> pa.Table:
    """A row for each step and token that some rollouts of a part write, by step: step (int64), token (a dictionary of text), n (int32), and
    for each of METRICS that is known its sum (float32), and `<metric>_n` (int32), of how many finite numbers, where that is not n (`known`).
    """
    pieces = [_of_alike(part, alike) for alike in _with_tokens(part, rows)]
    pieces = [piece for piece in pieces if piece.num_rows]
    if not pieces:
        return _table(np.zeros(0, np.int64), pa.array([], pa.int32()), pa.array([], pa.large_string()), {})
    whole = pieces[0] if len(pieces) == 1 else pa.concat_tables(pieces).unify_dictionaries().combine_chunks()
    return whole.drop_columns([name for metric in METRICS for name in _needless(whole, metric)])


def known(table: pa.Table, metric: str) -> str | None:
    """The column of a `count` of how many numbers a metric's sums are of; None where it has none."""
    if metric not in table.column_names:
        return None
    return f"{metric}_n" if f"{metric}_n" in table.column_names else "n"


def _needless(table: pa.Table, metric: str) -> list[str]:
    """Of a metric's two columns those that hold nothing: there are tens of millions of rows of a large run."""
    held = table.column(f"{metric}_n")
    if not pc.max(held).as_py():
        return [metric, f"{metric}_n"]
    return [f"{metric}_n"] if held.equals(table.column("n")) else []


def _with_tokens(part: Part, rows: NDArray[np.int64]) -> list[Alike]:
    if TOKENS not in part.tokens.column_names:
        return []
    named = part.tokens.column(TOKENS).chunk(0).is_valid().to_numpy(zero_copy_only=False)
    chosen = rows[named[rows]]
    return list(part.alike(chosen, FIELDS)) if len(chosen) else []


def _of_alike(part: Part, alike: Alike) -> pa.Table:
    """The table of rollouts that have the same fields."""
    lists = part.tokens.column(TOKENS).chunk(0)
    if len(alike.rows) < len(part) or (np.diff(alike.rows) != 1).any() or lists.offset:
        lists = lists.take(pa.array(alike.rows))
    encoded = lists.values.dictionary_encode()
    there, step = np.unique(part.scalars.column("step").to_numpy()[alike.rows], return_inverse=True)
    names = encoded.dictionary
    cell = np.repeat(step.astype(np.int64) * len(names), np.diff(alike.offsets)) + encoded.indices.to_numpy()
    cells, grid = _cells(cell[alike.counts], len(there) * len(names))
    n = np.bincount(grid, minlength=len(cells))
    columns: dict[str, tuple[NDArray[Any], NDArray[Any]]] = {}
    for name, values in _metrics(alike).items():
        own = np.asarray(values)[alike.counts]
        finite = np.isfinite(own)
        if finite.all():
            columns[name] = np.bincount(grid, own, len(cells)), n
        else:
            columns[name] = (
                np.bincount(grid, np.where(finite, own, 0), len(cells)),
                np.bincount(grid[finite], minlength=len(cells)),
            )
    some = np.flatnonzero(n)
    tokens = pa.array((cells[some] % len(names)).astype(np.int32))
    found = {name: (sums[some], counts[some]) for name, (sums, counts) in columns.items()}
    return _table(there[cells[some] // len(names)], tokens, names, {"n": (n[some], n[some]), **found})


def _cells(cell: NDArray[np.int64], size: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The cells there are, rising, and which of them each token is of."""
    if size <= _DENSE * len(cell):
        return np.arange(size), cell
    codes, cells = pd.factorize(cell, sort=True)
    return np.asarray(cells, np.int64), codes.astype(np.int64)


def _metrics(alike: Alike) -> dict[str, FloatArray]:
    """Those of METRICS that can be made, (N,) each."""
    makers = token_makers(alike.flats, DEFAULT_ESTIMATOR)
    found: dict[str, FloatArray] = {name: makers[name]() for name in METRICS if name in makers}
    if {"logprobs", "old_logprobs", "advantages"} <= alike.flats.keys():
        found["clipped"] = token_sums.clipped(Tokens(alike.flats, alike.offsets, alike.counts))
    return found


_LARGEST: Final = float(np.finfo(np.float32).max)


def _table(
    steps: NDArray[np.int64],
    tokens: pa.Array,
    names: pa.Array,
    columns: dict[str, tuple[NDArray[Any], NDArray[Any]]],
) -> pa.Table:
    nothing = np.zeros(len(steps)), np.zeros(len(steps), np.int64)
    found = {
        "step": pa.array(steps, pa.int64()),
        "token": pa.DictionaryArray.from_arrays(tokens, names.cast(pa.large_string())),
        "n": pa.array(columns.get("n", nothing)[0].astype(np.int32)),
    }
    for name in METRICS:
        sums, counts = columns.get(name, nothing)
        sums = np.clip(sums, -_LARGEST, _LARGEST)  # the KL of a token that the reference finds impossible may be beyond
        found |= {name: pa.array(sums.astype(np.float32)), f"{name}_n": pa.array(counts.astype(np.int32))}
    return pa.table(found)
