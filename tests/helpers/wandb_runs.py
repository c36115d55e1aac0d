"""Runs of W&B: written offline with our writer, read with our reader."""

from pathlib import Path
from typing import Any

from tracked import Steps, curves

from board.trackers import wandb


def write(folder: Path, steps: Steps, **options: Any) -> Path:
    """A run written offline with our writer; the folder it went to."""
    writer = wandb.open_writer("run ä", mode="offline", dir=folder, project="p", **options)
    for step, values in steps.items():
        writer.scalars(step, values)
    writer.close()
    return Path(writer.place)


def ours(path: Path) -> dict[str, dict[int, float]]:
    """The scalars that we find."""
    return curves(wandb.read, path)


def alerts_in(log: Path) -> list[Any]:
    """The alerts of a transaction log, as W&B's own protobufs hold them: `title`, `text`, `level`."""
    return [one.alert for one in wandb.LOGS.messages(log) if one.WhichOneof("record_type") == "alert"]
