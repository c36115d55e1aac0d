"""`python -m board.sql.sandbox_worker`: answers one query over one table, in a process that can be limited and ended.

The order names an open file, an Arrow file with the table `rollouts`, or what `board.sql.sandbox_table` makes it of; its schema's metadata
has the `query` and the `limits`. Where the table has the column WITHIN, only rows for which it is true are `rollouts`. The answer is an Arrow
stream with the rows, whose schema's metadata says whether there were more (`cut`), or `error` with the reason there is none. Where the query
is over IN_TURN, its progress is the share of the rows that was taken up so far.

A process of its own, because DuckDB minds its memory limit and interruptions only between operators: a single `repeat('x', 4000000000)` takes
8 GB and half a minute of the process it runs in.
"""

import json
import mmap
import resource
from collections.abc import Callable, Iterator, Mapping, Sequence
from decimal import Decimal
from typing import Any, Final

import duckdb
import pyarrow as pa

from board.runs import child_process
from board.sql import sandbox_table
from board.sql.sandbox_table import IN_TURN, STORED, WITHIN

SETTINGS: Final[Mapping[str, str]] = {
    "allow_community_extensions": "false",
    "autoinstall_known_extensions": "false",
    "autoload_known_extensions": "false",
    "allow_persistent_secrets": "false",
    "python_enable_replacements": "false",
    "temp_directory": "",
    "enable_external_access": "false",
    "lock_configuration": "true",
}
"""What is turned off, in this order, before anything that a reader wrote is parsed. Set once the database is open: given with its opening,
external access off would still allow a file named as the database, `:memory:` in the working folder, to be written."""

BATCH_ROWS: Final = 10_000


def refusal(connection: duckdb.DuckDBPyConnection, query: str) -> str:
    """Why the query is not one SELECT statement; empty when it is. Raises duckdb.Error when it is no SQL."""
    statements = connection.extract_statements(query)
    if not statements:
        return "There is no query: write one SELECT statement."
    if len(statements) > 1:
        return f"These are {len(statements)} statements: write one SELECT statement."
    kind = statements[0].type
    return "" if kind == duckdb.StatementType.SELECT else f"This is a statement of the kind {kind.name}: only SELECT is allowed."


def connect(
    table: pa.Table, memory: int, threads: int, taken_up: Callable[[float], None] = lambda share: None
) -> duckdb.DuckDBPyConnection:
    """A database in memory that has the table, and can reach nothing else: no file, no network, no variable of Python.

    `taken_up` is called with the share of IN_TURN that was read.
    """
    connection = duckdb.connect(":memory:", config={"memory_limit": f"{memory}B", "threads": str(threads)})
    for name, value in SETTINGS.items():
        connection.execute(f"SET {name} = '{value}'")
    if STORED in (table.schema.metadata or {}):
        _add_stored(connection, json.loads(table.schema.metadata[STORED]))
        return connection
    in_turn = pa.RecordBatchReader.from_batches(table.schema, _in_turn(table, taken_up))
    for name, given in (("rollouts", table), (IN_TURN, in_turn)):
        if WITHIN in table.column_names:
            connection.register(f"{name} read", given)
            view = f'SELECT * EXCLUDE ("{WITHIN}") FROM "{name} read" WHERE "{WITHIN}"'
            connection.execute(f'CREATE VIEW "{name}" AS {view}')
        else:
            connection.register(name, given)
    return connection


def _add_stored(connection: duckdb.DuckDBPyConnection, stored: Mapping[str, Any]) -> None:
    """Make the table of files of Parquet, which Arrow reads: the connection, which a reader's `where` is given to, can open none.

    Raises duckdb.Error for a `where` that is no condition.
    """
    # here alone: a query over a table in memory is answered sooner without it
    from pyarrow import dataset, fs

    checked = dataset.ParquetFragmentScanOptions(
        page_checksum_verification=True, pre_buffer=False, use_buffered_stream=True, buffer_size=65536
    )
    form = dataset.ParquetFileFormat(default_fragment_scan_options=checked)
    found = dataset.FileSystemDatasetFactory(fs.LocalFileSystem(), stored["paths"], form)
    connection.register("files", found.finish(pa.unify_schemas(found.inspect_schemas())))  # each may have other columns
    columns = ", ".join(f"{given} AS {_name(name)}" for name, given in stored["columns"].items())
    connection.execute(f"CREATE VIEW whole AS SELECT {columns} FROM files")
    where = f"WHERE {stored['where']}" if stored["where"] else ""
    query = f"WITH rollouts AS (FROM whole) SELECT * FROM rollouts {where}"
    if reason := refusal(connection, query):
        raise duckdb.ParserException(reason)
    for name in ("rollouts", IN_TURN):
        connection.execute(f"CREATE VIEW {_name(name)} AS {query}")


