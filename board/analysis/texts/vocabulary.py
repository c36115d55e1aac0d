"""The tokens of a run: their frequency over training, their metrics, which rise or fall.

Tokens of training that count, by their names as the trainer wrote them. Made of counts and sums per step that are cached per part, so that
a run of any size is there at once; rollouts that a filter leaves are counted anew.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from board.analysis.stats.log_odds import against_shared_prior
from board.metrics import token_sums
from board.metrics.formulas import DEFAULT_ESTIMATOR, FloatArray, token_makers
from board.metrics.token_sums import Tokens
from board.runs.cache import part_tables, run_tables
from board.runs.cache.parts import Alike, Part
from board.runs.run import Run
from board.schema import DISCARDED, EVALUATION, TOKENS
from board.text.token_decoding import codec_of, decoded

METRICS: Final = ("log_ratio", "kl", "entropy", "advantage", "prob", "clipped")
"""Token metrics that are added up, KL by k3; `clipped` is 1 where clipping changes the objective."""

FIELDS: Final = ("logprobs", "ref_logprobs", "entropies", "advantages", "old_logprobs")
"""What they are made of."""

_NAME: Final = "vocabulary"
_DENSE: Final = 4
"""So many cells of steps and tokens for each token that is counted are added up in a grid; where there would be more, cell by cell."""


def cached_counts(part: Part) -> pa.Table:
    """`counted` of all rollouts of a part that are of training, out of the cache where it was made before."""
    return part_tables.table(part, _NAME, lambda one: counted(one, training_rows(one)))


def training_rows(part: Part) -> NDArray[np.int64]:
    """The rows that are neither of an evaluation nor discarded."""
    if "split" not in part.scalars.column_names:
        return np.arange(len(part))
    others = pc.is_in(part.scalars.column("split").cast(pa.string()), pa.array([EVALUATION, DISCARDED]))
    return np.flatnonzero(~others.to_numpy(zero_copy_only=False))


def counted(part: Part, rows: NDArray[np.int64]) -> pa.Table:
    """A row for each step and token that some rollouts of a part write, by step: step (int64), token (a dictionary of text), n (int32), and
    for each of METRICS that is known its sum (float32), and `<metric>_n` (int32), of how many finite numbers, where that is not n: see
    `known_column`.
    """
    pieces = [_of_alike(part, alike) for alike in _with_tokens(part, rows)]
    pieces = [piece for piece in pieces if piece.num_rows]
    if not pieces:
        return _table(np.zeros(0, np.int64), pa.array([], pa.int32()), pa.array([], pa.large_string()), {})
    whole = pieces[0] if len(pieces) == 1 else pa.concat_tables(pieces).unify_dictionaries().combine_chunks()
    return whole.drop_columns([name for metric in METRICS for name in _needless(whole, metric)])


def known_column(table: pa.Table, metric: str) -> str | None:
    """The column of a `counted` of how many numbers a metric's sums are of; None where it has none."""
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


MOST_STRETCHES: Final = 120
"""Of more steps, neighbours are taken together."""
MOST_TOKENS: Final = 20_000
"""At most this many tokens, the most frequent ones, are counted by name."""
LEAST: Final = 5
"""A token that a run has less often is among the rare ones."""

RARE: Final = "(rare tokens)"

_CODEC_TOKENS: Final = 4_000
_COUNTING: Final = 0.8
"""The share of the work that counting is, before the counts of the parts are merged."""


@dataclass(frozen=True)
class Vocabulary:
    """t tokens over s stretches of steps."""

    names: tuple[str, ...]
    """(t,) as the trainer wrote them, the most frequent first; the last is RARE where there are others."""
    texts: tuple[str, ...]
    """(t,) as they read."""
    folded: int
    """How many different tokens are in RARE."""
    firsts: NDArray[np.int64]
    """(s,) the first step of each stretch."""
    lasts: NDArray[np.int64]
    """(s,) the last."""
    counts: NDArray[np.int32]
    """(t, s): how often each token is written and counted."""
    sums: dict[str, NDArray[np.float32]]
    """(t, s) by metric of `METRICS` that the run has: the sum of its finite numbers."""
    known: dict[str, NDArray[np.int32]]
    """(t, s) by metric, of how many numbers."""

    @property
    def total(self) -> int:
        """Tokens that count."""
        return int(self.counts.sum(dtype=np.int64))

    @property
    def shares(self) -> NDArray[np.float32]:
        """(t, s): the share of a stretch's tokens that each is; 0 in one without tokens."""
        found: NDArray[np.float32] = (self.counts / np.maximum(self.counts.sum(axis=0), 1)).astype(np.float32)
        return found


