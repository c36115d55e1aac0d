"""What every tracker's module offers: `find`, `read`, `runs` and `open_writer`, and what they speak in. Knows neither runs nor metrics.

A tracker's library is imported in these functions only, so that the board and the recorder start without it. A module:

    NAME = "tensorboard"
    def find(folder: Path) -> list[Path]            what of this tracker lies in a folder or below it; [] where nothing does
    def read(path: Path, within: Path | None = None) -> Curves
                                                    its scalars by name, from no file outside `within`, where that is given;
                                                    raises BoardError, TrackerMissing without the library
    def runs(path: Path, within: Path | None = None) -> dict[str, Path]
                                                    the names of the runs in it as they were recorded, the newest first;
                                                    `within` and what it raises are as of `read`
    def open_writer(run: str, **kwargs) -> Writer   begins or goes on with a run; raises BoardError, TrackerMissing
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from board.errors import BoardError, pip_install


class TrackerMissing(BoardError):
    """The tracker's library is not installed; the message says what to install."""


@dataclass(frozen=True)
class Curve:
    """One scalar over steps, in rising order of steps; of a step that was logged more than once the last value."""

    steps: NDArray[np.int64]
    values: NDArray[np.float64]


class Curves(dict[str, Curve]):
    """A run's scalars by name; beside them its texts, and the names of what is neither."""

    def __init__(
        self, curves: Mapping[str, Curve], texts: Mapping[str, Mapping[int, str]] | None = None, others: Sequence[str] = ()
    ) -> None:
        super().__init__(curves)
        self.texts: Mapping[str, Mapping[int, str]] = texts or {}
        """By name and step, only where the text is not that of the step before."""
        self.others = tuple(others)
        """Names of tables, pictures, histograms and the like."""


Value = float | str
"""What a run logs by name and step."""

Example = Mapping[str, str | int | float]
"""One rollout as it is shown in a tracker: a few fields by name."""


class TrackerWriter(Protocol):
    """An open run of a tracker. Every method may raise whatever the tracker's library raises."""

    place: str
    """Where the reader finds it: a folder or an address."""

    name: str
    """What the run is called there: where it was to be a new one, another name than was asked for if somebody has that one."""

    def scalars(self, step: int, values: Mapping[str, Value]) -> None:
        """Log one step's numbers, and texts of the trainer's own; numbers that are not finite are left out by the caller."""

    def examples(self, step: int, name: str, rows: Sequence[Example]) -> None:
        """Log a few rollouts as a table or text; their strings are a model's and must be shown as text."""

    def close(self) -> None:
        """Write what is pending and end the run."""


@runtime_checkable
class AlertingWriter(Protocol):
    """A writer whose tracker can tell whoever follows the run, as by mail."""

    def alert(self, title: str, text: str, *, error: bool) -> None:
        """Tell it once, as an error or as a warning; both are text, which may quote a model."""


class Tracker(Protocol):
    """A tracker's module, as the list of trackers holds it."""

    NAME: str

    def find(self, folder: Path) -> list[Path]:
        """What of this tracker lies in a folder or below it."""

    def read(self, path: Path, within: Path | None = None) -> Curves:
        """The scalars it holds, by name; no file outside `within` is read, where that is given."""

    def runs(self, path: Path, within: Path | None = None) -> dict[str, Path]:
        """The recorded names of the runs that it holds, the newest first, and what to read of each; {} where no name was recorded."""

    def open_writer(self, run: str, **kwargs: Any) -> TrackerWriter:
        """Begin a run of that name, or go on with it."""


def missing(library: str, tracker: str) -> TrackerMissing:
    """The error to raise from an ImportError."""
    return TrackerMissing(f"{tracker} needs the library {library}: {pip_install(library)}")
