"""The runs under a root, and one of them by the name it has there. A folder in, a reply or a run out; nothing outside the root is opened."""

from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

from board.cli.replies.contract import ListedRunReply, RunsReply
from board.errors import RunNotFound
from board.runs import library
from board.runs.cache.shared_values import RecentlyUsed
from board.runs.opening import open_run
from board.runs.run import Run
from board.runs.run_listing import without_shelves
from board.sources.shards import Fingerprint

OPEN: Final = 4
"""So many runs stay open between questions."""


class Root:
    """The runs below one folder, opened when they are requested and again when they have changed."""

    def __init__(self, folder: Path, opened: Callable[..., Run] = open_run) -> None:
        self.folder, self._open = folder, opened
        self._runs: RecentlyUsed[str, tuple[Fingerprint, Run]] = RecentlyUsed(OPEN)

    def runs(self, most: int) -> RunsReply:
        """The runs, written last first, at most so many. Raises RunNotFound where there is no such folder."""
        found = library.list_runs(self.folder)
        folders = [one for one in without_shelves(found) if one.shards]
        listed = sorted(folders, key=lambda one: -one.modified_ns)
        rows = [ListedRunReply(one.name, one.shards, one.bytes, _when(one.modified_ns)) for one in listed[:most]]
        return RunsReply(rows, max(0, len(listed) - most), library.not_opened(self.folder, found))

    def run(self, name: str) -> Run:
        """The run of that name. Raises RunNotFound where there is none under the root."""
        folder = next((one for one in library.list_runs(self.folder) if one.name == name and one.shards), None)
        if folder is None:
            raise RunNotFound(f"There is no run {name!r} under this root.")
        location = library.resolve(self.folder, folder.folder)
        now = library.current_fingerprint(location, self.folder)
        held = self._runs.use(name)
        if held is None or held[0] != now:
            held = (now, self._open(location, within=self.folder, family=folder.family))
            self._runs.put(name, held)
        return held[1]


def _when(modified_ns: int) -> str:
    try:
        return datetime.fromtimestamp(modified_ns / 1e9, UTC).isoformat(timespec="seconds") if modified_ns else ""
    except (ValueError, OverflowError):  # a clock that was wrong by more than a calendar holds
        return ""
