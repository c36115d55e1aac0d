"""TensorBoard, W&B, SwanLab, trackio, MLflow, trainers' own logs, standard output: reading what was logged, writing what the board computes.

Each tracker is one small module with the same four functions (`contract`), loaded when it is used; `nearby` looks for what lies near
a run. Needs no library of a tracker, so that the recorder, which lives in a trainer's process, can use it.
"""

from collections.abc import Mapping
from importlib import import_module
from typing import Final, cast

from board.errors import BoardError
from board.trackers.contract import Tracker

READ: Final = ("tensorboard", "wandb", "swanlab", "trackio", "mlflow", "transformers", "jsonl")
"""The trackers whose files are read, in the order in which the board looks for them."""

NAMES: Final = (*READ, "stdout")
"""The trackers there are."""

OPTIONS: Final[Mapping[str, Mapping[str, str]]] = {
    "tensorboard": {"log_dir": "log_dir"},
    "wandb": {"log_dir": "dir", "project": "project", "mode": "mode", "tags": "tags", "notes": "notes"},
    "swanlab": {"log_dir": "logdir", "project": "project", "mode": "mode", "tags": "tags"},
    "trackio": {"log_dir": "dir", "project": "project"},
    "mlflow": {"log_dir": "dir", "project": "project"},
    "stdout": {"format": "format"},
}
"""Tracker that can be pushed to → what the command line can ask for, and what its writer calls it."""


def tracker(name: str) -> Tracker:
    """The module of a tracker. Raises BoardError for a name that is none."""
    if name not in NAMES:
        raise BoardError(f"There is no tracker {name!r}; there are {', '.join(NAMES)}.")
    return cast(Tracker, import_module(f"board.trackers.{name}"))
