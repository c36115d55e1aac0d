"""What every tracker's module offers, and what they speak in. Knows neither runs nor metrics.

A tracker's library is imported in its module's functions only (`library`), so that the board and the recorder start without it.
"""

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from board.errors import BoardError, pip_install
from board.trackers.sanitize import plain, plain_rows


class TrackerMissing(BoardError):
    """The tracker's library is not installed; the message says what to install."""


def library(module: str, tracker: str, package: str = "") -> Any:
    """A module of a tracker's library. Raises TrackerMissing, which names the package, or what the module's name begins with, to install."""
    try:
        return import_module(module)
    except ImportError as error:
        package = package or module.split(".")[0]
        raise TrackerMissing(f"{tracker} needs the library {package}: {pip_install(package)}") from error


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


class TrackerWriter(ABC):
    """An open run of a tracker. Names and texts are made plain on their way. Every method may raise whatever the tracker's library raises."""

    name: str
    """What the run is called there: where it was to be a new one, another name than was asked for if somebody has that one."""

    place: str
    """Where the reader finds it: a folder or an address."""

    def scalars(self, step: int, values: Mapping[str, Value]) -> None:
        """Log one step's numbers, and texts of the trainer's own; numbers that are not finite are left out by the caller."""
        self._log(step, {plain(name): plain(value) if isinstance(value, str) else float(value) for name, value in values.items()})

    def examples(self, step: int, name: str, rows: Sequence[Example]) -> None:
        """Log a few rollouts as a table or text; their strings are a model's and must be shown as text."""
        self._show(step, plain(name), plain_rows(rows))

    def alert(self, title: str, text: str, *, error: bool) -> None:  # noqa: B027 - most trackers tell nobody
        """Tell whoever follows the run, as by mail, once, as an error or as a warning, where the tracker can."""

    @abstractmethod
    def close(self) -> None:
        """Write what is pending and end the run."""

    @abstractmethod
    def _log(self, step: int, values: Mapping[str, Value]) -> None: ...

    @abstractmethod
    def _show(self, step: int, name: str, rows: Sequence[Example]) -> None: ...


class Tracker(Protocol):
    """A tracker's module. What can only be written to, such as a terminal, has `open_writer` alone; what can only be read, no `open_writer`."""

    NAME: str

    def find(self, folder: Path) -> list[Path]:
        """What of this tracker lies in a folder or below it; [] where nothing does."""

    def read(self, path: Path, within: Path | None = None) -> Curves:
        """The scalars it holds, by name; no file outside `within` is read, where that is given. Raises BoardError."""

    def runs(self, path: Path, within: Path | None = None) -> dict[str, Path]:
        """The recorded names of the runs in it, the newest first, and what to read of each; {} where none was recorded. Raises as `read`."""

    def open_writer(self, run: str, **kwargs: Any) -> TrackerWriter:
        """Begin a run of that name, or go on with it. Raises BoardError."""
