"""The runs under a root, and the open ones: loaded once, shared by all readers.

Nothing outside the root can be named.
"""

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path, PurePosixPath
from typing import Any, Final

from board.errors import RunNotFound
from board.formats.filename_hints import is_part
from board.runs.cache.shared_values import RecentlyUsed, Turns
from board.runs.loading.background_load import BackgroundLoad
from board.runs.loading.nothing_read import shards_of
from board.runs.loading.prefetcher import ReadPriority
from board.runs.opening import opened_whole
from board.runs.parsing import trainer_dumps
from board.runs.parsing.format_detection import identify
from board.runs.progress import Progress
from board.runs.run import Run
from board.sources import index_file, locations
from board.sources.candidates import is_loose
from board.sources.shards import Fingerprint, Shard, bare_name, find_shards, state_of
from board.text.natural_order import natural_key
from board.text.path_names import path_of, shown

OPEN_RUNS: Final = 12
"""So many runs stay in memory, more than are compared side by side; the least recently viewed goes first."""

LEVELS: Final = 6
"""Runs may lie in so many folders below the root's own: exp/model/seed and the like."""

LIVE_SECONDS: Final = 600.0
"""What was written to within so many seconds is taken to be still written to: a run to be training, which its reader follows."""

HERE: Final = "."
"""Name of the root itself when it holds shards of its own."""


@dataclass(frozen=True)
class RunFolder:
    """A folder that can be opened as a run."""

    name: str
    """Path relative to the root as `board.text.path_names` shows it; `.` for the root itself."""
    shards: int
    bytes: int
    modified_ns: int
    """Of the shard written last; 0 without shards."""
    family: str = ""
    """The trainer whose dump it is, where that lies among the files of a recording: `name` then ends with it in brackets."""

    @property
    def folder(self) -> str:
        """The folder's own name, as `resolve` takes it."""
        return self.name.removesuffix(_suffix(self.family))


def _suffix(family: str) -> str:
    return f" ({family})" if family else ""


def dump_name(run: str, family: str, folder: str) -> str:
    """The name of the dump in a recording's folder: its folder where it has one for itself, else the run with the trainer."""
    return (PurePosixPath(run) / folder).as_posix() if folder else f"{run}{_suffix(family)}"


def list_runs(root: Path) -> list[RunFolder]:
    """The root itself when it is a run (shards of its own, or in nothing but parts of a run), else its folders in natural order.

    A folder that holds a recording is followed by its trainer's own dump, if there is one.

    Folders without shards are listed too. A folder whose shards all lie in sub-folders that are not parts of it is followed by those, and
    they by theirs, to LEVELS below.
    """
    locations.look_again(root)
    if _has_own_shards(root) or _is_divided(root):
        return _with_dumps(root, root)
    found: dict[str, RunFolder] = {}
    for folder in _subfolders(root):
        here = _with_dumps(folder, root)
        found |= {run.name: run for run in [*here, *_with_those_below(folder, here[0], root, LEVELS)]}
    own = [] if any(run.shards for run in found.values()) else _with_dumps(root, root)
    return [*(run for run in own if run.shards), *found.values()]


def _with_those_below(folder: Path, described: RunFolder, root: Path, levels: int) -> list[RunFolder]:
    """The folder, and the runs below it where it only holds them: logs of metrics that lie in it are then no file of a run's."""
    if not (below := _below(folder, described, root, levels)):
        return [described]
    logs = sum(shard.size for shard in find_shards(folder, deep=False)[0] if _is_log(shard))
    return [replace(described, bytes=described.bytes - logs), *below]


def _below(folder: Path, described: RunFolder, root: Path, levels: int) -> list[RunFolder]:
    """The runs below a folder that only holds them, each followed by those below it, so many levels down; none of any other folder."""
    if not (levels and described.shards) or _has_own_shards(folder) or _is_divided(folder):
        return []
    children = [(child, _describe(child, root)) for child in _subfolders(folder)]
    return [run for child, own in children if own.shards for run in _with_those_below(child, own, root, levels - 1)]


def _with_dumps(folder: Path, root: Path) -> list[RunFolder]:
    """The folder, and if it holds a recording the trainers' own dumps in it: none in an index, which is of one of them."""
    if index_file.is_there(folder):
        return [_describe(folder, root)]
    shards, _ = shards_of(folder, root)
    run = _described(folder, root, shards)
    dumps = trainer_dumps.dump_families(shards)
    return [run, *(_dump(run, family, inside, root) for family, inside in dumps.items())]


