"""Names of trainers' JSONL logs of metrics, which hold no rollouts, and of steps."""

from typing import Final

FILE_NAME: Final = "metrics.jsonl"

NAMES: Final = (FILE_NAME, "logging.jsonl", "history.jsonl")
"""Files that are logs by their names."""

STEP_KEYS: Final = ("step", "_step", "global_step")
