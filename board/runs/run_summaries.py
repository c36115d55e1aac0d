"""The summaries of the runs under a root, made in the background, a few at a time, those asked for first; again when a run has changed.

They are kept in the cache, one file a run, which vouches for itself and for the shards it was made of: what is damaged, another's, or of shards
that have changed is made again. Whoever shows runs says which, and has what is known by then at once. Knows neither readers nor screens, nor how
a run is summarised.
"""

import json
import os
import threading
import time
from collections import deque
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from hashlib import blake2b
from pathlib import Path
from typing import Final

from board.errors import BoardError, MappingRefused
from board.runs import library
from board.runs.library import RunFolder
from board.runs.nothing_read import shards_of
from board.runs.opening import read_as, reading_key
from board.runs.read_options import ReadOptions
from board.runs.run_summary import RunSummary, from_written
from board.runs.store import Store, version
from board.runs.summary_process import MOST_SECONDS, SummaryOrder, SummaryProcess
from board.sources import candidates, sealed_json
from board.sources.shards import state_of
from board.system import atomic_write
from board.user_files import run_choices, user_folders

FOLDER: Final = "summaries"


class KeptSummary:
    """Where the summary of a run is kept, as the run was when this was made."""

    def __init__(self, order: SummaryOrder) -> None:
        """Looks at the run's files, not into them. Raises RunNotFound where the folder is gone, and what `reading_key` raises."""
        reading = _reading(order)
        name = json.dumps([str(order.location), order.tokenizer, order.mapping, order.family, reading.pads])
        digest = blake2b(name.encode("utf-8", "surrogateescape"), digest_size=12).hexdigest()
        self.path = user_folders.cache() / version() / FOLDER / f"{digest}.json"
        self._name = name.encode("unicode_escape").decode()
        self._stamp = json.dumps([reading.mapping, state_of(order.location, shards_of(order.location, order.within)[0])])
        self._parts = Store(order.location, reading_key(reading)).folder
        above = (order.location, order.location.parent)
        self._mappings = [*(place / candidates.MAPPING for place in above), run_choices.mapping_path(order.location)]

    def read(self) -> RunSummary | None:
        """What is kept; None where nothing is, or it is of no use: of a sample too, once the cache holds more of the run."""
        if user_folders.is_of_others(self.path.parent, user_folders.cache()):
            return None
        try:
            written = sealed_json.loads(self.path.read_bytes())
            if (written["name"], written["stamp"]) != (self._name, self._stamp):
                return None
            told = from_written(written["summary"])
        except (OSError, ValueError, KeyError, TypeError):
            return None
        return None if told.sampled and written["parsed_ns"] != self.parsed_ns() else told

    def write(self, told: RunSummary, parsed_ns: int) -> None:
        """Keep it, where the cache can be written to; `parsed_ns` is what `parsed_ns` said before the run was looked at."""
        written = {"name": self._name, "stamp": self._stamp, "parsed_ns": parsed_ns, "summary": told.written()}
        with suppress(OSError):
            user_folders.make_private(self.path.parent, user_folders.cache())
            atomic_write.write(self.path, sealed_json.dumps(written))

    def parsed_ns(self) -> int:
        """When something was last added to what the cache holds of the run; 0 where there is nothing."""
        return _changed_ns(self._parts)

    def outside_ns(self) -> list[int]:
        """Other times where something outside the run's shards has changed that the summary depends on: the cache, or a mapping."""
        return [*map(_changed_ns, (self._parts, *self._mappings))]


def _reading(order: SummaryOrder) -> ReadOptions:
    """How the run is read; as without a mapping where that is refused, as who reads the run says why."""
    try:
        return read_as(order.location, (), order.tokenizer, order.mapping or None, order.family)
    except MappingRefused:
        return ReadOptions(tokenizer=order.tokenizer, family=order.family)


def _changed_ns(path: Path) -> int:
    with suppress(OSError):
        return path.stat().st_mtime_ns
    return 0


IDLE_SECONDS: Final = 20.0
"""A process that nobody asks for so long ends."""

AGAIN_SECONDS: Final = 15.0
"""A run that grows is looked at again no sooner."""

RATE_SECONDS: Final = 600.0
"""How fast a run grows is told of what was seen of it in so many seconds."""

MOST_RUNS: Final = 20_000
"""So many runs are remembered."""


@dataclass(frozen=True)
class SummaryState:
    """What is known of a run now."""

    summary: RunSummary | None = None
    current: bool = False
    """Whether it is of the run as it is on the disk."""
    bytes_per_second: float | None = None
    """How fast it grows; None where it was not seen growing."""
    looked_at_bytes: int = 0
    """How large the run was that the summary is of."""


@dataclass
class _Seen:
    folder: RunFolder
    sizes: "deque[tuple[float, int]]" = field(default_factory=lambda: deque(maxlen=128))
    """When it had which size, each size once."""
    summary: RunSummary | None = None
    looked_at: RunFolder | None = None
    kept: KeptSummary | None = None
    outside: list[int] = field(default_factory=list)
    """What `kept` said of the time outside the run's shards when the run was looked at."""
    due: float = 0.0

    def is_of(self, folder: RunFolder) -> bool:
        """Whether the summary is of the run as it is, and of what the cache holds of it and which mapping reads it now."""
        return self.looked_at == folder and (self.kept is None or self.outside == self.kept.outside_ns())


