"""The pads of a run beside the common ones, as its readers named them.

RL_BOARD_PADS names some for all runs. Knows neither what a pad is nor what a run holds.
"""

import os
from pathlib import Path
from typing import Any, Final

from board.text.path_names import shown
from board.user_files.kept_entries import KeptEntries, texts

VARIABLE: Final = "RL_BOARD_PADS"


def _parsed(held: Any) -> tuple[str, ...]:
    pads = texts(held)
    if not all(one.strip() for one in pads):
        raise ValueError("a pad is empty")
    return pads


KEPT: Final = KeptEntries("pads", "list of pads", _parsed)


def read(location: Path) -> tuple[str, ...]:
    """The pads of the run in a folder, in order, those for all runs among them. Raises BoardError where they cannot be read."""
    return tuple(sorted({*for_all(), *own(location)}))


def for_all() -> list[str]:
    """Those for all runs, in the variable with line ends behind them, or else with spaces between."""
    named = os.environ.get(VARIABLE, "")
    return named.splitlines() if "\n" in named else named.split()


def own(location: Path) -> tuple[str, ...]:
    """Those of the run alone. Raises BoardError where they cannot be read."""
    return KEPT.read().get(_name(location), ())


def save(location: Path, pads: tuple[str, ...]) -> None:
    """Keep the pads of the run in a folder in place of those before; none of them forgets it. Raises BoardError where that cannot be done."""
    KEPT.put(_name(location), pads or None)


def _name(location: Path) -> str:
    return shown(location.resolve())
