"""Whose run a source beside a run is, by the names that the tracker recorded and those of the folders beside. Knows no tracker's format.

A name is a run's when it is the run's folder's name, or that and what a push, a dialect or a time put behind it: my_run-verl, my_run-2.
"""

from collections.abc import Iterable, Mapping
from functools import lru_cache
from pathlib import Path
from typing import Final

from board.errors import BoardError
from board.sources.nearby_files import folders
from board.trackers.discovery import LogSource
from board.trackers.registry import tracker
from board.trackers.sanitize import plain

_KEPT: Final = 4_096
"""So many sources' names stay read."""


def own(found: Iterable[LogSource], folder: Path) -> list[LogSource]:
    """The sources that are not another run's: those inside the run's folder, those named after it, and those that name no run beside it.

    Of a source of several runs, such as trackio's, those named after the run alone; where none is, the newest that is nobody's.
    """
    folder = folder.resolve()
    runs = {plain(run.name): run.name for run in [*folders(folder.parent), folder]}
    return [one for source in found for one in _own(source, folder, runs)]


def _own(source: LogSource, folder: Path, runs: Mapping[str, str]) -> list[LogSource]:
    """The source, what it holds of the run, or nothing. `runs` are the folders beside and the run's own, by their names made plain."""
    if source.path.is_relative_to(folder) or not source.path.is_relative_to(folder.parent):
        return [source]
    top, *inside = source.path.relative_to(folder.parent).parts
    if folder.name not in inside and any(part != top and plain(part) in runs for part in inside):
        return []
    recorded = _recorded(source)
    if not recorded:
        return [source]
    owners = {name: _owner(name, runs, top) for name in recorded}
    chosen = [name for name in recorded if owners[name] == folder.name] or [name for name in recorded if owners[name] is None][:1]
    return [LogSource(source.tracker, recorded[name], source.within) for name in chosen]


def _owner(name: str, runs: Mapping[str, str], top: str) -> str | None:
    """The run that a recorded name is of, the longest where several fit; None where none does. `top`, where logs are kept, is no run."""
    name = plain(name)
    ends = [len(name), *(at for at in reversed(range(len(name))) if name[at] == "-")]
    return next((runs[name[:end]] for end in ends if runs.get(name[:end], top) != top), None)


def _recorded(source: LogSource) -> Mapping[str, Path]:
    """The names that a source recorded; none where it cannot be read, which is told when its curves are."""
    return _recorded_at(source, tuple(map(_seen, (source.path, source.path.with_name(source.path.name + "-wal")))))


@lru_cache(_KEPT)
def _recorded_at(source: LogSource, seen: tuple[tuple[int, int] | None, ...]) -> Mapping[str, Path]:
    try:
        return tracker(source.tracker).runs(source.path, source.within)
    except (BoardError, OSError):
        return {}


def _seen(file: Path) -> tuple[int, int] | None:
    """A file's size and time; None without one. SQLite's log beside a database says when that has changed."""
    try:
        about = file.stat()
    except OSError:
        return None
    return about.st_size, about.st_mtime_ns
