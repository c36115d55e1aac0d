"""What workers of a cluster do with a source when something is to go wrong: the real thing, but slowly, or not to its end."""

import os
import signal
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from board.cli.indexing import source_writer

Tell = Callable[[float], None]


def slow(order: dict[str, Any], on_bytes: Tell) -> dict[str, Any]:
    """As ever, after a while: somebody has time to take the machine away."""
    time.sleep(0.5)
    return source_writer.answer(order, on_bytes)


def killed_once(order: dict[str, Any], on_bytes: Tell) -> dict[str, Any]:
    """The first worker that comes to `rank_1.jsonl` is killed once its rows are written."""
    marker = Path(order["destination"]).with_name("killed")
    if order["range"]["shard"]["name"] == "rank_1.jsonl" and not marker.exists():
        marker.touch()
        source_writer.answer(order, on_bytes)
        os.kill(os.getpid(), signal.SIGKILL)
    return source_writer.answer(order, on_bytes)


def always_killed(order: dict[str, Any], on_bytes: Tell) -> dict[str, Any]:
    """The source `rank_1.jsonl` ends every worker."""
    if order["range"]["shard"]["name"] == "rank_1.jsonl":
        os.kill(os.getpid(), signal.SIGKILL)
    return source_writer.answer(order, on_bytes)
