"""How trainers call their own logs of metrics, one JSON object a line, and the step in them. Such files are no rollouts."""

from typing import Final

FILE_NAME: Final = "metrics.jsonl"

NAMES: Final = (FILE_NAME, "logging.jsonl", "history.jsonl")
"""Files that are logs by their names."""

STEP_KEYS: Final = ("step", "_step", "global_step")
