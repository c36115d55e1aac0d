"""The table of trackers, each module loaded when it is asked for. Knows nothing of what they do."""

from importlib import import_module
from typing import Final, cast

from board.errors import BoardError
from board.trackers.contract import Tracker

NAMES: Final = ("tensorboard", "wandb", "swanlab", "trackio", "mlflow", "transformers", "jsonl", "stdout")
"""The trackers there are, in the order in which the board looks for them."""


def tracker(name: str) -> Tracker:
    """The module of a tracker. Raises BoardError for a name that is none."""
    if name not in NAMES:
        raise BoardError(f"There is no tracker {name!r}; there are {', '.join(NAMES)}.")
    return cast(Tracker, import_module(f"board.trackers.{name}"))
