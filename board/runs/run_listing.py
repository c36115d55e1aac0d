"""The runs under a root as they were a moment ago, at once: looked up again in the background while somebody asks.

Looking through hundreds of folders takes longer than a page may. Knows neither readers nor what is in a run.
"""

import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from board.errors import BoardError
from board.runs.library import RunFolder, list_runs

FRESH_SECONDS: Final = 3.0
COSTS: Final = 20.0
"""A list is taken for true for FRESH_SECONDS, and COSTS times what looking it up took."""


@dataclass
class _Listed:
    folders: list[RunFolder]
    at: float
    seconds: float
    under_way: bool = False


class RunListing:
    """Shared by all readers of this process."""

    def __init__(self, look: Callable[[Path], list[RunFolder]] = list_runs) -> None:
        self._look = look
        self._listed: dict[Path, _Listed] = {}
        self._changing = threading.Lock()

    def folders(self, root: Path) -> list[RunFolder]:
        """The folders as `list_runs` finds them, those that only hold other runs left out. The first to ask waits.

        Raises RunNotFound then, and OSError.
        """
        with self._changing:
            known = self._listed.get(root)
        if known is None:
            return self._looked_up(root).folders
        with self._changing:
            stale = time.monotonic() - known.at > max(FRESH_SECONDS, COSTS * known.seconds)
            begin, known.under_way = stale and not known.under_way, stale or known.under_way
        if begin:
            threading.Thread(target=self._again, args=(root, known), name="listing", daemon=True).start()
        return known.folders

    def _looked_up(self, root: Path) -> _Listed:
        began = time.monotonic()
        found = without_shelves(self._look(root))
        ended = time.monotonic()
        listed = _Listed(found, ended, ended - began)
        with self._changing:
            self._listed[root] = listed
        return listed

    def _again(self, root: Path, known: _Listed) -> None:
        try:
            self._looked_up(root)
        except (BoardError, OSError):  # the root is gone for now: what was there stays on the screen
            with self._changing:
                known.at, known.under_way = time.monotonic(), False


def without_shelves(folders: Sequence[RunFolder]) -> list[RunFolder]:
    """The folders without those that are no run of their own: all that lies in them is in runs below them that are listed too."""
    within: dict[str, int] = {}
    for folder in folders:
        above = folder.name.rpartition("/")[0]
        within[above] = within.get(above, 0) + folder.bytes
    return [folder for folder in folders if folder.name not in within or within[folder.name] < folder.bytes]
