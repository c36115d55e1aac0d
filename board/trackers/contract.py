"""What every tracker's module offers, and what they speak in.

A model writes what it likes: terminal commands, half characters, text that runs backwards. Names and texts are made plain on their way, so that
nothing in them is taken for more than text by a terminal, a Markdown page or a JSON writer: each such character is shown by its number.

A tracker's library is imported in its module's functions only (`library`), so that the board and the recorder start without it.
"""

import re
import unicodedata
from abc import ABC, abstractmethod
from array import array
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any, Final, Protocol

import numpy as np
from numpy.typing import NDArray

from board.errors import BoardError, pip_install


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
    """A run's scalars by name; in addition its texts, and the names of what is neither."""

    def __init__(
        self, curves: Mapping[str, Curve], texts: Mapping[str, Mapping[int, str]] | None = None, others: Sequence[str] = ()
    ) -> None:
        super().__init__(curves)
        self.texts: Mapping[str, Mapping[int, str]] = texts or {}
        """By name and step, only where the text is not that of the step before."""
        self.others = tuple(others)
        """Names of tables, pictures, histograms and the like."""


MAX_NAMES: Final = 20_000
"""Names in one source; more are data, not metrics."""

MOST_TEXTS: Final = 1_000
"""So many texts of one name are read, the last ones."""

MOST_LETTERS: Final = 10_000
"""A text is cut there."""

_STEPS: Final = range(-(2**63), 2**63)


class Points:
    """What was logged so far, 16 bytes a point."""

    def __init__(self, source: object) -> None:
        self._source = source
        self._numbers: defaultdict[str, tuple[array[int], array[float]]] = defaultdict(lambda: (array("q"), array("d")))
        self._texts: defaultdict[str, dict[int, str]] = defaultdict(dict)
        self._others: dict[str, None] = {}

    def add(self, name: str, step: int, value: object) -> None:
        """One more value of any kind: true and false count as 1 and 0, None is no value.

        Raises BoardError for a step beyond 64 bits, and for more than MAX_NAMES names.
        """
        if step not in _STEPS:
            raise BoardError(f"{self._source}: a step does not fit 64 bits.")
        if isinstance(value, int | float):
            steps, values = self._numbers[name]
            steps.append(step)
            values.append(value)
        elif isinstance(value, str):
            self._add_text(self._texts[name], step, value[:MOST_LETTERS])
        elif value is not None:
            self._others[name] = None
        if len(self._numbers) + len(self._texts) + len(self._others) > MAX_NAMES:
            raise BoardError(f"{self._source}: more than {MAX_NAMES:,} names.")

    def _add_text(self, texts: dict[int, str], step: int, text: str) -> None:
        if not texts or next(reversed(texts.values())) != text:
            texts.pop(step, None)
            texts[step] = text
        if len(texts) > MOST_TEXTS:
            del texts[next(iter(texts))]

    def curves(self) -> Curves:
        """Each name's curve in rising order of steps; of a step that was logged more than once the last value."""
        found = {name: _curve(*points) for name, points in self._numbers.items()}
        others = [name for name in self._others if name not in found and name not in self._texts]
        return Curves(found, self._texts, others)


def _curve(steps: "array[int]", values: "array[float]") -> Curve:
    rising, last = np.unique(np.array(steps, np.int64)[::-1], return_index=True)  # from behind: the first is what was logged last
    return Curve(rising, np.array(values)[::-1][last])


Value = float | str
"""What a run logs by name and step."""

Example = Mapping[str, str | int | float]
"""One rollout as it is shown in a tracker: a few fields by name."""


_UNUSUAL: Final = re.compile(r"[^ -~\n\t]")

_JOINERS: Final = frozenset("\u200c\u200d")
"""Without them Persian and emoji fall apart."""


def plain(text: str) -> str:
    r"""The text with control, format and half characters written as \u001b; carriage returns before a line feed fall away."""
    return _UNUSUAL.sub(_shown, text.replace("\r\n", "\n"))


def _shown(found: re.Match[str]) -> str:
    character = found[0]
    if character.isprintable() or character in _JOINERS or unicodedata.category(character) == "Zs":
        return character
    code = ord(character)
    return f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"


def plain_rows(rows: Sequence[Example]) -> list[dict[str, str | int | float]]:
    """Rows with every name and string made plain."""
    return [{plain(key): plain(value) if isinstance(value, str) else value for key, value in row.items()} for row in rows]


def page(rows: Sequence[Example]) -> str:
    """Plain rows one after another: each field's name, then its value, a text of several lines set in below its name."""
    return "\n\n".join("\n".join(_field(key, str(value)) for key, value in row.items()) for row in rows)


def _field(name: str, text: str) -> str:
    return f"{name}: {text}" if "\n" not in text else "\n    ".join([f"{name}:", *text.split("\n")])


def table(rows: Sequence[Example]) -> dict[str, Any]:
    """Plain rows as the arguments of a table of W&B or trackio."""
    columns = list(dict.fromkeys(key for row in rows for key in row))
    return {"columns": columns, "data": [[row.get(key) for key in columns] for row in rows]}


class TrackerWriter(ABC):
    """An open run of a tracker. Names and texts are made plain on their way. Every method may raise whatever the tracker's library raises."""

    name: str
    """What the run is called there: where it was to be a new one, another name than was given if that one is taken."""

    place: str
    """Where the reader finds it: a folder or an address."""

    def scalars(self, step: int, values: Mapping[str, Value]) -> None:
        """Log one step's numbers, and texts of the trainer's own; numbers that are not finite are left out by the caller."""
        self._log(step, {plain(name): plain(value) if isinstance(value, str) else float(value) for name, value in values.items()})

    def examples(self, step: int, name: str, rows: Sequence[Example]) -> None:
        """Log a few rollouts as a table or text; their strings are a model's and must be shown as text."""
        self._show(step, plain(name), plain_rows(rows))

    def alert(self, title: str, text: str, *, error: bool) -> None:  # noqa: B027 - most trackers notify no one
        """Notify those who follow the run, as by mail, once, as an error or as a warning, where the tracker can."""

    @abstractmethod
    def close(self) -> None:
        """Write what is pending and end the run."""

    @abstractmethod
    def _log(self, step: int, values: Mapping[str, Value]) -> None: ...

    @abstractmethod
    def _show(self, step: int, name: str, rows: Sequence[Example]) -> None: ...


class Tracker(Protocol):
    """A tracker's module. What can only be written to, such as a terminal, has `open_writer` alone; what can only be read, no `open_writer`."""

    def find(self, folder: Path) -> list[Path]:
        """What of this tracker lies in a folder or below it; [] where nothing does."""

    def read(self, path: Path, within: Path | None = None) -> Curves:
        """The scalars it holds, by name; no file outside `within` is read, where that is given. Raises BoardError."""

    def runs(self, path: Path, within: Path | None = None) -> dict[str, Path]:
        """The recorded names of the runs in it, the newest first, and what to read of each; {} where none was recorded. Raises as `read`."""

    def open_writer(self, run: str, **kwargs: Any) -> TrackerWriter:
        """Begin a run of that name, or go on with it. Raises BoardError."""
