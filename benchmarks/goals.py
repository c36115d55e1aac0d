"""What the board promises of its speed and memory, as data, and whether a figure keeps the promise. Knows no measurement."""

import math
from dataclasses import dataclass
from typing import Final


@dataclass(frozen=True)
class Goal:
    """A promise: a figure of this unit that is at most `limit`, or at least, where more is better."""

    words: str
    limit: float
    unit: str
    at_least: bool = False

    def __str__(self) -> str:
        return f"{'≥' if self.at_least else '≤'} {self.limit:g} {self.unit}"


GOALS: Final[dict[str, Goal]] = {
    "first_view": Goal("first view of a cached run against an empty page", 2.2, "×"),
    "click_idle": Goal("browser idle after a click at 100,000 rollouts", 500, "ms"),
    "cold_curve": Goal("first curve of a cold run of 10 GB, beyond an empty page", 2.5, "s"),
    "cold_link": Goal("a linked rollout of a cold run of 10 GB, beyond an empty page", 3, "s"),
    "cold_polars": Goal("polars.scan_ndjson with a schema against cold open of 1 GB", 0.5, "×", at_least=True),
    "warm_1gb": Goal("warm open of 1 GB", 0.5, "s"),
    "resident_1gb": Goal("resident after opening 1 GB", 600, "MB"),
    "resident_10gb": Goal("resident after opening 10 GB", 1000, "MB"),
    "second_session": Goal("a second viewer's memory", 30, "MB"),
    "crowd_p95": Goal("95 % of the answers to 100 readers of 1 GB who click every 10 s", 1, "s"),
    "tokens_32k": Goal("32,000 tokens painted", 1000, "ms"),
    "tokens_recolour": Goal("recolour", 100, "ms"),
    "tokens_million": Goal("1,000,000 tokens painted (that they open is the goal; the limit is a minute)", 60_000, "ms"),
    "findings_10k": Goal("10,000 rollouts looked through for findings", 3, "s"),
    "findings_found": Goal("planted faults of a kind found among the first three findings", 0.9, "of 1", at_least=True),
    "findings_false": Goal("warnings and errors about a clean run", 0.2, "per run"),
}
"""By the key that a figure names. The order is that of the summary."""


def verdict(goal: Goal, value: float) -> str:
    """`met` or `not met`; a figure that is no number says nothing about its goal and is `not measured`."""
    if math.isnan(value):
        return "not measured"
    kept = value >= goal.limit if goal.at_least else value <= goal.limit
    return "met" if kept else "not met"
