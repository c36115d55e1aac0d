"""Logs that trainers keep themselves, one JSON object a line: a step and numbers by name. Read only; standard output writes such lines.

`metrics.jsonl` of anybody, ms-swift's `logging.jsonl` and ART's `history.jsonl` go by their names; verl's logger `file` writes
`project/experiment.jsonl`, known by how its lines begin. The step is the first of STEP_KEYS that the line has. No library is needed.
"""

import itertools
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

from board.errors import BoardError
from board.sources.flatten import parsed, values
from board.sources.nearby_files import each_line, opened, walk
from board.trackers.contract import Curves, Points

FILE_NAME: Final = "metrics.jsonl"

NAMES: Final = (FILE_NAME, "logging.jsonl", "history.jsonl")
"""Files that are logs by their names."""

STEP_KEYS: Final = ("step", "_step", "global_step", "current_steps")

OF_MOST_KEYS: Final = ("global_step/max_steps", "iteration")
"""ms-swift's, whose step is the text "5/100"."""

MAX_LINE: Final = 16 << 20
"""Bytes of one line."""

MOST_LOOKED_INTO: Final = 200
"""So many other `.jsonl` files of a folder are looked into: a run's shards may be thousands."""

_WRAPPED: Final = re.compile(rb'\s*\{\s*"step"\s*:\s*[0-9]+\s*,\s*"data"\s*:\s*\{')
"""How each line of verl's begins: its numbers are inside."""

_OF_MOST: Final = re.compile(r"([0-9]{1,18})/[0-9]{1,18}")


def find(folder: Path) -> list[Path]:
    """Each log in a folder or below it: those with such a name, then those that begin as verl's do."""
    files = list(walk(folder, lambda name: name.endswith(".jsonl")))
    named = [path for path in files if path.name in NAMES]
    others = (path for path in files if path.name not in NAMES)
    return named + [path for path in itertools.islice(others, MOST_LOOKED_INTO) if _is_wrapped(path)]


def _is_wrapped(path: Path) -> bool:
    try:
        with opened(path) as file:
            return _WRAPPED.match(file.read(100)) is not None
    except BoardError:
        return False


def runs(path: Path, within: Path | None = None) -> dict[str, Path]:
    """The name of the file's folder, or the file's own where it is named after the experiment; the file itself says none."""
    return {path.parent.name if path.name in NAMES else path.stem: path}


def read(path: Path, within: Path | None = None) -> Curves:
    """The values of a file's lines by name, nested ones joined by "/"; NaN and Infinity are numbers. Empty lines are passed over.

    A last line without its end that is not JSON yet is left for the next time. Raises BoardError that names file, line and reason.
    """
    file_path = path / FILE_NAME if path.is_dir() else path
    points = Points(file_path)
    each_line(file_path, within, MAX_LINE, lambda line: add(parsed(line), points))
    return points.curves()


def add(row: dict[str, Any], points: Points) -> None:
    """Add a row's values. Raises ValueError where it has no step."""
    step = _whole(next((row[key] for key in (*STEP_KEYS, *OF_MOST_KEYS) if key in row), None))
    if step is None:
        raise ValueError(f"no whole number under any of {', '.join(STEP_KEYS)}")
    for name, value in _named(row):
        if name not in STEP_KEYS and not (isinstance(value, str) and name in OF_MOST_KEYS):
            points.add(name, step, value)


def _named(row: dict[str, Any]) -> Iterator[tuple[str, object]]:
    """The values of a row; of verl's those of its data, under their own names."""
    wrapped = row.keys() == {"step", "data"} and isinstance(row["data"], dict)
    return values(row["data"] if wrapped else row)


def _whole(step: object) -> int | None:
    """A step as an integer; trainers that count in floats write 3.0, ms-swift "3/100"."""
    if isinstance(step, str) and (of_most := _OF_MOST.fullmatch(step)):
        return int(of_most[1])
    if isinstance(step, float) and step.is_integer():
        return int(step)
    return step if isinstance(step, int) and not isinstance(step, bool) else None