def _dump(run: RunFolder, family: str, folder: str, root: Path) -> RunFolder:
    """A trainer's dump next to a recording; in no folder of its own, with the recording's files counted in."""
    if folder:
        return _describe(root / path_of(dump_name(run.name, family, folder)), root)
    return replace(run, name=dump_name(run.name, family, ""), family=family)


def _has_own_shards(folder: Path) -> bool:
    """Whether shards lie directly in the folder, or it is an index; a table or list next to folders that hold shards is none of theirs.

    Nor are logs of metrics that are named after the folders next to them: each is of the run in that folder.
    """
    if index_file.is_there(folder):
        return True
    own = find_shards(folder, deep=False)[0]
    if all(is_loose(shard.name) for shard in own):
        return bool(own and len(own) == len(find_shards(folder)[0]))
    folders = {shown(path.name) for path in _subfolders(folder)}
    return len(own) < 2 or not all(bare_name(shard.name) in folders and _is_log(shard) for shard in own)


def _subfolders(folder: Path) -> list[Path]:
    own = (path for path in folder.iterdir() if not path.is_symlink() and not path.name.startswith("."))
    return sorted((path for path in own if path.is_dir() and _is_readable(path)), key=lambda path: natural_key(path.name))


def _is_readable(folder: Path) -> bool:
    return os.access(folder, os.R_OK | os.X_OK)


def not_opened(root: Path, folders: Sequence[RunFolder]) -> list[str]:
    """A sentence for each link under the root that leads to a folder elsewhere, and for each folder that may not be read; runs have none."""
    places = {root}
    for one in folders:
        own = PurePosixPath(path_of(one.folder))
        places |= {root / above for above in (own.parents if one.shards else (own, *own.parents))}
    found: dict[Path, str] = {}
    for path in (path for place in places if _is_readable(place) for path in place.iterdir()):
        if path.name.startswith(".") or not os.path.isdir(path):  # noqa: PTH112 - is_dir() raises where a link leads to what may not be read
            continue
        name = shown(path.relative_to(root))
        if path.is_symlink() and not path.resolve().is_relative_to(root.resolve()):
            found[path] = (
                f"{name} is a link to a folder outside the one that is served, and is not opened: "
                "serve the folder it leads to, or one above both."
            )
        elif not _is_readable(path):
            found[path] = f"{name} is a folder that may not be read here, and is not opened."
    return [found[path] for path in sorted(found, key=lambda path: natural_key(path.as_posix()))]


def _is_divided(folder: Path) -> bool:
    """Whether the sub-folders that hold shards are parts of one run: steps, ranks, or what its trainer calls its dumps."""
    inside = _subfolders(folder)
    parts = [path for path in inside if is_part(path.name)]
    return any(find_shards(path)[0] for path in parts) and not any(map(_holds_rollouts, {*inside} - {*parts}))


def _holds_rollouts(folder: Path) -> bool:
    """Whether there are shards under a folder that are no logs of metrics."""
    return not all(map(_is_log, find_shards(folder)[0]))


@lru_cache(maxsize=10_000)
def _is_log(shard: Shard) -> bool:
    """Whether a shard is a trainer's log of metrics; looked into again when it has changed."""
    return identify(shard).is_log


def _describe(folder: Path, root: Path) -> RunFolder:
    try:
        return _described(folder, root, find_shards(folder, root)[0])
    except RunNotFound:
        if index_file.is_there(folder):  # one that cannot be used, which says so when it is opened
            return _described(folder, root, [])
        raise


def _described(folder: Path, root: Path, shards: Sequence[Shard]) -> RunFolder:
    name = shown(folder.relative_to(root))
    return RunFolder(name, len(shards), sum(shard.size for shard in shards), max((shard.mtime_ns for shard in shards), default=0))


def holding(folders: Sequence[RunFolder], root: Path, name: str) -> str | None:
    """The listed run that a folder below it belongs to; None when there is no such folder, or when it belongs to none.

    Older boards listed such folders as runs, so there are links to them.
    """
    try:
        resolve(root, name)
    except RunNotFound:
        return None
    listed = {folder.name for folder in folders if folder.shards}
    return next((parent.as_posix() for parent in PurePosixPath(name).parents if parent.as_posix() in listed), None)


def resolve(root: Path, name: str) -> Path:
    """The folder of a run named on the screen or in a link. Raises RunNotFound for anything that is not a folder under the root."""
    path = Path(path_of(name))
    folder = root / path
    try:
        inside = not path.is_absolute() and folder.resolve().is_relative_to(root.resolve()) and folder.is_dir()
    except (OSError, RuntimeError, ValueError):  # a name too long, a link that leads back to itself, a NUL
        inside = False
    if not inside:
        raise RunNotFound(f"There is no run {name!r} under this root: choose one from the list.")
    return folder


