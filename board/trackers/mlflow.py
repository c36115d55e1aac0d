"""MLflow: its local stores, folders of files and SQLite databases, read without the library; runs written with it.

A database is what MLflow 3.17 and later begin where nothing else is said (`mlflow.db`), folders (`mlruns`) what those before did. Writing
needs `mlflow-skinny` alone for folders and for a server; MLFLOW_TRACKING_URI counts as ever.
"""

import os
import re
import sqlite3
import sys
import time
from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any, Final

import yaml

from board.errors import BoardError
from board.sources import sqlite_files
from board.sources.nearby_files import checked_writable, each_line, text, walk
from board.trackers.contract import Curves, Example, Points, TrackerWriter, Value, library, page, plain

_TRACKER: Final = "MLflow"
_LIBRARY: Final = "mlflow-skinny"
_ABOUT: Final = "meta.yaml"
_METRICS: Final = "metrics"
_TEXTS: Final = ("params", "tags")
"""Tables, and folders of files, of a run's texts, which have no step."""
_MOST_ABOUT: Final = 64 << 10
_MAX_LINE: Final = 4096

_COLUMNS: Final = {
    "metrics": {"run_uuid", "key", "value", "step", "is_nan", "timestamp"},
    "runs": {"run_uuid", "name", "start_time"},
}
"""By table the columns without which it is not MLflow's."""

_REFUSED: Final = re.compile(r"[^\w\-. /]", re.ASCII)
"""What MLflow takes in no name; a colon not on every system."""

_OURS: Final = "rl-logging-board.run"
"""A tag that tells whose a run is."""

_MOST_TAG: Final = 5_000
"""Characters of a tag's value that MLflow takes."""

_AT_ONCE: Final = 1_000
"""Metrics that MLflow takes in one call."""


def find(folder: Path) -> list[Path]:
    """The folder of each run that has metrics, and each database with MLflow's tables."""
    found = walk(folder, lambda name: name == _ABOUT or name.endswith(sqlite_files.ENDING))
    return [path.parent if path.name == _ABOUT else path for path in found if _is_run(path)]


def _is_run(path: Path) -> bool:
    if path.name == _ABOUT:
        return (path.parent / _METRICS).is_dir()
    return sqlite_files.holds(path, _TRACKER, _has_metrics)


def _has_metrics(database: sqlite3.Connection) -> bool:
    return all(sqlite_files.columns(database, table) >= columns for table, columns in _COLUMNS.items())


def runs(path: Path, within: Path | None = None) -> dict[str, Path]:
    """The name of a run's folder's run; of a database all that have metrics, the newest first, each one's path `database/id`."""
    if path.is_dir():
        return {name: path} if (name := _name_in(path / _ABOUT, within)) else {}
    with sqlite_files.opened(path, _TRACKER, within=within) as database:
        if not _has_metrics(database):
            return {}
        rows = database.execute(
            "SELECT name, run_uuid FROM runs WHERE run_uuid IN (SELECT run_uuid FROM metrics) ORDER BY start_time DESC"
        ).fetchall()
    named: dict[str, Path] = {}
    for name, run in rows:
        if isinstance(name, str) and isinstance(run, str) and re.fullmatch("[0-9a-f]{1,64}", run):
            named.setdefault(name, path / run)
    return named


def _name_in(about: Path, within: Path | None) -> str:
    """The run's name in its `meta.yaml`; empty where that says none, or cannot be read."""
    try:
        found = yaml.load(text(about, within, _MOST_ABOUT), yaml.BaseLoader)  # every value is text
    except (BoardError, yaml.YAMLError, RecursionError):
        return ""
    name = found.get("run_name") if isinstance(found, dict) else None
    return name if isinstance(name, str) else ""


def read(path: Path, within: Path | None = None) -> Curves:
    """The numbers of a run's folder; of the newest run of a database, or for the path `database/id` of that.

    Raises BoardError that names the file for one that is damaged or none.
    """
    if (path / _METRICS).is_dir():
        return _of_files(path, within)
    file, run = sqlite_files.parted(path)
    points = Points(file)
    with sqlite_files.opened(file, _TRACKER, within=within) as database:
        if not _has_metrics(database):
            raise BoardError(f"{file}: no store of MLflow.")
        _gather(database, run, points)
    return points.curves()


