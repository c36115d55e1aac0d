"""Where a run is pushed to: what is asked for on the command line → what a tracker's writer takes. Knows no run and no metric."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from board import trackers
from board.errors import BoardError
from board.trackers.contract import TrackerWriter

LOG_DIR: Final = "board_metrics"
"""TensorBoard's folder unless another is given."""

_BY_ID: Final = ("wandb", "swanlab", "mlflow")
"""Trackers that know a run by an id, so that two may have the same name; the others are told whether to begin a run or to go on with it."""

_NO_PLACE: Final = ("mode", "tags", "notes")
"""Options that make no other place of it."""


@dataclass(frozen=True)
class Target:
    """A place in a tracker."""

    tracker: str
    options: Mapping[str, Any]
    """For its writer."""
    where: str
    """Tells the place from others of the tracker."""

    def opened(self, name: str, run_id: str, *, begins: bool) -> TrackerWriter:
        """A run that `begins` there, under another name where somebody has that one, or goes on. Raises whatever its library raises."""
        known: dict[str, Any] = {"run_id": run_id} if self.tracker in _BY_ID else {}
        if self.tracker in ("tensorboard", "trackio"):
            known["resume"] = "never" if begins else "allow"
        return trackers.tracker(self.tracker).open_writer(name, **self.options, **known)


def target(tracker: str, asked: Mapping[str, Any]) -> Target:
    """The place that is asked for: `asked` are log_dir, project, mode, tags, notes and format, each None where it is not.

    Raises BoardError for something that the tracker does not take.
    """
    takes = trackers.OPTIONS[tracker]
    given = {option: value for option, value in asked.items() if value is not None}
    if odd := [option for option in given if option not in takes]:
        taken = ", ".join(f"--{option.replace('_', '-')}" for option in takes)
        raise BoardError(f"{tracker} takes no --{odd[0].replace('_', '-')}, only {taken}.")
    if "log_dir" in takes and (tracker == "tensorboard" or "log_dir" in given):
        given["log_dir"] = str(Path(given.get("log_dir", LOG_DIR)).expanduser().resolve())
    if tracker == "stdout":
        given.setdefault("format", "table")
    where = " ".join(f"{option}={value}" for option, value in sorted(given.items()) if option not in _NO_PLACE)
    options: dict[str, Any] = {takes[option]: value for option, value in given.items()}
    return Target(tracker, options, where)
