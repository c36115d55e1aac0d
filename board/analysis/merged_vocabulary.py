"""The vocabulary of a run laid together from tables of its parts that come one after another, in bounded memory.

First the names are counted, then, once it is known which tokens have a row of their own, their numbers. Exact, unless a run has more different
tokens than are remembered. Knows neither who makes the tables nor where they lie.
"""

from collections.abc import Sequence
from typing import Final

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from board.analysis import vocabulary_counts
from board.analysis.vocabulary import MOST_STRETCHES, RARE, Vocabulary, different_names, rows_of_names
from board.analysis.vocabulary_counts import METRICS
from board.text.token_decoding import codec_of, decoded

MOST_NAMES: Final = 2_000_000
"""Of more different tokens than so many the rarer half is forgotten, and may be counted again from nothing."""


class TokenStretches:
    """The steps whose tokens count, neighbours taken together."""

    def __init__(self, steps: NDArray[np.int64]) -> None:
        """`steps` (k,) are all there are, rising."""
        self._steps, self.count = steps, min(len(steps), MOST_STRETCHES)
        self._stretch = np.arange(len(steps)) * self.count // max(1, len(steps))

    def of(self, steps: NDArray[np.int64]) -> NDArray[np.int64]:
        """The stretch of each of some steps, as given."""
        return self._stretch[np.searchsorted(self._steps, steps)]

    def ends(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """(count,) the first and the last step of each."""
        edges = np.searchsorted(self._stretch, np.arange(self.count + 1))
        return self._steps[edges[:-1]], self._steps[edges[1:] - 1]


def summed(tables: Sequence[pa.Table], stretches: TokenStretches) -> pa.Table:
    """Tables of `vocabulary_counts` added up: a row for each token and stretch, the tokens in order of appearance.

    Columns token (a dictionary of text, which holds all names of the tables), stretch, n, and by metric its sum, and `<metric>_n`.
    """
    names, of = different_names(tables)
    cells = [
        one.astype(np.int64) * stretches.count + stretches.of(table.column("step").to_numpy())
        for one, table in zip(of, tables, strict=True)
    ]
    codes, there = pd.factorize(np.concatenate([np.zeros(0, np.int64), *cells]), sort=True)
    bounds = np.cumsum([0, *map(len, cells)])
    columns: dict[str, pa.Array] = {
        "token": pa.DictionaryArray.from_arrays(pa.array((there // max(1, stretches.count)).astype(np.int32)), names),
        "stretch": pa.array((there % max(1, stretches.count)).astype(np.int32)),
        "n": pa.array(_added(tables, ["n"] * len(tables), codes, bounds, len(there)).astype(np.int64)),
    }
    for metric in METRICS:
        has = [vocabulary_counts.known(table, metric) for table in tables]
        if any(has):
            columns[metric] = pa.array(_added(tables, [one and metric for one in has], codes, bounds, len(there)))
            columns[f"{metric}_n"] = pa.array(_added(tables, has, codes, bounds, len(there)).astype(np.int64))
    return pa.table(columns)


def _added(
    tables: Sequence[pa.Table], columns: Sequence[str | None], codes: NDArray[np.int64], bounds: NDArray[np.int64], size: int
) -> NDArray[np.float64]:
    total = np.zeros(size)
    for table, column, start, stop in zip(tables, columns, bounds[:-1].tolist(), bounds[1:].tolist(), strict=True):
        if column is not None:
            total += np.bincount(codes[start:stop], table.column(column).to_numpy().astype(np.float64), size)
    return total


class NamesTally:
    """How often each token is written, as far as was added."""

    def __init__(self, most: int = MOST_NAMES) -> None:
        self._most = most
        self._names = [pa.array([], pa.large_string())]
        self._totals = [np.zeros(0, np.int64)]
        self.forgotten = 0
        """How many names were forgotten; one that came again counts again."""
        self.missed = 0
        """A token that was forgotten was written at most so often before."""

    def add(self, table: pa.Table) -> None:
        """Count the tokens of a table of `summed`."""
        token = table.column("token").combine_chunks()
        totals = np.bincount(token.indices.to_numpy(), table.column("n").to_numpy(), len(token.dictionary)).astype(np.int64)
        self._names.append(token.dictionary)
        self._totals.append(totals)
        if sum(map(len, self._names[1:])) > max(len(self._names[0]), self._most // 4):
            self._lay_together()

    def result(self) -> tuple[pa.Array, NDArray[np.int64]]:
        """The names in order of appearance, and how often each is written."""
        self._lay_together()
        return self._names[0], self._totals[0]

    def _lay_together(self) -> None:
        encoded = pa.concat_arrays(self._names).dictionary_encode()
        names, totals = encoded.dictionary, np.zeros(len(encoded.dictionary), np.int64)
        np.add.at(totals, encoded.indices.to_numpy(), np.concatenate(self._totals))
        if len(names) > self._most:
            kept = np.sort(np.argsort(-totals, kind="stable")[: self._most // 2])
            left = np.delete(totals, kept)
            self.forgotten += len(left)
            self.missed += int(left.max())
            names, totals = names.take(pa.array(kept)), totals[kept]
        self._names, self._totals = [names], [totals]


class VocabularyGrid:
    """The numbers of the tokens that a tally found, as far as was added."""

    def __init__(self, tally: NamesTally, stretches: TokenStretches) -> None:
        names, totals = tally.result()
        self._stretches, self._missed = stretches, tally.missed
        _, chosen = rows_of_names(totals)
        self._own = names.take(pa.array(chosen))
        self._folded = len(names) - len(chosen) + tally.forgotten
        self._shape = len(chosen) + bool(self._folded), stretches.count
        self._grids: dict[str, NDArray[np.float64]] = {"n": np.zeros(self._shape)}

    def add(self, table: pa.Table) -> None:
        """Add a table of `summed`."""
        token = table.column("token").combine_chunks()
        own = pc.index_in(token.dictionary, self._own).fill_null(len(self._own)).to_numpy()
        cells = own[token.indices.to_numpy()].astype(np.int64) * self._shape[1] + table.column("stretch").to_numpy()
        for name in table.column_names[2:]:
            grid = self._grids.setdefault(name, np.zeros(self._shape))
            np.add.at(grid.reshape(-1), cells, table.column(name).to_numpy().astype(np.float64))

    def vocabulary(self, some_tokens: Sequence[str]) -> Vocabulary:
        """What was added; `some_tokens` tell how tokens name their bytes."""
        own, codec = self._own.to_pylist(), codec_of(some_tokens)
        named = (*own, *([RARE] if self._shape[0] > len(own) else []))
        firsts, lasts = self._stretches.ends()
        metrics = [name for name in METRICS if name in self._grids]
        return Vocabulary(
            names=named,
            texts=(*(decoded(codec, name) for name in own), *named[len(own) :]),
            folded=self._folded,
            firsts=firsts,
            lasts=lasts,
            counts=self._grids["n"].astype(np.int32),
            sums={name: self._grids[name].astype(np.float32) for name in metrics},
            known={name: self._grids[f"{name}_n"].astype(np.int32) for name in metrics},
            missed=self._missed,
        )