def _gather(database: sqlite3.Connection, run: str | None, points: Points) -> None:
    """Add a run's numbers in the order in which they were logged. NaN is a flag next to its value; the largest float stands for infinity."""
    newest = (
        "SELECT run_uuid FROM runs WHERE run_uuid = coalesce(?, run_uuid) AND run_uuid IN (SELECT run_uuid FROM metrics) "
        "ORDER BY start_time DESC LIMIT 1"
    )
    found = database.execute(newest, (run,)).fetchone()
    query = "SELECT key, step, value, is_nan FROM metrics WHERE run_uuid = ? ORDER BY timestamp, rowid"
    for name, step, value, is_nan in database.execute(query, found or ("",)):
        if isinstance(name, str) and isinstance(step, int) and isinstance(value, int | float):
            points.add(name, step, float("nan") if is_nan else value if abs(value) < sys.float_info.max else value * 2.0)
    for table in _TEXTS:
        known = sqlite_files.columns(database, table) >= {"run_uuid", "key", "value"}
        texts = f"SELECT key, value FROM {table} WHERE run_uuid = ?"
        for name, value in database.execute(texts, found or ("",)) if known else ():
            _note(points, name, value)


def _note(points: Points, name: object, value: object) -> None:
    """A text that the trainer gave, and not MLflow or the board."""
    if isinstance(name, str) and isinstance(value, str) and not name.startswith(("mlflow.", _OURS)):
        points.add(name, 0, value)


def _of_files(folder: Path, within: Path | None) -> Curves:
    """Each file of the folder of metrics is one, its path its name; a line is time, value and step."""
    inside = folder / _METRICS
    points = Points(folder)
    for file_path in walk(inside):
        each_line(file_path, within, _MAX_LINE, partial(_add, points, file_path.relative_to(inside).as_posix()))
    for place in (folder / name for name in _TEXTS):
        for file_path in walk(place):
            _note(points, file_path.relative_to(place).as_posix(), text(file_path, within, _MOST_ABOUT))
    return points.curves()


def _add(points: Points, name: str, line: bytes) -> None:
    try:
        _, value, step = line.split()[:3]
        points.add(name, int(step), float(value))
    except ValueError as error:
        raise ValueError("no time, value and step") from error


def open_writer(
    run: str,
    *,
    project: str = "rl-logging-board",
    name: str | None = None,
    dir: str | Path | None = None,
    run_id: str | None = None,
) -> "MlflowWriter":
    """Begin a run that is called `name`, else `run`, in the experiment `project`; with `run_id`, which the caller keeps, go on with it.

    `dir` is a folder of files; where none is given the store is MLFLOW_TRACKING_URI's or MLflow's own. Raises TrackerMissing without
    MLflow, BoardError for a folder that cannot be written to, and what MLflow raises.
    """
    where = None if dir is None else Path(dir).expanduser().absolute()
    if where is not None:
        checked_writable(where)
        os.environ.setdefault("MLFLOW_ALLOW_FILE_STORE", "true")
    client = library("mlflow", _TRACKER, _LIBRARY).MlflowClient(tracking_uri=None if where is None else where.as_uri())
    known = client.get_experiment_by_name(project)
    experiment = known.experiment_id if known else client.create_experiment(project)
    earlier = client.search_runs([experiment], f"tags.`{_OURS}` = '{run_id}'", max_results=1) if run_id else []
    begun = earlier[0] if earlier else client.create_run(experiment, run_name=plain(name or run), tags={_OURS: run_id or ""})
    return MlflowWriter(client, begun.info, where)


class MlflowWriter(TrackerWriter):
    """An open run of MLflow. Each call has reached the store when it returns."""

    def __init__(self, client: Any, about: Any, where: Path | None) -> None:
        self.name = about.run_name
        self.place = f"{where or client.tracking_uri}, experiment {about.experiment_id}, run {about.run_id}"
        self._client, self._run = client, about.run_id
        self._metric = library("mlflow.entities", _TRACKER, _LIBRARY).Metric

    def close(self) -> None:
        """End the run."""
        self._client.set_terminated(self._run)

    def _log(self, step: int, values: Mapping[str, Value]) -> None:
        """Texts are tags of the run, which hold the last of each."""
        now = int(time.time() * 1000)
        metrics = [
            self._metric(metric_name(name), value, now, step) for name, value in values.items() if not isinstance(value, str)
        ]
        for first in range(0, len(metrics), _AT_ONCE):
            self._client.log_batch(self._run, metrics=metrics[first : first + _AT_ONCE])
        for name, value in values.items():
            if isinstance(value, str):
                self._client.set_tag(self._run, metric_name(name), value[:_MOST_TAG])

    def _show(self, step: int, name: str, rows: Sequence[Example]) -> None:
        """A plain text file among the run's artifacts."""
        self._client.log_text(self._run, page(rows), f"{metric_name(name)}/step_{step}.txt")


def metric_name(name: str) -> str:
    """A plain name as MLflow takes it: what it refuses by its number, so that no two become one, and no part that leads up a folder."""
    parts = [_REFUSED.sub(lambda found: f"_{ord(found[0]):x}_", part) for part in name.split("/")]
    return "/".join(part if part.strip(". ") else "_" * max(1, len(part)) for part in parts)