TABLE: Final = "run-vocabulary"


def of_run(run: Run, progress: Callable[[float], None] = lambda _: None) -> Vocabulary:
    """`vocabulary` of the run, cached, as merging the parts of a hundred million tokens takes seconds."""
    choices = f"{MOST_STRETCHES} {MOST_TOKENS} {LEAST}"
    return run_tables.made(run, TABLE, choices, Vocabulary, lambda: vocabulary(run, progress))


def vocabulary(run: Run, progress: Callable[[float], None] = lambda _: None) -> Vocabulary:
    """The tokens of the rollouts of the run's frame that are of training; none where no rollout names its tokens.

    `progress` is called with the share that is done, 0 to 1.
    """
    tables, done = [], 0
    for part, _, rows in run.parts_of_rows():
        tables += _tables_of(part, rows)
        done += len(rows)
        progress(_COUNTING * done / len(run.frame))
    tables = [table for table in tables if table.num_rows]
    if not tables:
        nothing = np.zeros(0, np.int64)
        return Vocabulary((), (), 0, nothing, nothing, np.zeros((0, 0), np.int32), {}, {})
    return _merged(run, tables, progress)


def _tables_of(part: Part, rows: NDArray[np.int64]) -> list[pa.Table]:
    """The cached counts of the steps whose rollouts of training are all among `rows`, and counts of the other rollouts."""
    training = training_rows(part)
    rows = np.intersect1d(rows, training, assume_unique=True)
    if len(rows) == len(training):
        return [cached_counts(part)]
    steps = part.scalars.column("step").to_numpy()
    there, of_step = np.unique(steps[training], return_inverse=True)
    chosen = np.bincount(np.searchsorted(there, steps[rows]), minlength=len(there))
    whole = there[chosen == np.bincount(of_step, minlength=len(there))]
    found = [counted(part, rows[~np.isin(steps[rows], whole)])]
    if len(whole):
        counts = cached_counts(part)
        found.append(counts.filter(pc.is_in(counts.column("step"), pa.array(whole))))
    return found


def _merged(run: Run, tables: list[pa.Table], progress: Callable[[float], None]) -> Vocabulary:
    names, of = _different_names(tables)
    there = np.unique(np.concatenate([np.unique(table.column("step").to_numpy()) for table in tables]))
    stretches = min(len(there), MOST_STRETCHES)
    stretch = np.arange(len(there)) * stretches // len(there)
    edges = np.searchsorted(stretch, np.arange(stretches + 1))
    totals = np.zeros(len(names), np.int64)
    for one, table in zip(of, tables, strict=True):
        np.add.at(totals, one, table.column("n").to_numpy())
    places, chosen = _rows_of_names(totals)
    shape = int(places.max()) + 1, stretches
    # a large run's tables have tens of millions of rows: where each belongs takes four bytes, all else is held of one table at a time
    cells = [
        (places[one] * stretches + stretch[np.searchsorted(there, table.column("step").to_numpy())]).astype(np.int32)
        for one, table in zip(of, tables, strict=True)
    ]
    del of
    sums, known = {}, {}
    for at, metric in enumerate(METRICS):
        progress(_COUNTING + (1 - _COUNTING) * at / len(METRICS))
        has = [known_column(table, metric) for table in tables]
        if any(has):
            known[metric] = _added(tables, cells, has, shape).astype(np.int32)
            sums[metric] = _added(tables, cells, [one and metric for one in has], shape).astype(np.float32)
    own = names.take(pa.array(chosen)).to_pylist()
    named = (*own, *([RARE] if shape[0] > len(own) else []))
    codec = codec_of(_some_tokens(run))
    return Vocabulary(
        names=named,
        texts=(*(decoded(codec, name) for name in own), *named[len(own) :]),
        folded=len(names) - len(own),
        firsts=there[edges[:-1]],
        lasts=there[edges[1:] - 1],
        counts=_added(tables, cells, ["n"] * len(tables), shape).astype(np.int32),
        sums=sums,
        known=known,
    )


