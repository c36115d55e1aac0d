"""The summaries of the runs under a root, made in the background, a few at a time.

Those on the screen come first; a run that has changed is looked at again. A page that shows runs says which, and has what is known by then at
once. One file a run in the cache holds the last for the next board.
"""

import json
import os
import threading
import time
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, replace
from hashlib import blake2b
from pathlib import Path
from typing import Final

from board import atomic_write
from board.errors import BoardError, MappingRefused
from board.runs import library
from board.runs.cache.code_version import version
from board.runs.cache.store import Store
from board.runs.child_process import ChildProcess
from board.runs.library import LIVE_SECONDS, RunFolder
from board.runs.opening import read_as, reading_key
from board.runs.read_options import ReadOptions
from board.runs.summaries import run_summary
from board.runs.summaries.run_summary import RunSummary, from_written
from board.settings import run_choices, user_folders
from board.sources import candidates, sealed_json
from board.text.terminal import on_one_line

FOLDER: Final = "summaries"

MOST_SECONDS: Final = 60.0
"""A run that takes longer is given up until it changes."""

IDLE_SECONDS: Final = 20.0
"""A process without an order for so long ends."""

AGAIN_SECONDS: Final = 15.0
"""A run that grows is looked at again no sooner."""

MOST_RUNS: Final = 20_000
"""So many runs are remembered."""


@dataclass(frozen=True)
class SummaryState:
    """What is known of a run now."""

    summary: RunSummary | None = None
    current: bool = False
    """Whether it is of the run as it is on the disk."""
    grows: bool = False
    """Whether it was seen growing lately."""


@dataclass(frozen=True)
class SummaryOrder:
    """Which run, and how it is read."""

    location: Path
    within: Path
    """The folder that links in the run may lead to."""
    tokenizer: str = ""
    mapping: str = ""
    family: str = ""

    @property
    def file(self) -> Path:
        """Where its summary is stored for the next board."""
        digest = blake2b(repr(self).encode("utf-8", "surrogatepass"), digest_size=12).hexdigest()
        return user_folders.cache() / version() / FOLDER / f"{digest}.json"

    def depends_on(self) -> tuple[Path, ...]:
        """What outside the run's shards its summary depends on; as without a mapping where that is refused, as who reads the run says why.

        Raises BoardError where the run cannot be read at all.
        """
        try:
            reading = read_as(self.location, (), self.tokenizer, self.mapping or None, self.family)
        except MappingRefused:
            reading = ReadOptions(tokenizer=self.tokenizer, family=self.family)
        above = (self.location, self.location.parent)
        mappings = [*(place / candidates.MAPPING for place in above), run_choices.mapping_path(self.location)]
        return (Store(self.location, reading_key(reading)).folder, *mappings)


class SummaryProcess:
    """A process that summarises, for one thread: started when it is needed, ended when a run takes too long."""

    def __init__(self, seconds: float = MOST_SECONDS) -> None:
        self._seconds = seconds
        self._process: ChildProcess | None = None

    def ask(self, order: SummaryOrder) -> RunSummary:
        """The summary of a run; one with `trouble` where there is none. Never raises for what is wrong with a run."""
        try:
            if self._process is None or not self._process.is_running:
                self.end()
                self._process = ChildProcess(run_summary.__name__)
        except OSError as error:
            return RunSummary(trouble=f"No process could be started to look at the run: {error.strerror}.")
        try:
            return from_written(self._process.ask(asdict(order), seconds=self._seconds))
        except TimeoutError:
            return RunSummary(trouble=f"Looking at the run took longer than {self._seconds:g} seconds.")
        except (OSError, ValueError, KeyError, TypeError) as error:
            return RunSummary(trouble=on_one_line(f"Looking at the run failed: {error}"))

    def end(self) -> None:
        """Let go of the process."""
        if self._process is not None:
            self._process.close()
            self._process = None


@dataclass
class _Seen:
    folder: RunFolder
    grew: float = -LIVE_SECONDS
    """When it was last found larger than before, by the clock of this process."""
    summary: RunSummary | None = None
    looked_at: RunFolder | None = None
    depends_on: tuple[Path, ...] = ()
    """Outside the run's shards: what the cache holds of it, and mappings."""
    changed_ns: tuple[int, ...] = ()
    """When each of these had changed as the run was looked at."""
    due: float = 0.0

    @property
    def is_current(self) -> bool:
        """Whether the summary is of the run as it is, and of what the cache holds of it and which mapping reads it now."""
        return self.looked_at == self.folder and self.changed_ns == tuple(map(_changed_ns, self.depends_on))


