"""Numbers of rollouts too slow for loading: computed part by part, once, and cached.

A part in, columns out; of a run a frame of them.
"""

import itertools
from collections.abc import Callable, Mapping

import numpy as np
import pandas as pd
import pyarrow as pa

from board.metrics.formulas import Float64Array
from board.runs.cache import part_tables
from board.runs.cache.parts import Part
from board.runs.run import Run

RolloutMeasure = Callable[[Part], Mapping[str, Float64Array]]
"""From the n rollouts of a part to columns of n numbers, NaN where one cannot be computed; the same columns for every part."""


def of_run(run: Run, measures: Mapping[str, RolloutMeasure], progress: Callable[[float], None] | None = None) -> pd.DataFrame:
    """Every column of every measure, a row for each rollout of the run's frame in its order, the index its key.

    `measures` by the names under which they are cached; `progress` is called with the share that is done, 0 to 1.
    """
    keys = run.frame.index.to_numpy(np.int64)
    order, done = np.argsort(keys, kind="stable"), 0
    whole: dict[str, Float64Array] = {}
    for part, _, rows in run.parts_of_rows():
        places = order[done : done + len(rows)]
        measured = (of_part(part, *named).items() for named in measures.items())
        for column, values in itertools.chain.from_iterable(measured):
            if column not in whole:
                whole[column] = np.full(len(keys), np.nan)
            whole[column][places] = values[rows]
        done += len(rows)
        if progress:
            progress(done / max(1, len(keys)))
    return pd.DataFrame(whole, run.frame.index, copy=False)


def is_cached(run: Run, measures: Mapping[str, RolloutMeasure]) -> bool:
    """Whether `of_run` would read all of it out of the cache."""
    return all(part_tables.is_cached(part, name) for part in run.parts for name in measures)


def of_part(part: Part, name: str, measure: RolloutMeasure) -> dict[str, Float64Array]:
    """The columns of a measure for a part: out of the cache where it was made before, else made now and cached."""
    table = part_tables.table(part, name, lambda one: pa.table(dict(measure(one))))
    return {column: table.column(column).to_numpy() for column in table.column_names}
