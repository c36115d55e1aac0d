"""Which trackers a run can be pushed to, and what may be asked of each: the command line's words → what its writer takes. Knows no run."""

from collections.abc import Mapping
from typing import Final

OPTIONS: Final[Mapping[str, Mapping[str, str]]] = {
    "tensorboard": {"log_dir": "log_dir"},
    "wandb": {"log_dir": "dir", "project": "project", "mode": "mode", "tags": "tags", "notes": "notes"},
    "swanlab": {"log_dir": "logdir", "project": "project", "mode": "mode", "tags": "tags"},
    "trackio": {"log_dir": "dir", "project": "project"},
    "mlflow": {"log_dir": "dir", "project": "project"},
    "stdout": {"format": "format"},
}
"""Tracker → what can be asked for, and what its writer calls it."""

TRACKERS: Final = tuple(OPTIONS)
"""Those that can be pushed to."""
