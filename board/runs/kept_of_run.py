"""What takes long to make of a whole run, kept beside its first part until the run is another: made in the background or by the first reader.

Each table has the key of the rollouts it was made of; that of a run which has grown takes its place. Of rollouts that a filter leaves nothing
is kept. Knows neither what a table holds nor who makes it.
"""

from typing import Any, Final, get_args

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray
from xxhash import xxh3_128

from board.runs import kept_tables
from board.runs.run import Run, Split

_KEY: Final = b"of"


def is_kept(run: Run) -> bool:
    """Whether tables of such a run are kept: one that is read to its end, with all its rollouts or all of a split."""
    if run.is_partial and run.beyond is None:  # what a filter leaves
        return False
    return len(run.frame) > 0 and run.reading is None and run.selection in ("", *get_args(Split))


def read(run: Run, name: str, choices: str = "") -> pa.Table | None:
    """The table of that name which was made of these very rollouts and with these `choices`; None where none was."""
    if not is_kept(run):
        return None
    found = kept_tables.read(run.parts[0], name)
    return found if found is not None and found.schema.metadata.get(_KEY) == _key(run, choices) else None


def keep(run: Run, name: str, made: pa.Table, choices: str = "") -> None:
    """Keep a table that was made of the run, in the place of the one of that name that was made of another state of it."""
    if is_kept(run):
        kept_tables.keep(
            run.parts[0], name, made.replace_schema_metadata({**(made.schema.metadata or {}), _KEY: _key(run, choices)})
        )


def _key(run: Run, choices: str) -> bytes:
    """Another text where a rollout, a part or a choice is another."""
    digest = xxh3_128(run.frame.index.to_numpy(np.int64).tobytes())
    if run.is_partial:  # its parts are thousands, which are opened one by one
        digest.update(run.beyond.framed.files.account.of.encode() if run.beyond else b"")
    else:
        for part in run.parts:
            digest.update(f"{len(part)} {part.file and part.file.stem} ".encode())
    digest.update(choices.encode())
    return digest.hexdigest().encode()


def lists_of(grid: NDArray[Any]) -> pa.FixedSizeListArray:
    """A grid (n, m) as a column of n lists of m numbers."""
    return pa.FixedSizeListArray.from_arrays(pa.array(grid.ravel()), grid.shape[1])


def grid_of(table: pa.Table, name: str) -> NDArray[Any]:
    """The grid that such a column is of."""
    column = table.column(name).combine_chunks()
    found: NDArray[Any] = column.flatten().to_numpy().reshape(len(column), column.type.list_size)
    return found
