"""trackio: its local store, an SQLite database for each project, read without the library and written with it.

TRACKIO_DIR says where the store is; TRACKIO_SPACE_ID and TRACKIO_SERVER_URL send elsewhere, as ever. A store on a network file system, which
trackio keeps as fragments next to the database, is read once trackio has taken those in.
"""

import itertools
import os
import sqlite3
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextvars import Context
from pathlib import Path, PurePosixPath
from typing import Any, Final, Literal

from board.errors import BoardError
from board.sources import sqlite_files
from board.sources.flatten import parsed, values
from board.sources.nearby_files import checked_writable, walk
from board.trackers.contract import Curves, Example, Points, TrackerWriter, library, plain, table

_TRACKER: Final = "trackio"

_ELSEWHERE: Final = ("TRACKIO_SPACE_ID", "TRACKIO_SERVER_URL")
"""With one of these trackio sends what is logged to another machine."""

_LONGEST_NAME: Final = 255
"""Characters of a run's name that may stand in a path."""

_RENAMED: Final = "__"
"""What trackio puts before a metric's name that it uses itself, such as step."""


def find(folder: Path) -> list[Path]:
    """Each database that has trackio's table of metrics."""
    databases = walk(folder, lambda name: name.endswith(sqlite_files.ENDING))
    return [path for path in databases if sqlite_files.holds(path, _TRACKER, _columns)]


def runs(path: Path, within: Path | None = None) -> dict[str, Path]:
    """The runs that a project's database holds rows of, the one logged to last first, and each one's path `database/name`.

    A name that is no path, such as "a//b", is left out. Raises BoardError as `read` does.
    """
    with sqlite_files.opened(path, _TRACKER, within=within) as database:
        if not _columns(database):
            raise BoardError(f"{path}: no table of trackio's metrics.")
        names = database.execute("SELECT run_name FROM metrics GROUP BY run_name ORDER BY max(id) DESC").fetchall()
    return {name: path / name for (name,) in names if isinstance(name, str) and _is_path(name)}


def _is_path(name: str) -> bool:
    plain_path = PurePosixPath(name)
    return plain_path.as_posix() == name != "." and not plain_path.is_absolute() and len(name) <= _LONGEST_NAME


def read(path: Path, within: Path | None = None) -> Curves:
    """What was logged by the run that was logged to last in a project's database; of the run called `name` for the path `database/name`.

    Nested names are joined by "/". Raises BoardError that names the database for one that is damaged or none, and for a run that is not there.
    """
    file, name = sqlite_files.parted(path)
    points = Points(file)
    with sqlite_files.opened(file, _TRACKER, within=within) as database:
        for step, metrics in _rows(database, file, name):
            try:
                for key, value in values(parsed(metrics)):
                    points.add(key.removeprefix(_RENAMED), step, value)
            except (TypeError, ValueError) as error:
                raise BoardError(f"{file}: a row is no metrics of trackio: {error}.") from error
    return points.curves()


def _columns(database: sqlite3.Connection) -> set[str]:
    """The columns of the table of metrics, none where there is no such table or it is none of trackio's."""
    columns = sqlite_files.columns(database, "metrics")
    return columns if {"id", "run_name", "step", "metrics"} <= columns else set()


def _rows(database: sqlite3.Connection, file: Path, name: str | None) -> Iterator[tuple[int, str]]:
    """Step and metrics of each row of a run, in the order in which they were logged. Stores of older versions know runs by name alone."""
    columns = _columns(database)
    if not columns:
        raise BoardError(f"{file}: no table of trackio's metrics.")
    identity = "run_id" if "run_id" in columns else "run_name"
    newest = f"SELECT {identity} FROM metrics WHERE run_name = coalesce(?, run_name) ORDER BY id DESC LIMIT 1"
    found = database.execute(newest, (name,)).fetchone()
    if found is None and name is not None:
        raise BoardError(f"{file}: no run is called {name}.")
    for step, metrics in database.execute(f"SELECT step, metrics FROM metrics WHERE {identity} = ? ORDER BY id", found or ("",)):
        if not isinstance(step, int):
            raise BoardError(f"{file}: a step is no whole number.")
        yield step, metrics


def open_writer(
    run: str,
    *,
    project: str = "rl-logging-board",
    name: str | None = None,
    resume: Literal["never", "allow", "must"] = "allow",
    dir: str | Path | None = None,
) -> "TrackioWriter":
    """Go on with the last run that is called `name`, else `run`, or begin one; with `resume="never"` begin one of a name that is free.

    `dir` is the store's folder, TRACKIO_DIR's or trackio's own where none is given. Raises TrackerMissing without trackio, BoardError for
    what trackio does not take and for a store that cannot be written to.
    """
    trackio = _library(None if dir is None else Path(dir).expanduser().absolute())
    called = plain(name or run)
    try:
        free = _free(trackio, project, called) if resume == "never" else called
        # of its own context, as trackio ends the run that is open in the one it is called in
        begun = Context().run(
            trackio.init, project=project, name=free, resume=resume, embed=False, auto_log_cpu=False, auto_log_gpu=False
        )
    except ValueError as error:  # how trackio refuses a project, and a run that is not there
        raise BoardError(f"trackio: {error}") from error
    return TrackioWriter(begun, trackio.Table)


def _free(trackio: Any, project: str, name: str) -> str:
    """The name, or with a number behind it, that no run of the project has in the store on this machine."""
    try:
        taken = {one.name for one in trackio.Api().runs(project)}
    except ValueError:  # there is no such project yet
        return name
    return next(free for count in itertools.count(1) if (free := name if count == 1 else f"{name}-{count}") not in taken)


def _library(folder: Path | None) -> Any:
    """trackio itself, which looks once, when it is loaded, where its store is."""
    if folder is not None and "trackio" not in sys.modules:
        os.environ["TRACKIO_DIR"] = str(folder)
    trackio = library(_TRACKER, _TRACKER)
    store = Path(trackio.TRACKIO_DIR)
    if folder not in (None, store):
        raise BoardError(f"trackio has one store in a process, and this process has {store} already.")
    if not any(map(os.environ.get, _ELSEWHERE)):
        checked_writable(store)
    return trackio


class TrackioWriter(TrackerWriter):
    """An open run of trackio. Its thread writes twice a second, and warns of what it could not write."""

    def __init__(self, run: Any, table: Callable[..., Any]) -> None:
        database = library("trackio.sqlite_storage", _TRACKER).SQLiteStorage.get_project_db_path(run.project)
        self.name, self.place = run.name, run.url or f"{database}/{run.name}"
        self._run, self._table = run, table

    def close(self) -> None:
        """Write what is pending and end the run."""
        self._run.finish()

    def _log(self, step: int, values: Mapping[str, Any]) -> None:
        self._run.log(dict(values), step=step)

    def _show(self, step: int, name: str, rows: Sequence[Example]) -> None:
        self._log(step, {name: self._table(**table(rows))})
