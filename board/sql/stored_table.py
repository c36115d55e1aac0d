"""A run that is larger than memory as the table of a query: the files of its index's frame, which DuckDB reads out of core.

Knows where columns lie.
"""

import json
from collections.abc import Sequence
from typing import Final

import pyarrow as pa

from board.errors import BoardError
from board.runs.frame_files import SAMPLED
from board.runs.run import Run
from board.schema import DISCARDED, EVALUATION
from board.sql.identifiers import may_be_named, told_apart
from board.sql.query import Answer, check_query, read_answer
from board.sql.run_table import KEY, PROMPT_KEY, columns
from board.sql.sandbox import Limits, answered

LIMITS: Final = Limits(seconds=120, memory=1_000_000_000, rows=100_000)
"""Of a query over all rollouts."""

IS_SAMPLED: Final = "is sampled"
"""The column of booleans: whether a rollout is in the sample of the index."""

_SPLITS: Final = {
    "": "",
    EVALUATION: "split = 'evaluation'",
    DISCARDED: "split = 'discarded'",
    "train": "split IS NULL OR split NOT IN ('evaluation', 'discarded')",
}


def answer(run: Run, query: str, limits: Limits = LIMITS, also: Sequence[str] = ()) -> pa.Table:
    """What one SELECT over the table `rollouts` gives, all rollouts of the run being in it, those that the frame does not hold, too.

    `also` are conditions that they satisfy beside the run's own. `run.beyond` is there. Raises BoardError as `board.sql.query.evaluate` does,
    and for a query that names a text: texts lie with the tokens, in thousands of parts.
    """
    assert run.beyond is not None
    known = columns(run)
    query, *conditions = (told_apart(one, known) for one in (query, run.beyond.filtered, _SPLITS[run.beyond.split], *also))
    asked = "\n".join([query, *conditions])
    files, stored = run.beyond.framed.files, {}
    for name, given in known.items():
        place = KEY if given == KEY else f"source/{PROMPT_KEY}" if given == PROMPT_KEY else f"frame/{given}"
        if given not in run.text_columns:
            stored[name] = place if place in files.sample.column_names else f"measured/{given}"
    stored[IS_SAMPLED] = SAMPLED
    needed = {stored[name] for name in {KEY, IS_SAMPLED, *may_be_named(list(stored), asked)}}
    where = " AND ".join(f"(\n{one}\n)" for one in conditions if one)
    with files.paths(sorted(needed)) as paths:
        told = {"paths": [*map(str, paths)], "columns": {name: at for name, at in stored.items() if at in needed}, "where": where}
        said = answered(pa.table({KEY: pa.array([], pa.int64())}), query, limits, stored=json.dumps(told))
    if reason := (said.schema.metadata or {}).get(b"error"):
        raise BoardError(_with_cause(reason.decode(), run))
    return said


def evaluate(run: Run, query: str) -> Answer:
    """As `board.sql.query.evaluate`, over all rollouts of the run."""
    check_query(query)
    return read_answer(answer(run, query))


def _with_cause(reason: str, run: Run) -> str:
    """DuckDB's own words, and ours where it misses a text."""
    text = next((name for name in run.text_columns if f'column "{name.lower()}" not found' in reason.lower()), None)
    if text is None:
        return reason
    return f"The text {text} cannot be asked of all rollouts of a run that is larger than memory: ask for its numbers and ids."
