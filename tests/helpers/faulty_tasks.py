"""What workers of a cluster do with a range when something is to go wrong: the real thing, but slowly, or not to its end."""

import os
import signal
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from board.indexing import range_task

Tell = Callable[[float], None]


def slow(order: dict[str, Any], on_bytes: Tell) -> dict[str, Any]:
    """As ever, after a while: somebody has time to take the machine away."""
    time.sleep(0.3)
    return range_task.answer(order, on_bytes)


def killed_once(order: dict[str, Any], on_bytes: Tell) -> dict[str, Any]:
    """The first worker that comes to a shard's second range or a later one is killed when its parts are half written."""
    marker = Path(order["index"]).with_name("killed")
    if order["range"]["start"] and not marker.exists():
        marker.touch()
        range_task.answer(order, on_bytes)
        os.kill(os.getpid(), signal.SIGKILL)
    return range_task.answer(order, on_bytes)


def always_killed(order: dict[str, Any], on_bytes: Tell) -> dict[str, Any]:
    """The first range of `rank_1.jsonl` ends every worker."""
    if (order["range"]["shard"]["name"], order["range"]["start"]) == ("rank_1.jsonl", 0):
        os.kill(os.getpid(), signal.SIGKILL)
    return range_task.answer(order, on_bytes)
