"""What trackers left in a run's folder or next to it, and whose run it is; no more than a database's list of tables and names is read.

Next to a run there may be many runs. Where a log folder has folders of this run's name, those are its own and the others are left out. A name
that a tracker recorded is a run's when it is the run's folder's name, or that and what a push, a dialect or a time put behind it:
my_run-verl, my_run-2.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import Final

from board.errors import BoardError
from board.sources.nearby_files import folders
from board.trackers import READ, tracker
from board.trackers.contract import plain

MAX_FOUND: Final = 1_000
"""So many sources are listed: next to a run also those of other runs, which `own` leaves out."""

_LOG_FOLDERS: Final = ("tensorboard_log", "tensorboard", "runs", "logs", "wandb", "swanlog", "trackio", "mlruns")
"""Where trainers and trackers put their logs when nothing else is said."""

_REMEMBERED: Final = 4_096
"""So many sources' names are cached."""


@dataclass(frozen=True)
class LogSource:
    """One source of scalars."""

    tracker: str
    path: Path
    within: Path | None = field(default=None, compare=False)
    """The folder that no file of it may lie outside of; None for a place that the reader has named."""


def near(folder: Path, within: Path | None = None) -> list[LogSource]:
    """What lies in the run's folder, or next to it in a log folder or in a folder of the run's name.

    `within` is the folder that is not left, the run's parent where none is given: no link out of it is followed, and nothing above it is
    listed. Nothing for a folder outside it.
    """
    folder = folder.resolve()
    within = folder.parent if within is None else within.resolve()
    if not folder.is_relative_to(within):
        return []
    places = [folder, *(_siblings(folder) if folder != within else ())]
    found = [LogSource(name, path, within) for place in places for name in READ for path in tracker(name).find(place)]
    return list(dict.fromkeys(found))[:MAX_FOUND]


def _siblings(folder: Path) -> Iterator[Path]:
    """The folders next to a run that may hold its logs: those named after it, or after it and a time, as our own TensorBoard runs are."""
    for sibling in folders(folder.parent):
        own = [one for one in folders(sibling) if one.name == folder.name or one.name.startswith(f"{folder.name}-")]
        if sibling != folder and own:
            yield from own
        elif sibling.name in _LOG_FOLDERS:
            yield sibling


def own(found: Iterable[LogSource], folder: Path) -> list[LogSource]:
    """The sources that are not another run's: those inside the run's folder, those named after it, and those that name no run next to it.

    Of a source of several runs, such as trackio's, those named after the run alone; where none is, the newest that is of no run.
    """
    folder = folder.resolve()
    runs = {plain(run.name): run.name for run in [*folders(folder.parent), folder]}
    return [one for source in found for one in _own(source, folder, runs)]


def _own(source: LogSource, folder: Path, runs: Mapping[str, str]) -> list[LogSource]:
    """The source, what it holds of the run, or nothing. `runs` are the folders next to it and the run's own, by their names made plain."""
    if source.path.is_relative_to(folder) or not source.path.is_relative_to(folder.parent):
        return [source]
    top, *inside = source.path.relative_to(folder.parent).parts
    if folder.name not in inside and any(part != top and plain(part) in runs for part in inside):
        return []
    recorded = _recorded(source, tuple(map(_seen, (source.path, source.path.with_name(source.path.name + "-wal")))))
    if not recorded:
        return [source]
    owners = {name: _owner(name, runs, top) for name in recorded}
    chosen = [name for name in recorded if owners[name] == folder.name] or [name for name in recorded if owners[name] is None][:1]
    return [LogSource(source.tracker, recorded[name], source.within) for name in chosen]


def _owner(name: str, runs: Mapping[str, str], top: str) -> str | None:
    """The run that a recorded name is of, the longest where several fit; None where none does. `top`, the folder of logs, is no run."""
    name = plain(name)
    ends = [len(name), *(at for at in reversed(range(len(name))) if name[at] == "-")]
    return next((runs[name[:end]] for end in ends if runs.get(name[:end], top) != top), None)


@lru_cache(_REMEMBERED)
def _recorded(source: LogSource, seen: tuple[tuple[int, int] | None, ...]) -> Mapping[str, Path]:
    """The names that a source recorded, as it was `seen`; none where it cannot be read, which is reported when its curves are read."""
    try:
        return tracker(source.tracker).runs(source.path, source.within)
    except (BoardError, OSError):
        return {}


def _seen(file: Path) -> tuple[int, int] | None:
    """A file's size and time; None without one. SQLite's log next to a database says when that has changed."""
    try:
        about = file.stat()
    except OSError:
        return None
    return about.st_size, about.st_mtime_ns
