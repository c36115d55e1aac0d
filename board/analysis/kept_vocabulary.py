"""The vocabulary of a whole run as it is kept beside it: to lay a hundred million tokens' parts together takes seconds, to map what came of
it none. Knows no screen.
"""

import json
from collections.abc import Callable
from typing import Final

import numpy as np
import pyarrow as pa

from board.analysis.vocabulary import LEAST, MOST_STRETCHES, MOST_TOKENS, Vocabulary, vocabulary
from board.runs import kept_of_run
from board.runs.kept_of_run import grid_of, lists_of
from board.runs.run import Run

NAME: Final = "run-vocabulary"
_ABOUT: Final = b"vocabulary"


def of_run(run: Run, progress: Callable[[float], None] = lambda _: None) -> Vocabulary:
    """`vocabulary` of the run: out of the cache where it was made of these very rollouts before, else made now, and kept if they are all."""
    choices = f"{MOST_STRETCHES} {MOST_TOKENS} {LEAST}"
    found = kept_of_run.read(run, NAME, choices)
    if found is not None:
        return read(found)
    made = vocabulary(run, progress)
    if made.names:
        kept_of_run.keep(run, NAME, table_of(made), choices)
    return made


def table_of(of: Vocabulary) -> pa.Table:
    """A row for each token; numbers by stretch are lists of one length. How many are known is left out where all are."""
    about = {"folded": of.folded, "firsts": of.firsts.tolist(), "lasts": of.lasts.tolist()}
    columns = {"name": pa.array(of.names, pa.large_string()), "text": pa.array(of.texts, pa.large_string())}
    columns["counts"] = lists_of(of.counts)
    for metric, sums in of.sums.items():
        columns[f"sum {metric}"] = lists_of(sums)
        if not np.array_equal(of.known[metric], of.counts):
            columns[f"known {metric}"] = lists_of(of.known[metric])
    return pa.table(columns).replace_schema_metadata({_ABOUT: json.dumps(about)})


def read(table: pa.Table) -> Vocabulary:
    """What `table_of` made a table of."""
    about = json.loads(table.schema.metadata[_ABOUT])
    grids = {name: grid_of(table, name) for name in table.column_names[2:]}
    metrics = [name.removeprefix("sum ") for name in grids if name.startswith("sum ")]
    return Vocabulary(
        names=tuple(table.column("name").to_pylist()),
        texts=tuple(table.column("text").to_pylist()),
        folded=about["folded"],
        firsts=np.array(about["firsts"], np.int64),
        lasts=np.array(about["lasts"], np.int64),
        counts=grids["counts"],
        sums={name: grids[f"sum {name}"] for name in metrics},
        known={name: grids.get(f"known {name}", grids["counts"]) for name in metrics},
    )
