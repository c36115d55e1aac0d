"""The reader's custom metrics, kept by name in the settings folder. Knows neither SQL nor runs."""

from dataclasses import dataclass
from typing import Final

from board.errors import BoardError
from board.user_files.named_files import LONGEST_NAME, NamedFiles

__all__ = ["LONGEST_NAME", "SavedMetric", "SavedMetrics", "delete", "load", "save"]

_FILES: Final = NamedFiles("custom_metrics", "custom metric", "query", lambda read: isinstance(read.get("query"), str))


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
    found, damaged = _FILES.load()
    return SavedMetrics(tuple(SavedMetric(one["name"], one["query"]) for one in found), tuple(damaged))


def save(name: str, query: str) -> SavedMetric:
    """Keep a query under a name, in place of what had that name; what was saved, its name without space around it.

    A damaged file that stands where it must go is moved aside. Raises BoardError for a name or a query that cannot be kept.
    """
    metric = SavedMetric(_FILES.checked(name), query.strip())
    if not metric.query:
        raise BoardError("There is no query to save.")
    _FILES.save(metric.name, query=metric.query)
    return metric


def delete(name: str) -> None:
    """Forget the metric of that name, if there is one. Raises BoardError where it cannot be removed."""
    _FILES.delete(name)
