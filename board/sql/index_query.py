"""Queries and filters over all rollouts of an index, of which a run's frame is a sample: DuckDB reads its files as Arrow, out of core."""

import json
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Final

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from board.errors import BoardError
from board.runs.indexed.index_rows import MEASURED, ROLLOUT, name_of, text_of
from board.runs.indexed.slices import Index, most_rollouts
from board.runs.run import Run
from board.schema import DISCARDED, EVALUATION
from board.settings import user_folders
from board.sources import presence
from board.sql import identifiers
from board.sql.chips import Chip, condition
from board.sql.condition import check_condition
from board.sql.identifiers import exact_names, may_be_named
from board.sql.query import Answer, check_query, read_answer
from board.sql.run_table import KEY, columns
from board.sql.sandbox_client import Limits, answered

LIMITS: Final = Limits(seconds=120, memory=1_000_000_000, rows=100_000)
"""Of a query over all rollouts."""

_SPLITS: Final = {
    "": "",
    EVALUATION: "split = 'evaluation'",
    DISCARDED: "split = 'discarded'",
    "train": "split IS NULL OR split NOT IN ('evaluation', 'discarded')",
}


def answer(run: Run, query: str, limits: Limits = LIMITS) -> pa.Table:
    """What one SELECT over the table `rollouts` gives, all rollouts of the run being in it, those that the frame does not hold, too.

    `run.slice` is there. Raises BoardError as `board.sql.query.evaluate` does.
    """
    assert run.slice is not None
    known, index = columns(run), run.slice.index
    query, *conditions = (exact_names(one, known) for one in (query, run.slice.filtered, _SPLITS[run.slice.split]))
    with index.verified():
        there = index.files.columns()
    stored = {name: place for name, given in known.items() if (place := _place(given, run)) in there}
    text = "\n".join([query, *conditions])
    if index.flags or "split" in there:
        stored["split"] = "split"
    needed = {KEY, *may_be_named(list(stored), text)}
    if presence.is_remote(index.folder):  # a star brings no texts from elsewhere
        needed = {one for one in needed if known[one] not in run.text_columns or one.lower() in text.lower()}
    marks = {name_of(flag) for flag in index.flags} & there if "split" in needed or _SPLITS[run.slice.split] else set()
    places = {stored.get(name, ROLLOUT) for name in needed} | marks | ({"split"} & there if marks else set())
    where = " AND ".join(f"(\n{one}\n)" for one in conditions if one)
    taken = {name: identifiers.column(stored[name]) for name in needed if name in stored}
    if marks:
        taken["split"] = _split("split" in there, sorted(marks))
    with _paths(index, sorted(places)) as paths:
        files = {"paths": [*map(str, paths)], "columns": taken, "where": where}
        said = answered(pa.table({KEY: pa.array([], pa.int64())}), query, limits, stored=json.dumps(files))
    if reason := (said.schema.metadata or {}).get(b"error"):
        raise BoardError(reason.decode())
    return said


def _place(given: str, run: Run) -> str:
    """The column of the index's files that a column of a run lies in."""
    if given == KEY:
        return ROLLOUT
    if given in run.text_columns and given not in run.frame.columns:
        return text_of(given)
    measured = {name for names in (run.slice.index.measures if run.slice else {}).values() for name in names}
    return MEASURED + given if given in measured else name_of(given)


def _split(said: bool, marks: Sequence[str]) -> str:
    """The split of a rollout as the run's frame has it: discarded where a flag says so, but for evaluations."""
    given = "split" if said else "NULL"
    marked = " OR ".join(f"{identifiers.column(name)} = 1" for name in marks)
    return f"CASE WHEN ({marked}) AND {given} IS DISTINCT FROM '{EVALUATION}' THEN '{DISCARDED}' ELSE {given} END"


@contextmanager
def _paths(index: Index, places: list[str]) -> Iterator[list[Path]]:
    """The files of all rows, whose ends are verified; of an index that lies elsewhere files of these columns, until the context ends."""
    if not presence.is_remote(index.folder):
        with index.verified():
            for file in index.files.files:
                index.files.check(file)
        yield [index.folder / file.name for file in index.files.files]
        return
    import pyarrow.parquet as pq

    cache = user_folders.cache()
    with user_folders.temporary(cache / "queries", cache, "rows") as folder:
        with index.verified():
            for at, table in enumerate(index.files.scan(places)):
                pq.write_table(table, folder / f"{at}.parquet", write_page_checksum=True)
        yield sorted(folder.iterdir())


def evaluate(run: Run, query: str) -> Answer:
    """`board.sql.query.evaluate` over all rollouts of the run."""
    check_query(query)
    return read_answer(answer(run, query))


def filtered(run: Run, chips: list[Chip], named: str) -> Run:
    """The rollouts that the chips leave of all that the run has, a choice that `named` identifies.

    Few enough are all in the frame of what is given, which then is a sample of nothing; else its frame has those of the sample. Raises
    BoardError as `answer` does.
    """
    assert run.slice is not None
    where = condition(chips)
    check_condition(where)
    ids = _ids(run, f"WHERE (\n{where}\n)")
    if len(ids) <= most_rollouts():
        return run.slice.of_ids(run, ids, named)[0]
    before = run.slice.filtered
    both = f"({before}\n) AND (\n{where}\n)" if before else where
    chosen = run.of_rows(np.isin(run.slice.index.ids[run.frame.index.to_numpy()], ids), named)
    return replace(chosen, slice=replace(run.slice, rollouts=len(ids), filtered=both, left=ids))


def _ids(run: Run, clauses: str) -> NDArray[np.int64]:
    """The ids that a query names, rising."""
    found = answer(run, f"SELECT {KEY} FROM rollouts {clauses}", replace(LIMITS, rows=2**62, bytes=2**62))
    return np.sort(found.column(0).to_numpy())


def first(run: Run, where: str, sort: str, top: int | None, *, descending: bool = False) -> tuple[int, Run, NDArray[np.int64]]:
    """How many rollouts satisfy a condition, all of them where it is empty, a run of the first of them, and their keys in their order.

    `sort` is a column, missing values last; without it, and among equals, they come by step. Raises BoardError as `answer` does.
    """
    assert run.slice is not None
    if where:
        check_condition(where)
    clause = f"WHERE (\n{where}\n)" if where else ""
    named = {given: name for name, given in columns(run).items()}
    by = f"{identifiers.column(named[sort])} {'DESC' if descending else 'ASC'} NULLS LAST, " if sort else ""
    most = most_rollouts() if top is None else min(top, most_rollouts())
    count = int(answer(run, f"SELECT count(*) AS found FROM rollouts {clause}").column(0)[0].as_py())
    query = f"SELECT {KEY} FROM rollouts {clause} ORDER BY {by}step, {KEY} LIMIT {most}"
    ids: NDArray[np.int64] = answer(run, query, replace(LIMITS, rows=2**62, bytes=2**62)).column(0).to_numpy()
    return count, *run.slice.of_ids(run, ids, "requested")
