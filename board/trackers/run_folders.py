"""Runs that lie in folders named after the time they were begun and their id, as W&B's and SwanLab's do. Knows no file's format.

A run that is gone on with gets one more folder, and a log of the same name in it.
"""

import re
from pathlib import Path
from typing import Final

from board.sources.nearby_files import folders, listed_files, walk

_RUN_FOLDER: Final = re.compile(r"(offline-)?run-\d{8}_\d{6}-")


def find_logs(folder: Path, ending: str) -> list[Path]:
    """The log of each run in a folder or below it, told by the ending of its name; of several of one run the last."""
    logs = sorted(walk(folder, lambda name: name.endswith(ending)), key=_begun)
    return list({(path.parent.parent, path.name): path for path in logs}.values())


def log_at(path: Path, ending: str) -> Path | None:
    """The log that a path is, or that lies in the folder that it is; None where there is none."""
    if path.is_dir():
        return next((file for file in listed_files(path) if file.suffix == ending), None)
    return path if path.suffix == ending and path.is_file() else None


def parts(log: Path) -> list[Path]:
    """The logs of one run, in the order in which they were begun. A log that lies in no run's folder is alone."""
    if not _RUN_FOLDER.match(log.parent.name):
        return [log]
    beside = [folder / log.name for folder in folders(log.parent.parent) if _RUN_FOLDER.match(folder.name)]
    return sorted((part for part in beside if part.is_file() and not part.is_symlink()), key=_begun)


def _begun(log: Path) -> str:
    """The time in the name of a log's folder, and what follows it; a run may go on online after it was offline."""
    return log.parent.name.removeprefix("offline-")
