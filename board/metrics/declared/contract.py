"""The declaration of a metric of the catalogue and of a dialect. Data only."""

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final, Literal, NamedTuple

from board.metrics.declared.computation import Computation

Origin = Literal["rollouts", "tracker"]
"""Whether rollouts can give the metric, or only the trainer that logged it."""

Page = Literal["rewards", "responses", "tokens", "data"]
"""Where to look next: a page of the board by the name of its file."""


class Words(NamedTuple):
    """One plain sentence in both languages."""

    en: str
    zh: str


class Name(NamedTuple):
    """What one trainer calls a metric."""

    dialect: str
    """`Dialect.name` of the trainer."""
    name: str
    """As it logs it. It may hold {placeholders}, each of PLACES, and stands for a family of names; the metric's key then holds the same."""
    remark: Words | None = None
    """How its number may differ a little from the board's: n - 1 for n, empty responses left out, a mean over minibatches. Where the two
    would be read differently the name is that of a metric of its own."""


Pattern = Literal["negative", "stopped", "spiked"]
"""What a curve must not do though each of its values alone is healthy: stay below 0, fall to exactly 0 for good, jump once."""

_SINGLE: Final = 1e-6
"""How near to a bound a value is at it: trackers keep 32 bits of a number, of 0.1 a little more than 0.1."""


@dataclass(frozen=True)
class Interpretation:
    """How a value is read. `low` and `high` bound what is healthy, both included unless `open`; None where there is no such bound."""

    better: Literal["up", "down", "steady", ""]
    """Where it should go as training proceeds; "" where no direction is better."""
    departure: Words
    """What a departure means and what to look at next."""
    look: Page = "rewards"
    """The page that shows it."""
    low: float | None = None
    high: float | None = None
    open: bool = False
    """Whether a value at a bound is unhealthy already."""
    never: tuple[Pattern, ...] = ()

    def healthy(self, value: float) -> bool:
        """Whether a finite value lies within the bounds."""
        low, high = -math.inf if self.low is None else self.low, math.inf if self.high is None else self.high
        at_bound = math.isclose(value, low, rel_tol=_SINGLE) or math.isclose(value, high, rel_tol=_SINGLE)
        return not (self.open and at_bound) and low <= value <= high

    @property
    def ranged(self) -> bool:
        """Whether there is anything unhealthy that a curve could do."""
        return (self.low, self.high, self.never) != (None, None, ())


@dataclass(frozen=True)
class Metric:
    """One number per step."""

    key: str
    """The board's own name: "reward/mean"."""
    family: str
    """The heading it is shown under: one of FAMILIES."""
    meaning: Words
    unit: str
    formula: str
    """Says what is averaged over: tokens, rollouts or groups."""
    source: str
    """Where the formula or the name is from: a paper, a page, a trainer."""
    reading: Interpretation
    needs: tuple[str, ...] = ()
    """Columns (frame) or token arrays a rollout must have, those its computation is about; empty for a metric only a trainer can log."""
    computation: Computation | None = None
    """How rollouts give it; None for a metric only a trainer can log."""
    names: tuple[Name, ...] = ()
    """What trainers call it; of several names in one dialect the first is the one it is shown by."""

    @property
    def origin(self) -> Origin:
        """Whether rollouts can give it: then it needs something of them."""
        return "rollouts" if self.needs else "tracker"


FAMILIES: Final = (
    "reward",
    "groups",
    "kl",
    "policy",
    "update",
    "critic",
    "advantage",
    "length",
    "text",
    "mismatch",
    "evaluation",
    "loss",
    "optimiser",
    "counts",
    "time",
    "memory",
    "system",
    "other",
)
"""Headings of the Metrics page, in order."""


@dataclass(frozen=True)
class Dialect:
    """The names one trainer gives to metrics."""

    name: str
    """As on the command line: "roll"."""
    title: str
    names: Mapping[str, str] = field(default_factory=dict)
    """Name in the trainer → key of the metric, in the metrics' order, made of what they declare."""
    remarks: Mapping[str, Words] = field(default_factory=dict)
    """Name in the trainer → how its number may differ a little from the board's."""
    prefixes: tuple[str, ...] = ()
    """What the trainer's own logging may put before any of its names: "train/"."""
    at_end: tuple[str, ...] = ()
    """What names begin with that the trainer logs once, at the end of the run."""
    suffixes: tuple[str, ...] = ()
    """What it may put after any of its names: "@sum", how ranks were reduced."""


PLACES: Final[Mapping[str, str]] = {
    "phase": "(?:[^/{}]+/)?[^/{}]+",
    "when": "start|end",
    "state": "offload|onload",
    "device": "[^/]+",
    "name": "[^/]+",
    "n": "[0-9]+",
    "path": ".+",
}
"""What may stand for a {placeholder} in a name, as a regular expression.

A phase is any part of a batch's work, as trainers add their own; it may bear its worker's name: "actor_train/generate".
"""
