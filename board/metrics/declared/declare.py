"""Short forms in which the tables declare metrics and readings. Knows no metric."""

from typing import Literal

from board.metrics.declared.computation import Computation, needed_fields
from board.metrics.declared.contract import Interpretation, Metric, Name, Page, Pattern, Words

Pair = tuple[str, str]
"""The same sentence in English and in Chinese."""


def reading(
    better: Literal["up", "down", "steady", ""],
    departure: Pair,
    look: Page = "rewards",
    low: float | None = None,
    high: float | None = None,
    *,
    open_range: bool = False,
    never: tuple[Pattern, ...] = (),
) -> Interpretation:
    """How a metric is read; bounds and patterns only where a source gives them."""
    return Interpretation(better, Words(*departure), look, low, high, open_range, never)


def metric(
    key: str,
    unit: str,
    formula: str,
    source: str,
    meaning: Pair,
    read: Interpretation,
    computation: Computation | None = None,
    *,
    names: tuple[Name, ...] = (),
    family: str = "",
) -> Metric:
    """One metric; its family is the first part of its key unless it is given, and what it needs follows from how it is computed."""
    needs = () if computation is None else needed_fields(computation)
    return Metric(key, family or key.partition("/")[0], Words(*meaning), unit, formula, source, read, needs, computation, names)
