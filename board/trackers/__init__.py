"""TensorBoard, W&B, SwanLab, trackio, MLflow, trainers' own logs, standard output: reading what was logged, writing what the board computes.

Each tracker is one small module with the same four functions (`contract`), loaded when it is asked for; `nearby` looks for what lies near
a run. Imports schema and errors alone, so that the recorder, which lives in a trainer's process, can use it.
"""

from board.trackers.discovery import LogSource, near
from board.trackers.registry import NAMES, tracker
from board.trackers.run_matching import own

__all__ = ["NAMES", "LogSource", "near", "own", "tracker"]