_Key = tuple[Path, tuple[str, ...], str]
"""Where a run lies, what pads in addition to the common tokens, and whose dump it is where a recording lies in the same folder."""


class Library:
    """Open runs, shared by all readers of this process, all read with the same tokenizer and mapping, if any.

    A run that is not read whole within a second is open as far as it is read, and more of it takes its place until it is whole. A load
    that no reader watches gives way to the one of another run, and goes on when its run is looked at again.
    """

    def __init__(self, tokenizer: Path | None = None, mapping: Path | None = None) -> None:
        self._tokenizer, self._mapping = tokenizer, mapping
        self._runs: RecentlyUsed[_Key, Run] = RecentlyUsed(OPEN_RUNS)
        self._loads: dict[_Key, BackgroundLoad] = {}
        self._stopped: set[_Key] = set()
        """Runs whose reading a reader has stopped."""
        self._turns = Turns()

    def peek(self, location: Path, extra_pads: Sequence[str] = (), family: str = "") -> Run | None:
        """The run if it is open, as far as it is read. Never waits."""
        return self._runs.peek((location, tuple(extra_pads), family))

    def open(
        self,
        location: Path,
        root: Path,
        extra_pads: Sequence[str] = (),
        progress: Callable[[Progress], None] | None = None,
        family: str = "",
        priority: ReadPriority | None = None,
    ) -> Run:
        """The run as far as it is read. Where it is not open yet a load begins, with that priority, and its first rows are waited for.

        A second reader of the same run shares the load; none waits for another run's. What interrupts a reader, such as `progress`, does not
        interrupt the load. Raises what `open_run` raises.
        """
        key = (location, tuple(extra_pads), family)
        with self._turns.of(key):
            run, load = self._runs.use(key), self._loads.get(key)
            unfinished = run is None or (run.reads_on and key not in self._stopped)
            if load is None and unfinished:
                self._stopped.discard(key)
                load = self._begin(key, root, priority)
        if run is None:
            assert load is not None
            run = load.first(progress)
            if self.peek(*key) is None:  # other runs have taken its place meanwhile
                self._runs.put(key, run)
        return run

    def _begin(self, key: _Key, root: Path, priority: ReadPriority | None) -> BackgroundLoad:
        for other in [*self._loads.values()]:
            if other.is_unwatched():
                other.stop()
                other.wait()

        def ended() -> None:
            if load.error is not None:  # nor would the next try get further by itself
                self._stopped.add(key)
            self._loads.pop(key, None)

        arguments = {"location": key[0], "within": root, **self._reading(key)}
        load = self._loads[key] = BackgroundLoad(arguments, lambda run: self._runs.put(key, run), ended, priority)
        load.begin()
        return load

    def load(self, location: Path, extra_pads: Sequence[str] = (), family: str = "") -> BackgroundLoad | None:
        """The load that reads on in a run, while one does."""
        return self._loads.get((location, tuple(extra_pads), family))

    def stop(self, location: Path, extra_pads: Sequence[str] = (), family: str = "") -> None:
        """Read no further in a run until a reader asks for it."""
        key = (location, tuple(extra_pads), family)
        self._stopped.add(key)
        if load := self._loads.get(key):
            load.stop()
            load.wait()

    def go_on(self, location: Path, root: Path, extra_pads: Sequence[str] = (), family: str = "") -> None:
        """Read the rest of a run whose reading was stopped."""
        key = (location, tuple(extra_pads), family)
        with self._turns.of(key):
            self._stopped.discard(key)
            run = self.peek(*key)
            if key not in self._loads and run is not None and run.reads_on:
                self._begin(key, root, None)

    def refresh(self, run: Run, root: Path) -> None:
        """Open a run again as it is now, in the place of the `run` that a reader saw; nothing when another reader has done so."""
        for key in self._runs.keys_of(run):
            with self._turns.of(key):
                if self.peek(*key) is run and key not in self._loads:
                    self._runs.put(key, opened_whole(key[0], within=root, **self._reading(key)))

    def _reading(self, key: _Key) -> dict[str, Any]:
        """How the run of a key is read, as `open_run` takes it."""
        _, extra_pads, family = key
        return {"tokenizer": self._tokenizer, "mapping": self._mapping, "extra_pads": extra_pads, "family": family}


def current_fingerprint(location: Path, root: Path) -> Fingerprint:
    """What the run's shards look like now: differs from the loaded run's when it has changed since. Never waits for a store."""
    locations.look_again(location)
    return state_of(location, shards_of(location, root)[0])
