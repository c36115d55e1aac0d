"""Standard output as a tracker: a readable table of each step, or JSON lines, whose numbers `board.trackers.jsonl` reads back."""

import json
import sys
from collections.abc import Mapping, Sequence
from typing import Any, Final, Literal, TextIO

from board.errors import BoardError
from board.trackers.contract import Example, TrackerWriter, Value, page

_WIDTH: Final = 120
"""Columns of a terminal that the table takes at most."""

_GAP: Final = 3
"""Spaces between two columns of the table."""


def open_writer(run: str, *, stream: TextIO | None = None, format: Literal["table", "jsonl"] = "table") -> "StdoutWriter":
    """A writer to `stream`, standard output where none is given; the name of the run is not written.

    Raises BoardError for a format it does not know, and where there is no standard output.
    """
    if format not in ("table", "jsonl"):
        raise BoardError(f"stdout writes a table or jsonl, not {format!r}.")
    chosen: TextIO | None = sys.stdout if stream is None else stream
    if chosen is None:
        raise BoardError("There is no standard output to write to: it was closed.")
    return StdoutWriter(run, chosen, as_lines=format == "jsonl")


class StdoutWriter(TrackerWriter):
    """Writes to a stream that belongs to someone else, so that closing only flushes it."""

    def __init__(self, name: str, stream: TextIO, *, as_lines: bool) -> None:
        self.name, self.place = name, "standard output"
        self._stream, self._as_lines = stream, as_lines

    def close(self) -> None:
        """Hand over what the stream still holds."""
        self._stream.flush()

    def _log(self, step: int, values: Mapping[str, Value]) -> None:
        self._write(_line({"step": step} | dict(values) | {"step": step}) if self._as_lines else _table(step, values))

    def _show(self, step: int, name: str, rows: Sequence[Example]) -> None:
        inside = "\n".join(f"    {line}" if line else "" for line in page(rows).split("\n"))
        self._write(
            _line({"step": step, "examples": name, "rows": rows}) if self._as_lines else f"step {step}, {name}\n{inside}\n\n"
        )

    def _write(self, text: str) -> None:
        """Whole steps only, and a character that the stream's encoding lacks by its number: a terminal may be ASCII."""
        encoding = self._stream.encoding or "utf-8"
        self._stream.write(text.encode(encoding, "backslashreplace").decode(encoding))
        self._stream.flush()


def _line(entry: Mapping[str, Any]) -> str:
    return json.dumps(entry) + "\n"


def _table(step: int, values: Mapping[str, Value]) -> str:
    """A head line, then names and values in as many columns as fit."""
    shown = {name: value if isinstance(value, str) else f"{value:.6g}" for name, value in values.items()}
    cells = [(name.replace("\n", " "), value.replace("\n", " ")) for name, value in shown.items()]
    names = max((len(name) for name, _ in cells), default=0)
    figures = max((len(figure) for _, figure in cells), default=0)
    padded = [f"{name:<{names}}  {figure:>{figures}}" for name, figure in cells]
    down = -(-len(padded) // max(1, (_WIDTH + _GAP) // (names + 2 + figures + _GAP)))
    return "\n".join([f"step {step}", *((" " * _GAP).join(padded[row::down]) for row in range(down)), "", ""])