class RunSummaries:
    """Shared by all readers of this process. All methods return at once; threads of its own wait for the processes that look."""

    def __init__(
        self, tokenizer: str = "", mapping: str = "", *, at_once: int | None = None, seconds: float = MOST_SECONDS
    ) -> None:
        self._tokenizer, self._mapping, self._seconds = tokenizer, mapping, seconds
        self._most = at_once or min(2, os.cpu_count() or 1)
        self._seen: dict[tuple[Path, str], _Seen] = {}
        self._queue: list[tuple[Path, str]] = []
        self._under_way: set[tuple[Path, str]] = set()
        self._changed = threading.Condition()
        self._threads = 0

    def see(self, root: Path, folders: Sequence[RunFolder]) -> dict[str, SummaryState]:
        """What is known of these runs by name; what is not known, or of another state of the run, is looked at in their order."""
        now, found = time.monotonic(), {}
        with self._changed:
            self._queue = []
            for folder in folders:
                key = (root, folder.name)
                seen = self._seen.setdefault(key, _Seen(folder))
                if folder.bytes > seen.folder.bytes:
                    seen.grew = now
                seen.folder = folder
                if folder.shards and now >= seen.due and key not in self._under_way and not seen.is_current:
                    self._queue.append(key)
                found[folder.name] = SummaryState(seen.summary, seen.looked_at == folder, now - seen.grew < LIVE_SECONDS)
            for gone in [*self._seen][: max(0, len(self._seen) - MOST_RUNS)]:
                del self._seen[gone]
            for _ in range(min(self._most, len(self._queue)) - self._threads):
                self._threads += 1
                threading.Thread(target=self._work, name="summaries", daemon=True).start()
            self._changed.notify_all()
        return found

    def _next(self) -> tuple[tuple[Path, str], RunFolder] | None:
        """The run whose turn it is; None where there was none for a while, and then the thread that called ends."""
        with self._changed:
            if not self._queue:
                self._changed.wait(IDLE_SECONDS)
            while self._queue:
                key = self._queue.pop(0)
                if key in self._seen and key not in self._under_way:
                    self._under_way.add(key)
                    return key, self._seen[key].folder
            self._threads -= 1
            return None

    def _work(self) -> None:
        process = SummaryProcess(self._seconds)
        try:
            while (turn := self._next()) is not None:
                key, folder = turn
                began = time.monotonic()
                try:
                    summary = self._looked_at(key, folder, process)
                except Exception as error:  # noqa: BLE001 - the thread serves the next run too, and the screen says it
                    summary = RunSummary(trouble=f"{type(error).__name__}: {error}")
                self._store_summary(key, folder, summary, time.monotonic() - began)
        finally:
            process.end()

    def _looked_at(self, key: tuple[Path, str], folder: RunFolder, process: SummaryProcess) -> RunSummary:
        root = key[0]
        try:
            order = SummaryOrder(library.resolve(root, folder.folder), root, self._tokenizer, self._mapping, folder.family)
            depends_on = order.depends_on()
            changed_ns = tuple(map(_changed_ns, depends_on))
            stamp = json.dumps([asdict(folder), changed_ns, list(map(str, depends_on))])
        except BoardError as error:
            return RunSummary(trouble=str(error))
        with self._changed:
            if seen := self._seen.get(key):
                seen.depends_on, seen.changed_ns = depends_on, changed_ns
        summary = _read(order, stamp)
        if summary is None:
            summary = process.ask(order)
            if not summary.trouble:
                _write(order, stamp, summary)
        return summary

    def _store_summary(self, key: tuple[Path, str], folder: RunFolder, summary: RunSummary, seconds: float) -> None:
        with self._changed:
            self._under_way.discard(key)
            seen = self._seen.get(key)
            if seen is None:
                return
            if summary.trouble and seen.summary is not None and not seen.summary.trouble:
                summary = replace(seen.summary, trouble=summary.trouble)
            seen.summary, seen.looked_at = summary, folder
            seen.due = time.monotonic() + max(AGAIN_SECONDS, 5 * seconds)


def _read(order: SummaryOrder, stamp: str) -> RunSummary | None:
    """The summary that an earlier board made of the run as it is now; None where there is none that can be used."""
    path = order.file
    if user_folders.is_of_others(path.parent, user_folders.cache()):
        return None
    with suppress(OSError, ValueError, KeyError, TypeError, AttributeError):
        written = sealed_json.loads(path.read_bytes())
        return from_written(written["summary"]) if written["stamp"] == stamp else None
    return None


def _write(order: SummaryOrder, stamp: str, summary: RunSummary) -> None:
    """Keep it, where the cache can be written to."""
    path = order.file
    with suppress(OSError):
        user_folders.make_private(path.parent, user_folders.cache())
        atomic_write.write(path, sealed_json.dumps({"stamp": stamp, "summary": asdict(summary)}))


def _changed_ns(path: Path) -> int:
    """When something was last changed there; 0 where there is nothing."""
    with suppress(OSError):
        return path.stat().st_mtime_ns
    return 0
