"""The reader's custom metrics, kept by name. Knows neither SQL nor runs."""

from dataclasses import dataclass
from typing import Final

from board.errors import BoardError
from board.user_files.kept_entries import KeptEntries

KEPT: Final = KeptEntries(
    "custom_metrics", "custom metric", lambda one: isinstance(one, dict) and isinstance(one.get("query"), str)
)


@dataclass(frozen=True)
class SavedMetric:
    """A query the reader gave a name to."""

    name: str
    query: str


@dataclass(frozen=True)
class SavedMetrics:
    """All of them."""

    metrics: tuple[SavedMetric, ...]
    """By name, without regard to case."""
    damaged: tuple[str, ...]
    """A sentence for each that could not be read. It stays where it is."""


def load() -> SavedMetrics:
    """All saved metrics; none where nothing was ever saved. Raises BoardError when the file cannot be read."""
    found, damaged = KEPT.by_name()
    return SavedMetrics(tuple(SavedMetric(name, one["query"]) for name, one in found), damaged)


def save(name: str, query: str) -> SavedMetric:
    """Keep a query under a name, in place of what had that name; what was saved, its name without space around it.

    Raises BoardError for a name or a query that cannot be kept.
    """
    metric = SavedMetric(KEPT.checked(name), query.strip())
    if not metric.query:
        raise BoardError("There is no query to save.")
    KEPT.put(metric.name, {"query": metric.query})
    return metric
