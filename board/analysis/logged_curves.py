"""What trackers logged beside a run: its scalars as curves, joined to the catalogue by their names, whichever dialect those are of.

Finds the files, reads each anew only when it has changed, and keeps what one of them has to say against being read. Knows no screen.
"""

import contextlib
import itertools
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from board import trackers
from board.errors import BoardError
from board.metrics import OWN_PREFIX, declared
from board.metrics.declared.contract import Metric
from board.runs.shared_values import RecentlyUsed, Turns
from board.sources.nearby_files import listed_files, walk
from board.trackers import LogSource
from board.trackers.contract import Curve

MAX_SOURCES: Final = 100
"""So many sources of one run are shown."""

KEPT: Final = 64
"""So many files stay read; the one not asked for longest goes first."""

MOST_FILES: Final = 2_000
"""No more files of a tracker's folder are looked at to tell whether it has changed."""

Stamp = tuple[tuple[str, int, int], ...]


@dataclass(frozen=True)
class Logged:
    """One scalar of a tracker."""

    name: str
    """As the trainer logged it: text of a run."""
    key: str
    """Of the board, with what stands for its placeholders filled in; the name itself where the catalogue does not know it."""
    metric: Metric | None
    source: LogSource
    curve: Curve


@dataclass(frozen=True)
class Scalars:
    """All that was logged near a run."""

    logged: tuple[Logged, ...] = ()
    sources: tuple[LogSource, ...] = ()
    """Those that could be read."""
    problems: tuple[str, ...] = ()
    """Why others could not, a sentence each."""
    stamp: int = 0
    """Different when any of it is."""
    modified_ns: int = 0
    """Of the file written last; 0 without files."""


def find(folder: Path, given: Path | None = None, within: Path | None = None) -> list[LogSource]:
    """What trackers left of this run in or beside its folder; with `given`, in that file or folder instead, or in its folder of the run's name.

    Raises BoardError when nothing of a tracker lies where it was said to.
    """
    if given is None:
        return trackers.own(trackers.near(folder, within), folder)[:MAX_SOURCES]
    own = given / folder.name
    place = own if own.is_dir() else given
    found = _of_file(place) if place.is_file() else _inside(place)
    if not found:
        raise BoardError(f"No tracker's scalars lie in {str(place)!r}: looked for those of {', '.join(trackers.NAMES)}.")
    return found


def _inside(folder: Path) -> list[LogSource]:
    return [LogSource(name, path) for name in trackers.NAMES for path in trackers.tracker(name).find(folder)]


def _of_file(file: Path) -> list[LogSource]:
    """The trackers that know the file: those that find it, else those that take its folder for theirs."""
    known = _inside(file.parent)
    return [source for source in known if source.path == file] or [
        LogSource(source.tracker, file) for source in known if source.path == file.parent
    ]


def stamp(path: Path) -> Stamp:
    """Names, sizes and times of a folder's files, or of a file and those beside it that go on with its name: differs once one grows."""
    path = next((parent for parent in path.parents if parent.is_file()), path)  # of a run in a database: the database
    files = walk(path) if path.is_dir() else (file for file in listed_files(path.parent) if file.name.startswith(path.name))
    looked = []
    for file in itertools.islice(files, MOST_FILES):
        with contextlib.suppress(OSError):  # gone meanwhile: reading says so
            about = file.stat()
            looked.append((str(file), about.st_size, about.st_mtime_ns))
    return tuple(looked)


class CurveReader:
    """Reads sources and keeps what they held, shared by all readers of this process."""

    def __init__(self) -> None:
        self._kept: RecentlyUsed[LogSource, tuple[Stamp, list[Logged] | BoardError]] = RecentlyUsed(KEPT)
        self._turns = Turns()

    def read(self, sources: Sequence[LogSource]) -> Scalars:
        """All scalars of the sources in their order; a source that cannot be read becomes a problem, and the others are there."""
        read = [(source, *self._one(source)) for source in sources]
        sound = [(source, held) for source, _, held in read if not isinstance(held, BoardError)]
        return Scalars(
            tuple(one for _, held in sound for one in held),
            tuple(source for source, _ in sound),
            tuple(str(held) for _, _, held in read if isinstance(held, BoardError)),
            hash(tuple((source, at) for source, at, _ in read)),
            max((modified for _, at, _ in read for _, _, modified in at), default=0),
        )

    def _one(self, source: LogSource) -> tuple[Stamp, list[Logged] | BoardError]:
        now = stamp(source.path)
        with self._turns.of(source):
            kept = self._kept.peek(source)
            if kept is None or kept[0] != now:
                kept = (now, _read(source))
            self._kept.put(source, kept)
        return kept


def _read(source: LogSource) -> list[Logged] | BoardError:
    try:
        curves = trackers.tracker(source.tracker).read(source.path)
    except BoardError as error:
        return error
    return [_joined(name, source, curve) for name, curve in curves.items()]


def _joined(name: str, source: LogSource, curve: Curve) -> Logged:
    """A scalar with the metric that its name stands for in any dialect. The board's own are pushed as board/KEY, columns included."""
    own = name.removeprefix(OWN_PREFIX)
    known = declared.resolve("board", own) if own != name else None
    if known is not None:
        metric, places = known
    elif (found := declared.resolve_any(name)) is not None:
        _, metric, places = found
    else:
        return Logged(name, own, None, source, curve)
    return Logged(name, filled(metric.key, places), metric, source, curve)


def filled(name: str, places: Mapping[str, str]) -> str:
    """A name with what stands for each of its {placeholders}; one that nothing stands for stays."""
    return re.sub(r"\{(\w+)\}", lambda place: places.get(place[1], place[0]), name)
