"""What trackers left in a run's folder or beside it, by name and place; no more than a database's list of tables is read.

Beside a run there may be many runs. Where a log folder has folders of this run's name, those are its own and the others are left out.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from board.sources.nearby_files import folders
from board.trackers.registry import NAMES, tracker

MAX_FOUND: Final = 1_000
"""So many sources are listed: beside a run also those of other runs, which `owners` leaves out."""

_LOG_FOLDERS: Final = ("tensorboard_log", "tensorboard", "runs", "logs", "wandb", "swanlog", "trackio", "mlruns")
"""Where trainers and trackers put their logs when nothing else is said."""


@dataclass(frozen=True)
class LogSource:
    """One source of scalars."""

    tracker: str
    path: Path
    within: Path | None = field(default=None, compare=False)
    """The folder that no file of it may lie outside of; None for a place that the reader has named."""


def near(folder: Path, within: Path | None = None) -> list[LogSource]:
    """What lies in the run's folder, or beside it in a log folder or in a folder of the run's name.

    `within` is the folder that is not left, the run's parent where none is given: no link out of it is followed, and nothing above it is
    listed. Nothing for a folder outside it.
    """
    folder = folder.resolve()
    within = folder.parent if within is None else within.resolve()
    if not folder.is_relative_to(within):
        return []
    places = [folder]
    if folder != within:
        places += _beside(folder)
    found = [LogSource(name, path, within) for place in places for name in NAMES for path in tracker(name).find(place)]
    return list(dict.fromkeys(found))[:MAX_FOUND]


def _beside(folder: Path) -> Iterator[Path]:
    """The folders beside a run that may hold its logs."""
    for sibling in folders(folder.parent):
        own = [inside for inside in folders(sibling) if _is_named_after(inside.name, folder.name)]
        if sibling != folder and own:
            yield from own
        elif sibling.name in _LOG_FOLDERS:
            yield sibling


def _is_named_after(name: str, run: str) -> bool:
    """Whether a folder has a run's name, or that and a time, as our own TensorBoard runs have."""
    return name == run or name.startswith(f"{run}-")
