"""`trainer_state.json`, which every Trainer of transformers writes with each checkpoint: what it logged so far. Read only.

A folder of checkpoints holds the same log ever longer; of those of one training the longest is read. No library is needed.
"""

import re
from pathlib import Path
from typing import Any, Final

from board.errors import BoardError
from board.sources.flatten import parsed
from board.sources.nearby_files import opened, walk
from board.trackers import jsonl
from board.trackers.contract import Curves, Points

FILE_NAME: Final = "trainer_state.json"

MOST_BYTES: Final = 256 << 20
"""A state of that size would have logged a million times."""

_CHECKPOINT: Final = re.compile(r"checkpoint-([0-9]{1,18})")


def find(folder: Path) -> list[Path]:
    """One state of each training in a folder or below it: that of the folder itself, else that of its last checkpoint."""
    last: dict[Path, Path] = {}
    for path in sorted(walk(folder, lambda name: name == FILE_NAME), key=_age):
        last[_training(path)] = path
    return list(last.values())


def _training(path: Path) -> Path:
    """The folder of the training that a state is of."""
    return path.parent.parent if _CHECKPOINT.fullmatch(path.parent.name) else path.parent


def _age(path: Path) -> float:
    """The step of its checkpoint; that next to the checkpoints is written at the end."""
    step = _CHECKPOINT.fullmatch(path.parent.name)
    return int(step[1]) if step else float("inf")


def runs(path: Path, within: Path | None = None) -> dict[str, Path]:
    """The name of the training's folder; the file says none."""
    return {_training(path).name: path}


def read(path: Path, within: Path | None = None) -> Curves:
    """What was logged by name, as transformers names it in a tracker: "train/loss", "eval/loss". Raises BoardError that names the file."""
    file_path = path / FILE_NAME if path.is_dir() else path
    points = Points(file_path)
    with opened(file_path, within) as file:
        text = file.read(MOST_BYTES + 1)
    try:
        if len(text) > MOST_BYTES:
            raise ValueError(f"longer than {MOST_BYTES:,} bytes")
        for row in _history(parsed(text)):
            jsonl.add(row, points)
    except ValueError as error:
        raise BoardError(f"{file_path}: no state of a Trainer: {error}.") from error
    return points.curves()


def _history(state: dict[str, Any]) -> list[dict[str, Any]]:
    """The rows of the log, under the names that a tracker gets."""
    history = state.get("log_history")
    if not isinstance(history, list) or not all(isinstance(row, dict) for row in history):
        raise ValueError("no list of logs under log_history")
    return [{_name(key): value for key, value in row.items()} for row in history]


def _name(key: str) -> str:
    if key in jsonl.STEP_KEYS:
        return key
    return f"eval/{key.removeprefix('eval_')}" if key.startswith("eval_") else f"train/{key}"
