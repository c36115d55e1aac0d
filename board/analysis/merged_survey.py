"""Surveys of the tokens of parts of a run laid together as that of all its tokens, exactly, and a survey as a table that is kept.

Memory for one survey of each metric, however many parts there are. Knows neither who makes surveys of parts nor where tables lie.
"""

from typing import Final

import numpy as np
import pandas as pd
import pyarrow as pa
from numpy.typing import NDArray

from board.analysis.token_survey import Stretches, Survey, most_extreme, no_tokens
from board.metrics.token_summaries import CODES, PLACES
from board.schema import extreme

_BINS: Final = b"bins"
_COLUMNS: Final = ("key", "step", "position", "value")
_WAITING: Final = 400_000
"""So many candidates for the most extreme tokens wait to be put in order together."""


def table_of(survey: Survey) -> pa.Table:
    """A row for each stretch that has a token, or was given one; the rest of a survey is that of nothing."""
    tokens = survey.tokens.sort_values("stretch", kind="stable")  # those of a stretch stay in their order
    there = np.union1d(np.flatnonzero(survey.counts.any(axis=1)), tokens["stretch"].to_numpy(np.int64))
    bounds = np.searchsorted(tokens["stretch"].to_numpy(np.int64), np.append(there, len(survey.first)))
    columns = {
        "stretch": pa.array(there, pa.int64()),
        "sums": pa.FixedSizeListArray.from_arrays(pa.array(survey.sums[there].ravel()), PLACES),
        "counts": pa.FixedSizeListArray.from_arrays(pa.array(survey.counts[there].ravel()), PLACES),
    }
    for name in _COLUMNS:
        values = pa.array(tokens[name].to_numpy(np.float32 if name == "value" else np.int64))
        columns[name] = pa.LargeListArray.from_arrays(pa.array(bounds, pa.int64()), values)
    return pa.table(columns).replace_schema_metadata({_BINS: survey.in_bins.astype("<i8").tobytes()})


class MergedSurvey:
    """The survey of all that was added."""

    def __init__(self, metric: str, stretches: Stretches) -> None:
        self._metric, self._order, self._stretches = metric, extreme(metric), stretches
        self._sums = np.zeros((stretches.count, PLACES))
        self._counts = np.zeros((stretches.count, PLACES), np.int64)
        self._in_bins = np.zeros(2 * CODES, np.int64)
        self._tokens = [no_tokens()]

    def add(self, table: pa.Table) -> None:
        """Add what `table_of` made of the survey of some parts, over the same stretches. Raises ValueError where it is no such table."""
        there = table.column("stretch").to_numpy()
        self._sums[there] += _grid(table, "sums")
        self._counts[there] += _grid(table, "counts")
        self._in_bins += np.frombuffer(table.schema.metadata[_BINS], "<i8")
        self._tokens.append(_tokens(table, there))
        if sum(map(len, self._tokens[1:])) > _WAITING:
            self._tokens = [self._in_order()]

    def survey(self) -> Survey:
        """What was added."""
        first, last = self._stretches.ends()
        return Survey(self._metric, self._order, first, last, self._sums, self._counts, self._in_bins, self._in_order())

    def _in_order(self) -> pd.DataFrame:
        return most_extreme(pd.concat(self._tokens, ignore_index=True), self._order)


def _grid(table: pa.Table, name: str) -> NDArray[np.float64]:
    column = table.column(name).combine_chunks()
    if column.type.list_size != PLACES:
        raise ValueError(f"{name} has {column.type.list_size} places")
    found: NDArray[np.float64] = column.flatten().to_numpy().reshape(len(column), PLACES)
    return found


def _tokens(table: pa.Table, there: NDArray[np.int64]) -> pd.DataFrame:
    lists = {name: table.column(name).combine_chunks() for name in _COLUMNS}
    columns = {name: one.flatten().to_numpy() for name, one in lists.items()}
    sizes = lists["key"].value_lengths().to_numpy()
    return pd.DataFrame({**columns, "stretch": np.repeat(there, sizes)})
