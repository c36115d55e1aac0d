"""A run's metrics handed to a tracker, step by step, each step once: what `rl-logging-board push` does. Knows no screen and no command line."""

from board.push.delivery import Pushed
from board.push.pushing import Request, push
from board.push.targets import Target, target

__all__ = ["Pushed", "Request", "Target", "push", "target"]
