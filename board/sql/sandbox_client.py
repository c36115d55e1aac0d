"""A process that answers one query, and its limits: the side of `board.sql.sandbox_worker` that asks."""

import json
import os
import tempfile
import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import BinaryIO, Final

import pyarrow as pa

from board.errors import BoardError, missing_library
from board.runs.cache.columns import ColumnInFile
from board.runs.child_process import ChildEnded, ChildProcess
from board.sql import sandbox_table
from board.sql.sandbox_table import Piece
from board.text.counting import plural
from board.text.format_number import size

_PASSED_ON: Final = ("LD_LIBRARY_PATH", "DYLD_LIBRARY_PATH")
"""All that the process is given of the environment: Python itself may need them to start."""

_FRUGAL: Final = {"ARROW_DEFAULT_MEMORY_POOL": "system"}
"""Arrow's own allocator would take a gigabyte of the memory there is at the first allocation."""


def said_to(request: BinaryIO, seconds: int, memory: int, show: Callable[[float], None]) -> bytes:
    """The Arrow stream that the worker answers with; it is gone when this returns, or raises.

    `show` is called now and then with the share that is done. Raises BoardError when there is no answer, or not in so many seconds.
    """

    def tell(share: float) -> None:
        if share:
            show(share)

    environment = {name: os.environ[name] for name in _PASSED_ON if name in os.environ}
    with ChildProcess("board.sql.sandbox_worker", environment | _FRUGAL, [request.fileno()]) as process:
        try:
            written: bytes = process.ask({"table": request.fileno()}, seconds=seconds, tell=tell)["payload"]
        except TimeoutError as error:
            raise BoardError(f"The query was stopped: it took longer than {plural(seconds, 'second')}.") from error
        except ChildEnded as error:
            if error.code is not None and error.code < 0:
                why = f"The query was stopped: it needed more than the {size(memory)} it may take, or DuckDB failed."
                raise BoardError(why) from error
            raise BoardError(f"The process that answers queries failed: {error}.") from error
    return written


@dataclass(frozen=True)
class Limits:
    """What one query may take."""

    seconds: int = 20
    memory: int = 512_000_000
    """Bytes DuckDB may use; what escapes its notice may be as much again."""
    rows: int = 100_000
    """Rows of the answer; more are cut."""
    bytes: int = 64_000_000
    """Of the answer."""
    threads: int = 2


_SEATS: Final = threading.BoundedSemaphore(2)
"""So many queries of all readers are answered at a time."""


Texts = Mapping[str, Sequence[ColumnInFile | pa.Array]]
"""Text columns of a table, each piece by piece."""


def answered(
    table: pa.Table,
    query: str,
    limits: Limits,
    texts: Texts | None = None,
    absent: Mapping[str, str] | None = None,
    show: Callable[[float], None] = lambda share: None,
    stored: str = "",
) -> pa.Table:
    """What `board.sql.sandbox_worker` says to the query, in a process that is gone when this returns. Raises BoardError when it says nothing.

    `texts` are columns of the table that lie in files, which that process maps; `absent` columns that the query does not name, by their kinds.
    `show` is called now and then with the share that is done, of a query over IN_TURN. `stored` says in JSON in which files the table lies
    that replaces the given one (`sandbox_table.STORED`).
    """
    if find_spec("duckdb") is None:
        raise BoardError(missing_library(ModuleNotFoundError(name="duckdb"), "A query"))
    try:
        with tempfile.TemporaryDirectory() as loose, tempfile.TemporaryFile() as request:
            pieces = {name: _pieces(column, Path(loose), at) for at, (name, column) in enumerate((texts or {}).items())}
            said = {sandbox_table.TEXTS: json.dumps(pieces), sandbox_table.ABSENT: json.dumps(dict(absent or {}))}
            said |= {sandbox_table.STORED: stored} if stored else {}
            _write(request, table, {b"query": query, b"limits": json.dumps(asdict(limits)), **said})
            with _SEATS:
                written = said_to(request, limits.seconds, limits.memory, show)
    except OSError as error:  # no room for the table, no process to be had
        raise BoardError(f"The query could not be run: {error.strerror or error}.") from error
    return pa.ipc.open_stream(written).read_all()


def _pieces(column: Sequence[ColumnInFile | pa.Array], loose: Path, at: int) -> list[Piece]:
    """Where the pieces of a column lie; those in memory alone are written into the folder `loose`."""
    return [_piece(piece, loose / f"{at}-{nth}.arrow") for nth, piece in enumerate(column)]


def _piece(piece: ColumnInFile | pa.Array, path: Path) -> Piece:
    if isinstance(piece, ColumnInFile):
        return [str(piece.path), piece.column, piece.inode]
    if piece.null_count == len(piece):
        return [len(piece)]
    table = pa.table({"texts": piece})
    with pa.OSFile(str(path), "wb") as file, pa.ipc.new_file(file, table.schema) as writer:
        writer.write_table(table)
    return [str(path), "texts", path.stat().st_ino]


def _write(file: BinaryIO, table: pa.Table, metadata: dict[bytes, str]) -> None:
    schema = table.schema.with_metadata(metadata)
    with pa.ipc.new_file(file, schema) as writer:
        writer.write_table(table.cast(schema))
    file.flush()
