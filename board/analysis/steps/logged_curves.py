"""Scalars that trackers logged of a run, as curves joined to the catalogue by name.

Finds the files, reads each anew only when it has changed, and reports the files that cannot be read.
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
from board.runs.cache.shared_values import RecentlyUsed, Turns
from board.sources.nearby_files import listed_files, walk
from board.sources.settings_files import HIDDEN, SettingsFile, is_secret
from board.text.path_names import shown
from board.trackers import nearby
from board.trackers.contract import Curve
from board.trackers.nearby import LogSource

MAX_SOURCES: Final = 100
"""At most this many sources of one run are shown."""

CACHED: Final = 64
"""At most this many sources stay in memory; the least recently used one goes first."""

MOST_SETTING: Final = 200
"""Characters of a text that may be a setting."""

MOST_FILES: Final = 2_000
"""No more files of a tracker's folder are checked for changes."""

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
class LoggedText:
    """A text of a tracker, such as a setting of the run, which is logged once, or a response."""

    name: str
    key: str
    """As of Logged."""
    source: LogSource
    texts: Mapping[int, str]
    """By step, only where it changed."""


@dataclass(frozen=True)
class Scalars:
    """All that was logged near a run."""

    logged: tuple[Logged, ...] = ()
    texts: tuple[LoggedText, ...] = ()
    others: tuple[str, ...] = ()
    """Names of what was logged and is neither number nor text: tables, pictures, histograms."""
    sources: tuple[LogSource, ...] = ()
    """Those that could be read."""
    problems: tuple[str, ...] = ()
    """Why others could not, a sentence each."""
    stamp: int = 0
    """Different when any of it is."""
    modified_ns: int = 0
    """Of the file written last; 0 without files."""


def find(folder: Path, given: Path | None = None, within: Path | None = None) -> list[LogSource]:
    """What trackers left of this run in or next to its folder; with `given`, in that file or folder instead, or in its folder of the run's name.

    Raises BoardError when there is no tracker's file at `given`.
    """
    if given is None:
        return nearby.own(nearby.near(folder, within), folder)[:MAX_SOURCES]
    own = given / folder.name
    place = own if own.is_dir() else given
    found = _of_file(place) if place.is_file() else _inside(place)
    if not found:
        raise BoardError(f"No tracker's scalars lie in {str(place)!r}: looked for those of {', '.join(trackers.READ)}.")
    return found


def _inside(folder: Path) -> list[LogSource]:
    return [LogSource(name, path) for name in trackers.READ for path in trackers.tracker(name).find(folder)]


def _of_file(file: Path) -> list[LogSource]:
    """The trackers that know the file: those that find it, else those that take its folder for theirs."""
    known = _inside(file.parent)
    return [source for source in known if source.path == file] or [
        LogSource(source.tracker, file) for source in known if source.path == file.parent
    ]


def stamp(path: Path) -> Stamp:
    """Names, sizes and times of a folder's files, or of a file and its siblings whose names begin with its name: differs once one grows."""
    path = next((parent for parent in path.parents if parent.is_file()), path)  # of a run in a database: the database
    files = walk(path) if path.is_dir() else (file for file in listed_files(path.parent) if file.name.startswith(path.name))
    looked = []
    for file in itertools.islice(files, MOST_FILES):
        with contextlib.suppress(OSError):  # gone meanwhile: reading says so
            about = file.stat()
            looked.append((str(file), about.st_size, about.st_mtime_ns))
    return tuple(looked)


class CurveReader:
    """Reads sources and caches what they held, shared by all readers of this process."""

    def __init__(self) -> None:
        self._cached: RecentlyUsed[LogSource, tuple[Stamp, Scalars | BoardError]] = RecentlyUsed(CACHED)
        self._turns = Turns()

    def read(self, sources: Sequence[LogSource]) -> Scalars:
        """All scalars of the sources in their order; a source that cannot be read becomes a problem, and the others are there."""
        read = [(source, *self._one(source)) for source in sources]
        sound = [(source, held) for source, _, held in read if not isinstance(held, BoardError)]
        return Scalars(
            tuple(one for _, held in sound for one in held.logged),
            tuple(one for _, held in sound for one in held.texts),
            tuple(dict.fromkeys(name for _, held in sound for name in held.others)),
            tuple(source for source, _ in sound),
            tuple(str(held) for _, _, held in read if isinstance(held, BoardError)),
            hash(tuple((source, at) for source, at, _ in read)),
            max((modified for _, at, _ in read for _, _, modified in at), default=0),
        )

    def _one(self, source: LogSource) -> tuple[Stamp, Scalars | BoardError]:
        now = stamp(source.path)
        with self._turns.of(source):
            cached = self._cached.peek(source)
            if cached is None or cached[0] != now:
                cached = (now, _read(source))
            self._cached.put(source, cached)
        return cached


def _read(source: LogSource) -> Scalars | BoardError:
    """What one source holds, keys and passwords hidden; tables and texts that the board pushed itself are left out."""
    try:
        found = trackers.tracker(source.tracker).read(source.path, source.within)
    except BoardError as error:
        return error
    return Scalars(
        tuple(_joined(name, source, curve) for name, curve in found.items()),
        tuple(
            LoggedText(
                name, _known(name)[0], source, {step: HIDDEN if is_secret(name, text) else text for step, text in texts.items()}
            )
            for name, texts in found.texts.items()
            if not name.startswith(OWN_PREFIX)
        ),
        tuple(name for name in found.others if not name.startswith(OWN_PREFIX)),
    )


def _joined(name: str, source: LogSource, curve: Curve) -> Logged:
    key, metric = _known(name)
    return Logged(name, key, metric, source, curve)


def _known(name: str) -> tuple[str, Metric | None]:
    """The metric that a name stands for in any dialect, and its key. The board's own are pushed as board/KEY, columns included."""
    own = name.removeprefix(OWN_PREFIX)
    if own != name and (known := declared.resolve("board", own)) is not None:
        metric, places = known
    elif (found := declared.resolve_any(name)) is not None:
        _, metric, places = found
    else:
        return own, None
    return filled(metric.key, places), metric


def settings(scalars: Scalars) -> tuple[SettingsFile, ...]:
    """The settings of the run among the texts, by source: those of one line that never changed."""
    by_source: dict[LogSource, dict[str, str]] = {}
    for one in scalars.texts:
        text, *later = one.texts.values()
        if not later and len(text) <= MOST_SETTING and "\n" not in text:
            by_source.setdefault(one.source, {})[one.name] = text
    return tuple(SettingsFile(shown(f"{source.path.name} ({source.tracker})"), values) for source, values in by_source.items())


def filled(name: str, places: Mapping[str, str]) -> str:
    """A name with what stands for each of its {placeholders}; one that nothing stands for stays."""
    return re.sub(r"\{(\w+)\}", lambda place: places.get(place[1], place[0]), name)
