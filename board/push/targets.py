"""Where a run is pushed to: what is asked for on the command line → what a tracker's writer takes. Knows no run and no metric."""

import itertools
import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from board import trackers
from board.errors import BoardError
from board.trackers.contract import TrackerWriter
from board.trackers.writer_options import OPTIONS

LOG_DIR: Final = "board_metrics"
"""TensorBoard's folder unless another is given."""

_GO_ON_BY_ID: Final = ("wandb", "swanlab", "mlflow")
"""Trackers that know a run by an id, so that two may have the same name."""


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

    @property
    def tells(self) -> bool:
        """Whether all it holds is on this machine, so that a run it does not know is not there."""
        mode = self.options.get("mode") or os.environ.get(f"{self.tracker.upper()}_MODE")
        return self.tracker in ("tensorboard", "trackio", "mlflow") or mode in ("offline", "local")

    @property
    def asked(self) -> bool:
        """Whether it knows the last step it holds when its run is opened again: a terminal does not."""
        return self.tracker != "stdout"

    def begin(self, name: str, run_id: str) -> tuple[str, TrackerWriter]:
        """Begin a run under a name that nobody has there: the given one, else with -2, -3 ... behind it. Returns the name too.

        Raises whatever the tracker's library raises.
        """
        for count in itertools.count(1):
            free = name if count == 1 else f"{name}-{count}"
            if self._taken(free):
                continue
            writer = self.go_on(free, run_id)
            if writer.last_step is None:
                return free, writer
            writer.close()
        raise AssertionError("counting never ends")

    def go_on(self, name: str, run_id: str) -> TrackerWriter:
        """Go on with a run that was begun. Raises whatever the tracker's library raises."""
        by_id = {"run_id": run_id} if self.tracker in _GO_ON_BY_ID else {}
        return trackers.tracker(self.tracker).open_writer(name, **self.options, **by_id)

    def _taken(self, name: str) -> bool:
        return self.tracker == "tensorboard" and (Path(self.options["log_dir"]) / name).exists()


def target(tracker: str, asked: Mapping[str, Any]) -> Target:
    """The place that is asked for: `asked` are log_dir, project, mode, tags, notes and format, each None where it is not.

    Raises BoardError for something that the tracker does not take.
    """
    takes = OPTIONS[tracker]
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
    if tracker == "tensorboard":
        options["timestamped"] = False
    return Target(tracker, options, where)
