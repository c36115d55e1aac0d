"""The runs under a root, and the ones that are open: loaded once, shared by every reader.

Nothing outside the root can be named. Knows no screen; a reader's choices live elsewhere.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path, PurePosixPath
from typing import Final

from board.errors import RunNotFound
from board.formats.filename_hints import is_part
from board.runs import dump_beside
from board.runs.opening import open_run
from board.runs.progress import Progress
from board.runs.run import Run
from board.runs.shared_values import RecentlyUsed, Turns
from board.sources.candidates import is_loose
from board.sources.shards import Fingerprint, find_shards, fingerprint, natural_key
from board.text.path_names import path_of, shown

OPEN_RUNS: Final = 4
"""So many runs stay in memory; the one not looked at for longest goes first."""

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


def aside_name(run: str, family: str, folder: str) -> str:
    """What the dump is called that lies beside a run's recording: its folder where it has one for itself, else the run with the trainer."""
    return (PurePosixPath(run) / folder).as_posix() if folder else f"{run}{_suffix(family)}"


def list_runs(root: Path) -> list[RunFolder]:
    """The root itself when it is a run (shards of its own, or in nothing but parts of a run), else its folders in natural order.

    A folder that holds a recording is followed by its trainer's own dump, if there is one.

    Folders without shards are listed too. A folder whose shards all lie in sub-folders that are not parts of it is followed by those.
    """
    if _has_own_shards(root) or _is_divided(root):
        return _with_dumps(root, root)
    found: dict[str, RunFolder] = {}
    for folder in _subfolders(root):
        here = _with_dumps(folder, root)
        if here[0].shards and not _has_own_shards(folder) and not _is_divided(folder):
            here += [_describe(child, root) for child in _subfolders(folder) if find_shards(child)[0]]
        found |= {run.name: run for run in here}
    return [*found.values()]


def _with_dumps(folder: Path, root: Path) -> list[RunFolder]:
    """The folder, and if it holds a recording the trainers' own dumps that lie beside it."""
    run = _describe(folder, root)
    dumps = dump_beside.dump_families(find_shards(folder, root)[0])
    return [run, *(_dump(run, family, inside, root) for family, inside in dumps.items())]


def _dump(run: RunFolder, family: str, folder: str, root: Path) -> RunFolder:
    """A trainer's dump beside a recording; in no folder of its own, with the recording's files counted in."""
    if folder:
        return _describe(root / path_of(aside_name(run.name, family, folder)), root)
    return replace(run, name=aside_name(run.name, family, ""), family=family)


def _has_own_shards(folder: Path) -> bool:
    """Whether shards lie directly in the folder; a table or list beside folders that hold shards is none of theirs."""
    found = find_shards(folder)[0]
    own = [shard for shard in found if shard.path.parent == folder]
    return any(not is_loose(shard.name) for shard in own) or bool(own and len(own) == len(found))


def _subfolders(folder: Path) -> list[Path]:
    inside = [path for path in folder.iterdir() if path.is_dir() and not path.name.startswith(".") and not path.is_symlink()]
    return sorted(inside, key=lambda path: natural_key(path.name))


def _is_divided(folder: Path) -> bool:
    """Whether the sub-folders that hold shards are parts of one run: steps, ranks, or what its trainer calls its dumps."""
    names = [path.name for path in _subfolders(folder) if find_shards(path)[0]]
    return bool(names) and all(map(is_part, names))


def _describe(folder: Path, root: Path) -> RunFolder:
    shards, _ = find_shards(folder, root)
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
"""Where a run lies, what pads beside the common tokens, and whose dump it is where a recording lies in the same folder."""


class Library:
    """Open runs, shared by all readers of this process, all read with the same tokenizer and mapping, if any."""

    def __init__(self, tokenizer: Path | None = None, mapping: Path | None = None) -> None:
        self._tokenizer, self._mapping = tokenizer, mapping
        self._runs: RecentlyUsed[_Key, Run] = RecentlyUsed(OPEN_RUNS)
        self._turns = Turns()

    def peek(self, location: Path, extra_pads: Sequence[str] = (), family: str = "") -> Run | None:
        """The run if it is open. Never waits."""
        return self._runs.peek((location, tuple(extra_pads), family))

    def open(
        self,
        location: Path,
        root: Path,
        extra_pads: Sequence[str] = (),
        progress: Callable[[Progress], None] | None = None,
        family: str = "",
    ) -> Run:
        """The run, loaded if it is not open yet. A second reader of the same run waits and shares it; one of another run does not wait."""
        key = (location, tuple(extra_pads), family)
        with self._turns.of(key):
            run = self.peek(*key) or self._open(key, root, progress)
            self._runs.keep(key, run)
        return run

    def refresh(self, run: Run, root: Path) -> None:
        """Open a run again as it is now, in the place of the `run` that a reader saw; nothing when another reader has done so."""
        for key in self._runs.keys_of(run):
            with self._turns.of(key):
                if self.peek(*key) is run:
                    self._runs.keep(key, self._open(key, root))

    def _open(self, key: _Key, root: Path, progress: Callable[[Progress], None] | None = None) -> Run:
        location, extra_pads, family = key
        read = {"tokenizer": self._tokenizer, "mapping": self._mapping}
        return open_run(location, within=root, extra_pads=extra_pads, family=family, progress=progress, **read)


def current_fingerprint(location: Path, root: Path) -> Fingerprint:
    """What the run's shards look like on disk now: differs from the loaded run's when it has changed since."""
    return fingerprint(find_shards(location, root)[0])
