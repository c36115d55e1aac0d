"""TensorBoard, W&B, SwanLab, trackio, MLflow, trainers' own logs, standard output: reading what was logged, writing what the board computes.

Each tracker is one small module with the same four functions (`contract`), loaded when it is asked for; `nearby` looks for what lies near
a run. Needs no library of a tracker, so that the recorder, which lives in a trainer's process, can use it.
"""

from board.trackers.nearby import LogSource, near, own
from board.trackers.registry import NAMES, READ, tracker

__all__ = ["NAMES", "READ", "LogSource", "near", "own", "tracker"]
