"""From which reward on a response of a run is right, where its reader said it. Knows no run and no page."""

import math
from pathlib import Path
from typing import Any, Final

from board.text.path_names import shown
from board.user_files.kept_entries import KeptEntries


def _parsed(held: Any) -> float:
    if isinstance(held, bool) or not isinstance(held, int | float) or not math.isfinite(held):
        raise TypeError("it is no number")
    return float(held)


KEPT: Final = KeptEntries("right_rewards", "reward from which on a response is right", _parsed)


def read(location: Path) -> float:
    """That of the run in a folder; NaN where nobody said it. Raises BoardError where that cannot be read."""
    return KEPT.read().get(shown(location.resolve()), math.nan)


def save(location: Path, reward: float | None) -> None:
    """Keep that of the run in a folder, or forget it with None. Raises BoardError where that cannot be done."""
    KEPT.put(shown(location.resolve()), reward)