def _added(
    tables: list[pa.Table], cells: list[NDArray[np.int32]], columns: Sequence[str | None], shape: tuple[int, int]
) -> NDArray[np.float64]:
    """One column of each table added up by cell in a grid of that shape; None for a table that has it not."""
    grid = np.zeros(shape[0] * shape[1])
    for one, table, column in zip(cells, tables, columns, strict=True):
        if column is not None:
            np.add.at(grid, one, table.column(column).to_numpy().astype(np.float64))
    return grid.reshape(shape)


def _different_names(tables: Sequence[pa.Table]) -> tuple[pa.Array, list[NDArray[np.int32]]]:
    """The different tokens of all tables, and which each row of each table is of."""
    columns = [table.column("token").combine_chunks() for table in tables]
    nothing = pa.array([], pa.large_string())
    together = pa.concat_arrays([nothing, *(column.dictionary for column in columns)]).dictionary_encode()
    codes, before, found = together.indices.to_numpy(), 0, []
    for column in columns:
        found.append(codes[before : before + len(column.dictionary)][column.indices.to_numpy()])
        before += len(column.dictionary)
    return together.dictionary, found


def _rows_of_names(totals: NDArray[Any]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The row of each token, those among the rare ones all in the last, and the tokens that have a row of their own in the order of rows."""
    order = np.argsort(-totals, kind="stable")[:MOST_TOKENS]
    chosen = order[totals[order] >= LEAST]
    places = np.full(len(totals), len(chosen))
    places[chosen] = np.arange(len(chosen))
    return places, chosen


def _some_tokens(run: Run) -> list[str]:
    """Tokens of the first rollout that names any, to find the codec."""
    for key in run.frame.index[:100].tolist():
        found = run.tokens_of(int(key))
        if found is not None and len(found):
            return [name or "" for name in found[:_CODEC_TOKENS].to_pylist()]
    return []


def summary(of: Vocabulary, first: int | None = None, last: int | None = None) -> pd.DataFrame:
    """A row for each token, over the stretches from the one that holds step `first` to the one that holds step `last`: count, share,
    early and late (shares in the first and in the last third of them), delta and z (log-odds of late against early, with a Dirichlet prior),
    kl_share (of the KL of all tokens), and the mean of each metric. NaN where not known.

    Tokens of one response are not drawn one by one, so that z ranks and is no probability.
    """
    chosen = np.ones(len(of.firsts), bool)
    if first is not None and last is not None:
        chosen = (of.lasts >= first) & (of.firsts <= last)
    at = np.flatnonzero(chosen)
    counts = of.counts[:, at].sum(axis=1, dtype=np.int64)
    third = -(-len(at) // 3) if len(at) > 1 else 0
    early, late = (of.counts[:, side].sum(axis=1, dtype=np.int64) for side in (at[:third], at[len(at) - third :]))
    totals = float(late.sum()), float(early.sum())
    odds = against_shared_prior(late, early, totals)
    unknown = np.full(len(counts), np.nan)
    compared = min(totals) > 0
    table = {
        "count": counts,
        "share": counts / max(1, int(counts.sum())),
        "early": early / totals[1] if compared else unknown,
        "late": late / totals[0] if compared else unknown,
        "delta": odds.delta if compared else unknown,
        "z": odds.z if compared else unknown,
    }
    if "kl" in of.sums:
        kl = of.sums["kl"][:, at].sum(axis=1, dtype=np.float64)
        table["kl_share"] = kl / kl.sum() if kl.sum() > 0 else unknown
    for metric, sums in of.sums.items():
        held = of.known[metric][:, at].sum(axis=1, dtype=np.int64)
        values = sums[:, at].sum(axis=1, dtype=np.float64)
        table[metric] = np.divide(values, held, out=np.full(len(held), np.nan), where=held > 0)
    return pd.DataFrame(table)