def _name(text: str) -> str:
    return '"' + text.replace('"', '""') + '"'


def _in_turn(table: pa.Table, taken_up: Callable[[float], None]) -> Iterator[pa.RecordBatch]:
    done = 0
    for batch in table.to_batches(max_chunksize=BATCH_ROWS):
        if done:  # the first report is sent at once: it says more than 0
            taken_up(done / len(table))
        yield batch
        done += len(batch)


def answer(
    table: pa.Table, query: str, limits: Mapping[str, int], taken_up: Callable[[float], None] = lambda share: None
) -> pa.Table:
    """At most `limits["rows"]` rows, `cut` and `error` in the metadata."""
    try:
        connection = connect(table, limits["memory"], limits["threads"], taken_up)
        if reason := refusal(connection, query):
            return _error_answer(error=reason)
        found = _first(connection.sql(query), limits)
    except duckdb.Error as error:
        return _error_answer(error=str(error))
    except (OSError, pa.ArrowInvalid) as error:
        return _error_answer(error=f"The files of the index cannot be read: {error}")
    except MemoryError:
        return _error_answer(error="Out of Memory Error: the query needs more memory than it may take.")
    if found.nbytes > limits["bytes"]:
        return _error_answer(error="The answer is too large for a chart: select fewer or shorter columns.")
    return found.slice(0, limits["rows"]).replace_schema_metadata({"cut": "yes" if len(found) > limits["rows"] else ""})


def _first(relation: duckdb.DuckDBPyRelation, limits: Mapping[str, int]) -> pa.Table:
    """The rows as they come, until there are more, or they are larger, than the limits say."""
    reader = relation.to_arrow_reader(BATCH_ROWS)
    batches: list[pa.RecordBatch] = []
    rows = size = 0
    for batch in reader:
        batches.append(batch)
        rows, size = rows + len(batch), size + batch.nbytes
        if rows > limits["rows"] or size > limits["bytes"]:
            break
    return _exact(pa.Table.from_batches(batches, reader.schema), relation.types)


def _exact(table: pa.Table, kinds: Sequence[object]) -> pa.Table:
    """The table as DuckDB meant it: Arrow has no unsigned integers of 128 bits, and gets their bits as a signed decimal, -1 for the largest."""
    for at, kind in enumerate(kinds):
        if str(kind) == "UHUGEINT":
            values = [None if one is None else Decimal(int(one) % 2**128) for one in table.column(at).to_pylist()]
            table = table.set_column(at, table.field(at).name, pa.array(values, pa.decimal256(39, 0)))
    return table


def _error_answer(error: str) -> pa.Table:
    return pa.table({}).replace_schema_metadata({"error": error})


def confine(limits: Mapping[str, int]) -> None:
    """Ask the system to hold this process to what DuckDB does not: memory, time, and to write no file."""
    for kind, most in (
        (resource.RLIMIT_DATA, 2 * limits["memory"]),
        (resource.RLIMIT_CPU, (limits["seconds"] + 1) * limits["threads"]),
        (resource.RLIMIT_FSIZE, 0),
        (resource.RLIMIT_CORE, 0),
    ):
        allowed = resource.getrlimit(kind)[1]
        least = most if allowed == resource.RLIM_INFINITY else min(most, allowed)
        resource.setrlimit(kind, (least, least))


def _answered(order: Mapping[str, int], tell: Callable[[float], None]) -> dict[str, pa.Buffer]:
    mapped = mmap.mmap(order["table"], 0, access=mmap.ACCESS_READ)  # never closed: the table lies in it
    table = pa.ipc.open_file(pa.py_buffer(mapped)).read_all()
    metadata: dict[bytes, bytes] = table.schema.metadata
    limits: dict[str, int] = json.loads(metadata[b"limits"])
    table = sandbox_table.whole(table)
    confine(limits)
    found = answer(table, metadata[b"query"].decode(), limits, tell)
    written = pa.BufferOutputStream()
    with pa.ipc.new_stream(written, found.schema) as writer:
        writer.write_table(found)
    return {"payload": written.getvalue()}


if __name__ == "__main__":
    child_process.serve(_answered)
