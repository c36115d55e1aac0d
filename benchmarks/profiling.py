"""Where the time of a script run goes: the profiler of Python, put into the thread that Streamlit starts for it."""

import cProfile
import pstats
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from threading import Event
from typing import Any, Final

from benchmarks.sections import Cell, figure

BOARD: Final = Path(__file__).parent.parent / "board"
LISTED: Final = 12


def profiled(act: Callable[[], object]) -> list[tuple[Cell, ...]]:
    """The board's functions that a script run spends most time in, what they call included, the longest first; as rows of a table.

    Columns: function, calls, share of the whole. The profiler slows small calls most: shares, not times, are worth reading.
    """
    profile = cProfile.Profile()

    begun = Event()

    def begin(*_: Any) -> None:
        """For the first thread that starts: one that it starts itself is none of the script's."""
        sys.setprofile(None)
        if not begun.is_set():
            begun.set()
            profile.enable()

    threading.setprofile(begin)
    try:
        act()
    finally:
        threading.setprofile(None)
    return rows(pstats.Stats(profile))


def rows(stats: pstats.Stats) -> list[tuple[Cell, ...]]:
    """The longest of the board's functions. A file's own level is left out: it is the whole page."""
    timed: dict[tuple[str, int, str], tuple[int, int, float, float, Any]] = stats.stats  # type: ignore[attr-defined]
    whole = max(total for _, _, _, total, _ in timed.values())
    ours = {name: found for name, found in timed.items() if name[0].startswith(str(BOARD)) and name[2] != "<module>"}
    longest = sorted(ours.items(), key=lambda item: item[1][3], reverse=True)[:LISTED]
    return [
        (f"`{Path(path).relative_to(BOARD).as_posix()}:{line} {name}`", str(calls), figure([100 * (total / whole)], "%"))
        for (path, line, name), (_, calls, _, total, _) in longest
    ]
