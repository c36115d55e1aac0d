"""Runs of W&B: written offline with our writer, read with our reader."""

import time
from collections import deque
from pathlib import Path
from typing import Any

from tracked import Steps, curves

from board.trackers import wandb
from board.trackers.contract import TrackerWriter


def write(folder: Path, steps: Steps, **options: Any) -> Path:
    """A run written offline with our writer; the folder it went to."""
    writer = wandb.open_writer("run ä", mode="offline", dir=folder, project="p", **options)
    for step, values in steps.items():
        writer.scalars(step, values)
    return closed(writer)


def closed(writer: TrackerWriter) -> Path:
    """The folder of a run that is ended."""
    writer.close()
    return wait_for_end(Path(writer.place))


def wait_for_end(folder: Path) -> Path:
    """The folder of a run, once its log has its last record: W&B's own process goes on writing when a run has ended."""
    until = time.monotonic() + 60
    (log,) = folder.glob("*.wandb")
    while not any(one.WhichOneof("record_type") == "exit" for one in deque(wandb.LOGS.messages(log), maxlen=1)):
        assert time.monotonic() < until
        time.sleep(0.02)
    return folder


def ours(path: Path) -> dict[str, dict[int, float]]:
    """The scalars that we find."""
    return curves(wandb.read, path)


def alerts_in(log: Path) -> list[Any]:
    """The alerts of a transaction log, as W&B's own protobufs hold them: `title`, `text`, `level`."""
    return [one.alert for one in wandb.LOGS.messages(log) if one.WhichOneof("record_type") == "alert"]
