"""SQLite databases of trackers, opened to be read: bounded in time, changed by nobody here. Knows no tracker's tables."""

import os
import sqlite3
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Final

from board.errors import BoardError
from board.sources.nearby_files import check, whole_on_disk

_BESIDE: Final = ("-wal", "-shm", "-journal")
"""Files that SQLite opens with a database, by what their names have more."""

_LOG: Final = "-wal"

_CHECK_EVERY: Final = 100_000
"""Steps of SQLite's machine between two looks at the clock: a database may hold a question without end."""


@contextmanager
def opened(file: Path, tracker: str, seconds: float) -> Iterator[sqlite3.Connection]:
    """The database, read only, and left as it is: without a writer's log beside it SQLite is told that nobody writes.

    What SQLite says against it, and a question that takes longer than the seconds, becomes a BoardError that names it.
    """
    check(file)
    whole_on_disk(file)
    beside = [path for ending in _BESIDE if os.path.lexists(path := file.with_name(file.name + ending))]
    for path in beside:
        check(path, within=file.parent)
        whole_on_disk(path)
    mode = "mode=ro" if any(path.name.endswith(_LOG) and path.stat().st_size for path in beside) else "immutable=1"
    deadline = time.monotonic() + seconds
    try:
        with closing(sqlite3.connect(f"{file.absolute().as_uri()}?{mode}", uri=True, timeout=5)) as database:
            database.execute("PRAGMA trusted_schema = OFF")
            database.set_progress_handler(lambda: time.monotonic() > deadline, _CHECK_EVERY)
            yield database
    except sqlite3.Error as error:
        raise BoardError(f"{file}: no database of {tracker}, or a damaged one: {error}.") from error


def state(file: Path, status: os.stat_result) -> tuple[int, int]:
    """Bytes and time of the last change, in ns, of a database with the log that a writer keeps beside it, where there is one."""
    log = file.with_name(file.name + _LOG)
    try:
        beside = check(log, within=file.parent)
    except BoardError:
        return status.st_size, status.st_mtime_ns
    return status.st_size + beside.st_size, max(status.st_mtime_ns, beside.st_mtime_ns)
