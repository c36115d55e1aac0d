"""The runs under a root, listed anew when the last listing is some seconds old."""

import math
import threading
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Final

from board.runs.library import RunFolder, list_runs

FRESH_SECONDS: Final = 3.0
COSTS: Final = 20.0
"""A list is taken for true for FRESH_SECONDS, or COSTS times what looking it up took."""


class RunListing:
    """Shared by all readers of this process: one looks, and the others wait for what it finds."""

    def __init__(self, look: Callable[[Path], list[RunFolder]] = list_runs) -> None:
        self._look = look
        self._listed: dict[Path, tuple[list[RunFolder], float]] = {}
        """By root its runs, and until when they are taken for true."""
        self._looking = threading.Lock()

    def folders(self, root: Path, name: str | None = None) -> list[RunFolder]:
        """The folders as `list_runs` finds them, looked up at once where `name` is none of them: a link may be as new as its run.

        Raises RunNotFound and OSError where they cannot be looked up.
        """
        with self._looking:
            found, until = self._listed.get(root, ([], -math.inf))
            began = time.monotonic()
            if began > until or (name is not None and all(name != folder.name for folder in found)):
                found = self._look(root)
                ended = time.monotonic()
                self._listed[root] = found, ended + max(FRESH_SECONDS, COSTS * (ended - began))
        return found


def without_shelves(folders: Sequence[RunFolder]) -> list[RunFolder]:
    """The folders without those that are no run of their own: all that lies in them is in runs below them that are listed too."""
    within: dict[str, int] = {}
    for folder in folders:
        above = folder.name.rpartition("/")[0]
        within[above] = within.get(above, 0) + folder.bytes
    return [folder for folder in folders if folder.name not in within or within[folder.name] < folder.bytes]
