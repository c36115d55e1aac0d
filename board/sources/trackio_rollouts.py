"""A trackio database → records: a trace each, and a table of completions, as TRL logs them, each.

They are marked with a `_type` as trackio marks them. A project's database has several runs; the records are those of the run that logged such
last, a table that was logged again once.
"""

import sqlite3
from collections.abc import Iterator
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any, Final

import orjson

from board.errors import BoardError, RowRefused
from board.sources import run_files, sqlite_files
from board.sources.flatten import parsed
from board.sources.json_record import Record, parse_value
from board.sources.lines import longest_line

TRACE: Final = "trackio.trace"
TABLE: Final = "trackio.table"
"""What trackio calls them itself."""

_LOOKING: Final = 5.0
_READING: Final = 1_800.0
"""Longest time in seconds that a look for rollouts may take, and that reading them may with all that is made of them meanwhile."""

_MADE: Final = b"ON traces(search_text)"
_BEGINNING: Final = 1 << 20

_COMPLETION: Final = {"prompt", "completion"}
"""What each row of a table of completions has."""

_NEEDED: Final = {
    "traces": {"id", "run_id", "run_name", "timestamp", "step", "key", "messages", "metadata"},
    "metrics": {"id", "run_id", "run_name", "timestamp", "step", "metrics"},
}
"""By table the columns without which it is not trackio's; a store of before it gave runs ids had no traces."""

_HAS_TABLE: Final = " AND ".join(f"instr(metrics, '\"{said}\"')" for said in (TABLE, *sorted(_COMPLETION)))
"""Most rows are numbers: only those that say so are looked into."""

_WHERE: Final = {"traces": "1", "metrics": _HAS_TABLE}

_Stored = tuple[dict[str, Any], dict[str, bytes | None]]
"""A row by column: its texts and numbers, and its JSON as it stands, None where all of it is longer than the given bound."""


def holds(file: Path, within: Path) -> bool:
    """Whether a database of trackio has a trace or a table of completions; so too where damage hides whether it has."""
    try:
        with _opened(file, _LOOKING, within) as database:
            there = _tables(database)
            if "traces" in there and _has_traces(database):
                return True
            found = database.execute(f"SELECT metrics FROM metrics WHERE {_HAS_TABLE}") if "metrics" in there else ()
            return any(map(_has_completions, found))
    except BoardError:  # reading it will say what is wrong, if it is one
        return _was_made_by_trackio(file, within)


def _was_made_by_trackio(file: Path, within: Path) -> bool:
    """Whether the statement that made trackio's traces stands near the beginning, where SQLite keeps such."""
    try:
        with run_files.opened(file, within=within) as stream:
            return _MADE in stream.read(_BEGINNING)
    except OSError:
        return False


def _has_traces(database: sqlite3.Connection) -> bool:
    try:
        return database.execute("SELECT 1 FROM traces LIMIT 1").fetchone() is not None
    except sqlite3.DatabaseError:  # reading it will say what is wrong
        return True


def _has_completions(row: tuple[Any]) -> bool:
    try:
        return any(True for _ in _completions(parsed(row[0])))
    except (TypeError, ValueError):
        return False


def _completions(metrics: dict[str, Any]) -> Iterator[tuple[str, list[Any]]]:
    """Name and rows of each table of completions among what was logged at once."""
    for name, value in metrics.items():
        rows = value.get("_value") if isinstance(value, dict) and value.get("_type") == TABLE else None
        if isinstance(rows, list) and rows and isinstance(rows[0], dict) and rows[0].keys() >= _COMPLETION:
            yield name, rows


def rows(file: Path, longest: int, within: Path | None = None) -> Iterator[tuple[Record | RowRefused, int]]:
    """The records of the run that logged rollouts last, its tables first, in the order in which they were logged: each, or why it is none, as
    its JSON is longer than so many bytes, and the bytes it took.

    Raises BoardError that names the database.
    """
    logged: set[bytes] = set()
    for plain, texts in _stored(file, longest, within):
        size = sum(len(text or b"") for text in texts.values())
        try:
            found = _records(plain, texts, longest)
        except RowRefused as error:
            yield error, size
            continue
        for record in found:
            if record["_type"] == TABLE:
                table = orjson.dumps([record["key"], record["rows"]], default=str)
                if table in logged:
                    continue
                logged.add(table)
            yield record, size