class RunSummaries:
    """Shared by all readers of this process. All methods return at once; threads of its own wait for the processes that look."""

    def __init__(
        self, tokenizer: str = "", mapping: str = "", *, at_once: int | None = None, seconds: float = MOST_SECONDS
    ) -> None:
        self._tokenizer, self._mapping, self._seconds = tokenizer, mapping, seconds
        self._most = at_once or min(2, os.cpu_count() or 1)
        self._seen: dict[tuple[Path, str], _Seen] = {}
        self._wanted: list[tuple[Path, str]] = []
        self._under_way: set[tuple[Path, str]] = set()
        self._changed = threading.Condition()
        self._threads = 0

    def see(self, root: Path, folders: Sequence[RunFolder]) -> dict[str, SummaryState]:
        """What is known of these runs by name; what is not known, or of another state of the run, is looked at in their order."""
        now, found = time.monotonic(), {}
        with self._changed:
            self._wanted = []
            for folder in folders:
                key = (root, folder.name)
                seen = self._seen.setdefault(key, _Seen(folder))
                seen.folder = folder
                if not seen.sizes or seen.sizes[-1][1] != folder.bytes:
                    seen.sizes.append((now, folder.bytes))
                if folder.shards and now >= seen.due and key not in self._under_way and not seen.is_of(folder):
                    self._wanted.append(key)
                found[folder.name] = SummaryState(
                    seen.summary,
                    seen.looked_at == folder,
                    _growth(seen.sizes, now),
                    seen.looked_at.bytes if seen.looked_at else 0,
                )
            for gone in [*self._seen][: max(0, len(self._seen) - MOST_RUNS)]:
                del self._seen[gone]
            for _ in range(min(self._most, len(self._wanted)) - self._threads):
                self._threads += 1
                threading.Thread(target=self._work, name="summaries", daemon=True).start()
            self._changed.notify_all()
        return found

    def _next(self) -> tuple[tuple[Path, str], RunFolder] | None:
        """The run whose turn it is; None where there was none for a while, and then the thread that asked is taken to be gone."""
        with self._changed:
            if not self._wanted:
                self._changed.wait(IDLE_SECONDS)
            while self._wanted:
                key = self._wanted.pop(0)
                if key in self._seen and key not in self._under_way:
                    self._under_way.add(key)
                    return key, self._seen[key].folder
            self._threads -= 1
            return None

    def _work(self) -> None:
        process = SummaryProcess(self._seconds)
        try:
            while (taken := self._next()) is not None:
                folder = taken[1]
                began = time.monotonic()
                try:
                    told = self._looked_at(taken[0], folder, process)
                except Exception as error:  # noqa: BLE001 - the thread serves the next run too, and the screen says it
                    told = RunSummary(trouble=f"{type(error).__name__}: {error}")
                self._store_summary(taken[0], folder, told, time.monotonic() - began)
        finally:
            process.end()

    def _looked_at(self, key: tuple[Path, str], folder: RunFolder, process: SummaryProcess) -> RunSummary:
        root = key[0]
        try:
            order = SummaryOrder(library.resolve(root, folder.folder), root, self._tokenizer, self._mapping, folder.family)
            kept = KeptSummary(order)
        except BoardError as error:
            return RunSummary(trouble=str(error))
        with self._changed:
            if seen := self._seen.get(key):
                seen.kept, seen.outside = kept, kept.outside_ns()
        if (known := kept.read()) is not None:
            return known
        parsed_ns = kept.parsed_ns()
        told = process.ask(order)
        if not told.trouble:
            kept.write(told, parsed_ns)
        return told

    def _store_summary(self, key: tuple[Path, str], folder: RunFolder, told: RunSummary, seconds: float) -> None:
        with self._changed:
            self._under_way.discard(key)
            seen = self._seen.get(key)
            if seen is None:
                return
            if told.trouble and seen.summary is not None and not seen.summary.trouble:
                told = replace(seen.summary, trouble=told.trouble)
            seen.summary, seen.looked_at = told, folder
            seen.due = time.monotonic() + max(AGAIN_SECONDS, 5 * seconds)


def _growth(sizes: "deque[tuple[float, int]]", now: float) -> float | None:
    """Bytes per second over the last while; None where fewer than two sizes were seen, or where it shrank.

    From size to size, not to now: it stays the same from look to look, so that whoever waits for something new does not wait for nothing.
    """
    recent = [(at, size) for at, size in sizes if now - at <= RATE_SECONDS]
    if len(recent) < 2 or recent[-1][1] <= recent[0][1] or recent[-1][0] <= recent[0][0]:
        return None
    return (recent[-1][1] - recent[0][1]) / (recent[-1][0] - recent[0][0])
