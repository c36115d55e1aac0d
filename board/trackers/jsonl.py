"""`metrics.jsonl`: one JSON object a line, with a step and numbers by name. Read only; standard output writes such lines.

Its step is the first of STEP_KEYS that the line has. No library is needed.
"""

from pathlib import Path
from typing import Any, Final

from board.errors import BoardError
from board.trackers.contract import Curve, Writer
from board.trackers.curves import Points
from board.trackers.files import opened, walk
from board.trackers.flat import numbers, parsed

NAME: Final = "jsonl"

FILE_NAME: Final = "metrics.jsonl"

STEP_KEYS: Final = ("step", "_step", "global_step")

MAX_LINE: Final = 16 << 20
"""Bytes of one line."""


def find(folder: Path) -> list[Path]:
    """Each file of that name in a folder or below it."""
    return list(walk(folder, lambda name: name == FILE_NAME))


def runs(path: Path) -> dict[str, Path]:
    """The name of the file's folder; the file itself says none."""
    return {path.parent.name: path}


def read(path: Path) -> dict[str, Curve]:
    """The numbers of a file's lines by name, nested ones joined by "/"; NaN and Infinity are numbers. Empty lines are passed over.

    A last line without its end that is not JSON yet is left for the next time. Raises BoardError that names file, line and reason.
    """
    file_path = path / FILE_NAME if path.is_dir() else path
    points = Points(file_path)
    with opened(file_path) as file:
        for number, line in enumerate(iter(lambda: file.readline(MAX_LINE + 1), b""), 1):
            if not line.strip():
                continue
            try:
                if len(line) > MAX_LINE:
                    raise ValueError(f"longer than {MAX_LINE:,} bytes")
                _add(parsed(line), points)
            except ValueError as error:
                if not line.endswith(b"\n") and len(line) <= MAX_LINE:
                    break
                raise BoardError(f"{file_path}, line {number:,}: {error}.") from error
    return points.curves()


def _add(row: dict[str, Any], points: Points) -> None:
    """Add a line's numbers."""
    step = _whole(next((row[key] for key in STEP_KEYS if key in row), None))
    if step is None:
        raise ValueError(f"no whole number under any of {', '.join(STEP_KEYS)}")
    for name, value in numbers(row):
        if name not in STEP_KEYS:
            points.add(name, step, value)


def _whole(step: object) -> int | None:
    """A step as an integer; trainers that count in floats write 3.0."""
    if isinstance(step, float) and step.is_integer():
        return int(step)
    return step if isinstance(step, int) and not isinstance(step, bool) else None


def open_writer(run: str, **kwargs: Any) -> Writer:
    """Raises BoardError: files of this name belong to the trainer."""
    raise BoardError(f"Nothing is written to {FILE_NAME}; push to stdout with the format jsonl, and send that to a file.")