def _records(plain: dict[str, Any], texts: dict[str, bytes | None], longest: int) -> list[Record]:
    """The records in a row: the trace that it is, or the tables that it holds. Raises RowRefused."""
    row = f"the row `{str(plain.get('id'))[:80]}` of trackio"
    values = {name: _value(row, name, text, longest) for name, text in texts.items()}
    if "metrics" not in values:
        return [{"_type": TRACE, **plain, **values}]
    metrics = values["metrics"] if isinstance(values["metrics"], dict) else {}
    return [{"_type": TABLE, **plain, "key": key, "rows": table} for key, table in _completions(metrics)]


def _value(row: str, name: str, text: bytes | None, longest: int) -> object:
    if text is None:
        raise RowRefused(f"{row} is longer than {longest:,} bytes (RL_BOARD_LONGEST_LINE): it is left out")
    try:
        return parse_value(text)
    except RowRefused as error:
        raise RowRefused(f"{row}: `{name}` {error}") from error


def _stored(file: Path, longest: int, within: Path | None) -> Iterator[_Stored]:
    with _opened(file, _READING, within, longest) as database:
        there = _tables(database)
        for run in _runs(database, there)[:1]:
            for table in sorted(there):
                yield from _of_table(database, table, there[table], run, longest)


def others(file: Path, within: Path | None = None) -> list[str]:
    """Names of the other runs that hold rollouts, the last one first. Raises BoardError."""
    with _opened(file, _READING, within) as database:
        there = _tables(database)
        return [_name(database, there, run) for run in _runs(database, there)[1:]]


def _opened(file: Path, seconds: float, within: Path | None, most: int = 0) -> AbstractContextManager[sqlite3.Connection]:
    """With room for a row of twice the longest: such a one is left out, and one of more ends the reading."""
    longest = 2 * max(most, longest_line())
    return sqlite_files.opened(file, "trackio", seconds=seconds, within=within, longest=min(longest, 1_000_000_000))


def _tables(database: sqlite3.Connection) -> dict[str, set[str]]:
    """Of trackio's tables that may hold rollouts those that are there, with their columns."""
    columns = {name: sqlite_files.columns(database, name) for name in _NEEDED}
    return {name: found for name, found in columns.items() if found >= _NEEDED[name]}


def _runs(database: sqlite3.Connection, there: dict[str, set[str]]) -> list[str]:
    """Ids of the runs with rollouts, the one that logged such last first. Of traces their index alone is read."""
    last: dict[str, str] = {}
    for table in there:
        for run, time in database.execute(f"SELECT run_id, max(timestamp) FROM {table} WHERE {_WHERE[table]} GROUP BY run_id"):
            last[run] = max(last.get(run, ""), str(time))
    return sorted(last, key=lambda run: last[run], reverse=True)


def _name(database: sqlite3.Connection, there: dict[str, set[str]], run: str) -> str:
    """What a run is called; its id where nothing says so."""
    named = (database.execute(f"SELECT run_name FROM {table} WHERE run_id = ? LIMIT 1", (run,)).fetchone() for table in there)
    return next((str(row[0]) for row in named if row), run)


def _of_table(database: sqlite3.Connection, table: str, columns: set[str], run: str, most: int) -> Iterator[_Stored]:
    texts = sorted(columns & {"messages", "metadata", "spans", "metrics"})
    plain = sorted(columns & {"id", "run_name", "step", "key", "trace_index", "timestamp"})
    fits = f"{' + '.join(f'length({name})' for name in texts)} <= ?"
    selected = ", ".join([*plain, *(f"CASE WHEN {fits} THEN CAST({name} AS BLOB) END" for name in texts)])
    query = f"SELECT {selected} FROM {table} NOT INDEXED WHERE run_id = ? AND {_WHERE[table]} ORDER BY rowid"
    for row in database.execute(query, (*[most] * len(texts), run)):  # a row at a time
        yield dict(zip(plain, row, strict=False)), dict(zip(texts, row[len(plain) :], strict=True))
