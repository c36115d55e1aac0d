"""SQLite databases of trackers, read as a copy, bounded in time and memory.

SQLite opens paths by itself, writes next to a database that has a log (`-wal`), and follows what a journal names. So the database and its log
are copied into a temporary folder, and nothing else of their folder is looked at.
"""

import os
import sqlite3
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from functools import lru_cache
from pathlib import Path
from typing import Any, Final

from board.errors import BoardError
from board.sources import nearby_files
from board.sources.nearby_files import MAX_BYTES, check

ENDING: Final = ".db"
"""Of the names of trackers' databases."""

_LOG: Final = "-wal"

SECONDS: Final = 60.0
"""Longest time that reading a database may take, unless a reader says otherwise."""

LONGEST: Final = 64 << 20
"""Bytes of a text, and of a row, unless a reader says otherwise; a step's numbers take kilobytes."""

_CHECK_EVERY: Final = 10_000
"""Steps of SQLite's machine between two looks at the clock: a database may hold a question without end."""

_COPIES: Final = 5
"""So many times a database is copied that its writer changes meanwhile."""

_PIECE: Final = 1 << 20

_SETTINGS: Final = ("trusted_schema = OFF", "temp_store = MEMORY", "cell_size_check = ON")


@contextmanager
def opened(
    file: Path, tracker: str, *, within: Path | None = None, seconds: float = SECONDS, longest: int = LONGEST
) -> Iterator[sqlite3.Connection]:
    """A copy of the database with its writer's log; `within` as of `nearby_files.opened`. Read no table of it that `columns` does not know.

    What SQLite says against it, a question that takes longer than the seconds, and a row of more than the longest become a BoardError that
    names it.
    """
    deadline = time.monotonic() + seconds
    try:
        with tempfile.TemporaryDirectory(prefix="rl-logging-board-") as folder:
            copy = Path(folder, "copy.db")
            mode = "mode=ro" if _copied(file, within, copy) else "immutable=1"
            with closing(sqlite3.connect(f"{copy.as_uri()}?{mode}", uri=True)) as database:
                database.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, longest)
                database.set_progress_handler(lambda: time.monotonic() > deadline, _CHECK_EVERY)
                for setting in _SETTINGS:
                    database.execute(f"PRAGMA {setting}")
                yield database
    except sqlite3.Error as error:
        raise BoardError(f"{file}: no database of {tracker}, or a damaged one: {error}.") from error
    except MemoryError as error:
        raise BoardError(f"{file}: it asks for more memory than there is.") from error


def _copied(file: Path, within: Path | None, copy: Path) -> bool:
    """Copy a database as it is at one moment; whether it has a log with anything in it. Raises BoardError."""
    log = file.with_name(file.name + _LOG)
    for _ in range(_COPIES):
        before = check(file, within)
        _copy(file, within, copy)
        has_log = os.path.lexists(log)
        if has_log:
            _copy(log, within or file.parent, copy.with_name(copy.name + _LOG))
        after = check(file, within)
        # a log that has only grown belongs to the same database; once that is written to, it need not
        if (before.st_ino, before.st_size, before.st_mtime_ns) == (after.st_ino, after.st_size, after.st_mtime_ns):
            return has_log and bool(copy.with_name(copy.name + _LOG).stat().st_size)
    raise BoardError(f"{file} cannot be read: it is written to again and again. Look again later.")


def _copy(file: Path, within: Path | None, copy: Path) -> None:
    """Zeros stay a hole: a file may have any number of them and take no room."""
    with nearby_files.opened(file, within) as stream, copy.open("wb") as into:
        size = 0
        while (piece := stream.read(_PIECE)) and size <= MAX_BYTES:
            if piece.strip(b"\0"):
                into.seek(size)
                into.write(piece)
            size += len(piece)
        into.truncate(size)


def columns(database: sqlite3.Connection, table: str) -> set[str]:
    """The columns of an ordinary table; none where there is none of that name, or what is given for it is computed when it is read.

    A view, a virtual table and a computed column may take any time and memory, whatever the size of the database.
    """
    ordinary = "SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = ? AND rootpage > 0 AND sql LIKE 'CREATE TABLE%'"
    if not database.execute(ordinary, (table,)).fetchone():
        return set()
    found = database.execute(f"PRAGMA table_xinfo({table})").fetchall()
    return set() if any(hidden for *_, hidden in found) else {name for _, name, *_ in found}


def holds(file: Path, tracker: str, ask: Callable[[sqlite3.Connection], Any]) -> bool:
    """Whether a question finds anything in a database, asked again once that, or its log, has changed; False where it cannot be read."""
    try:
        return _holds(file, tracker, ask, *state(file, check(file)))
    except BoardError:
        return False


@lru_cache(maxsize=1_000)
def _holds(file: Path, tracker: str, ask: Callable[[sqlite3.Connection], Any], _size: int, _mtime_ns: int) -> bool:
    with opened(file, tracker) as database:
        return bool(ask(database))


def parted(path: Path) -> tuple[Path, str | None]:
    """The database of a path `database.db/run`, and the run; for the path of a database alone, or of none, no run."""
    file = next((parent for parent in path.parents if parent.suffix == ENDING and parent.is_file()), path)
    return file, None if file == path else path.relative_to(file).as_posix()


def state(file: Path, status: os.stat_result) -> tuple[int, int]:
    """Bytes and time of the last change, in ns, of a database with its writer's log, where there is one."""
    log = file.with_name(file.name + _LOG)
    try:
        logged = check(log, within=file.parent)
    except BoardError:
        return status.st_size, status.st_mtime_ns
    return status.st_size + logged.st_size, max(status.st_mtime_ns, logged.st_mtime_ns)
