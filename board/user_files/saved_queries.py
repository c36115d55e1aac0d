"""The reader's custom metrics, kept by name in the settings folder: a file each, so that two boards that save at once lose nothing.

Knows what a name may be; knows neither SQL nor runs.
"""

from dataclasses import asdict, dataclass
from hashlib import blake2b
from pathlib import Path
from typing import Final

import orjson

from board.errors import BoardError
from board.user_files import folders, user_folders

LONGEST_NAME: Final = 80
"""Characters."""

_ENDING: Final = ".json"


@dataclass(frozen=True)
class SavedMetric:
    """A query the reader gave a name to."""

    name: str
    query: str


@dataclass(frozen=True)
class SavedMetrics:
    """What the folder holds."""

    metrics: tuple[SavedMetric, ...]
    """By name, without regard to case."""
    damaged: tuple[str, ...]
    """A sentence for each file that could not be read. It stays where it is."""


def load() -> SavedMetrics:
    """All saved metrics; none where nothing was ever saved. Raises BoardError when the folder cannot be read."""
    metrics, damaged = [], []
    for path in _files():
        try:
            metrics.append(_read(path))
        except FileNotFoundError:  # another board has just deleted it
            continue
        except (OSError, ValueError) as error:
            damaged.append(f"{path} holds no custom metric and was left as it is: {error}.")
    return SavedMetrics(tuple(sorted(metrics, key=lambda one: (one.name.casefold(), one.name))), tuple(damaged))


def save(name: str, query: str) -> SavedMetric:
    """Keep a query under a name, in place of what had that name; what was saved, its name without space around it.

    A damaged file that stands where it must go is moved aside. Raises BoardError for a name or a query that cannot be kept.
    """
    metric = SavedMetric(_checked(name), query.strip())
    if not metric.query:
        raise BoardError("There is no query to save.")
    path = _path(metric.name)
    if path.exists() and not _is_whole(path):
        folders.set_aside(path)
    try:
        written = orjson.dumps(asdict(metric), option=orjson.OPT_INDENT_2)
    except orjson.JSONEncodeError as error:  # half a surrogate pair
        raise BoardError("The query holds a character that is no text.") from error
    folders.write(path, written)
    return metric


def delete(name: str) -> None:
    """Forget the metric of that name, if there is one. Raises BoardError where it cannot be removed."""
    try:
        _path(name).unlink(missing_ok=True)
    except OSError as error:
        raise BoardError(f"The custom metric {name!r} cannot be deleted: {error.strerror}.") from error


def _folder() -> Path:
    return user_folders.settings() / "custom_metrics"


def _files() -> list[Path]:
    try:
        return sorted(path for path in _folder().iterdir() if path.suffix == _ENDING)
    except FileNotFoundError:
        return []
    except OSError as error:
        raise BoardError(f"{_folder()} cannot be read: {error.strerror}.") from error


def _path(name: str) -> Path:
    """Where the metric of that name is: names may differ in case alone and hold slashes, and file names may not."""
    readable = "".join(character if character.isascii() and character.isalnum() else "_" for character in name[:40])
    return _folder() / f"{readable}-{blake2b(name.encode(), digest_size=8).hexdigest()}{_ENDING}"


def _read(path: Path) -> SavedMetric:
    """Raises OSError, or ValueError when it is no metric or another file's."""
    read = orjson.loads(path.read_bytes())
    if not (isinstance(read, dict) and isinstance(read.get("name"), str) and isinstance(read.get("query"), str)):
        raise ValueError("it has no name and query")
    if _problem(read["name"]) or _path(read["name"]) != path:
        raise ValueError("its name is not the one it was saved under")
    return SavedMetric(read["name"], read["query"])


def _is_whole(path: Path) -> bool:
    try:
        return bool(_read(path))
    except (OSError, ValueError):
        return False


def _checked(name: str) -> str:
    """The name without space around it. Raises BoardError for one that cannot be shown in one line."""
    if problem := _problem(name.strip()):
        raise BoardError(problem)
    return name.strip()


def _problem(name: str) -> str:
    if not name:
        return "A custom metric needs a name to be saved under."
    if len(name) > LONGEST_NAME:
        return f"The name has {len(name)} characters, and {LONGEST_NAME} is the most."
    return "" if name.isprintable() else "The name holds a character that cannot be shown, such as a line end."
