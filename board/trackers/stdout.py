"""Standard output as a tracker: a readable table of each step, or JSON lines. Written only: nothing can be read back from a terminal."""

import json
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final, Literal, TextIO

from board.errors import BoardError
from board.trackers.contract import Curves, Example, Value
from board.trackers.sanitize import page, plain, plain_rows, plain_values

NAME: Final = "stdout"

Format = Literal["table", "jsonl"]

_WIDTH: Final = 120
"""Columns of a terminal that the table takes at most."""

_GAP: Final = 3
"""Spaces between two columns of the table."""


def find(folder: Path) -> list[Path]:
    """Nothing: what went to a terminal is gone."""
    return []


def runs(path: Path, within: Path | None = None) -> dict[str, Path]:
    """Nothing: what went to a terminal is gone."""
    return {}


def read(path: Path, within: Path | None = None) -> Curves:
    """Raises BoardError: what went to a terminal is gone."""
    raise BoardError(f"{path}: standard output cannot be read back; write it to metrics.jsonl as JSON lines.")


def open_writer(run: str, *, stream: TextIO | None = None, format: Format = "table") -> "StdoutWriter":
    """A writer to `stream`, standard output where none is given; the name of the run is not written.

    Raises BoardError for a format it does not know, and where there is no standard output.
    """
    if format not in _LAYOUTS:
        raise BoardError(f"stdout writes a table or jsonl, not {format!r}.")
    chosen: TextIO | None = sys.stdout if stream is None else stream
    if chosen is None:
        raise BoardError("There is no standard output to write to: it was closed.")
    return StdoutWriter(run, chosen, _LAYOUTS[format])


class Table:
    """A readable table of each step."""

    def scalars(self, step: int, values: Mapping[str, Value]) -> str:
        """A head line, then names and values in as many columns as fit."""
        cells = [
            (name.replace("\n", " "), value.replace("\n", " ") if isinstance(value, str) else f"{value:.6g}")
            for name, value in plain_values(values).items()
        ]
        names = max((len(name) for name, _ in cells), default=0)
        figures = max((len(figure) for _, figure in cells), default=0)
        padded = [f"{name:<{names}}  {figure:>{figures}}" for name, figure in cells]
        across = max(1, (_WIDTH + _GAP) // (names + 2 + figures + _GAP))
        down = -(-len(padded) // across)
        lines = [(" " * _GAP).join(padded[row::down]) for row in range(down)]
        return "\n".join([f"step {step}", *lines, "", ""])

    def examples(self, step: int, name: str, rows: Sequence[Example]) -> str:
        """A head line, then the rows one after another, set in."""
        inside = "\n".join(f"    {line}" if line else "" for line in page(rows).split("\n"))
        return f"step {step}, {plain(name)}\n{inside}\n\n"


class JsonLines:
    """One object a line; `board.trackers.jsonl` reads the numbers back."""

    def scalars(self, step: int, values: Mapping[str, Value]) -> str:
        """The step and its numbers by name, at full precision."""
        named = {plain(name): plain(value) if isinstance(value, str) else value for name, value in values.items()}
        return json.dumps({"step": step} | named | {"step": step}) + "\n"

    def examples(self, step: int, name: str, rows: Sequence[Example]) -> str:
        """The step, the name and the rows."""
        return json.dumps({"step": step, "examples": plain(name), "rows": plain_rows(rows)}) + "\n"


_LAYOUTS: Final[dict[str, Table | JsonLines]] = {"table": Table(), "jsonl": JsonLines()}


class StdoutWriter:
    """Writes to a stream that belongs to someone else, so that closing only flushes it."""

    def __init__(self, name: str, stream: TextIO, layout: Table | JsonLines) -> None:
        self.name, self.place = name, "standard output"
        self._stream = stream
        self._layout = layout

    def scalars(self, step: int, values: Mapping[str, Value]) -> None:
        """One step's numbers."""
        self._write(self._layout.scalars(step, values))

    def examples(self, step: int, name: str, rows: Sequence[Example]) -> None:
        """A few rollouts, their text made plain."""
        self._write(self._layout.examples(step, name, rows))

    def close(self) -> None:
        """Hand over what the stream still holds."""
        self._stream.flush()

    def _write(self, text: str) -> None:
        """Whole steps only, and a character that the stream's encoding lacks by its number: a terminal may be ASCII."""
        encoding = self._stream.encoding or "utf-8"
        self._stream.write(text.encode(encoding, "backslashreplace").decode(encoding))
        self._stream.flush()
