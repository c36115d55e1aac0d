"""Something that a response shows or not, and more and more responses do: where it begins to spread, and how clearly.

What most kinds about texts ask of their marks. Knows no kind and no text.
"""

from dataclasses import dataclass
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from board.findings.contract import Found
from board.findings.departures import departures
from board.findings.dossier import Dossier
from board.metrics.formulas import Float64Array
from board.text.format_number import fmt

FIRST_SHARE: Final = 0.2
"""The share of the steps that tells how a run was at first, where a mark is held against that."""


@dataclass(frozen=True)
class Spread:
    """A share of responses that rises, or that is there from the first step on."""

    step: int
    """The first at which it is more."""
    last_step: int
    """The last that has a mark."""
    before: float
    """Share of the marked ones before, 0 to 1; NaN where it is there from the start."""
    after: float
    z: float
    since: NDArray[np.bool_]
    """(rows,) rollouts from `step` on, to its end."""
    stays: bool = True
    """Whether it does not come back."""

    @property
    def grown(self) -> float:
        """How much more of the responses it is now than before."""
        return self.after if np.isnan(self.before) else self.after - self.before

    def effect(self, what: str) -> str:
        """In words: what responses do of which there are more."""
        if np.isnan(self.before):
            return f"from the first step on {percent(self.after)} of the responses {what}"
        until = "" if self.stays else f" to {self.last_step}"
        return f"from step {self.step}{until} {percent(self.after)} of the responses {what}, before {percent(self.before)}"


def percent(share: float) -> str:
    """A share of 0 to 1 as words, never rounded to nothing."""
    return f"{fmt(100 * share, 2)} %"


def spread(dossier: Dossier, marks: Float64Array, least: float, z: float, at_once: float = np.inf) -> Spread | None:
    """Where the share of marked responses rises by `least` or more, with a clearness of `z`; else the whole run if the share is `at_once`.

    `marks` (rows,): 1 where a response shows it, 0 where not, NaN where that cannot be told. The curve is like for like by data source, and
    its noise never less than that of drawing as many rollouts as a step usually has.
    """
    known = np.isfinite(marks)
    if not known.any():
        return None
    share = float(marks[known].mean())
    if share == 0:
        return None
    curve = dossier.curve_of(dossier.like_for_like(marks))
    usual = float(np.median(curve.count[curve.count > 0]))
    last = int(dossier.steps.of_rows[marks == 1].max())
    off = departures(curve, 1, least, float(np.sqrt(share * (1 - share) / max(usual, 1.0))))
    found = max((one for one in off if one.z >= z), key=lambda one: one.z, default=None)
    if found is not None:
        rows = dossier.since(found.at) & ~dossier.since(found.end)
        # a level that comes in stairs ends above what the last steps have; what is said is what is there
        after, before = float(np.nanmean(marks[rows])), float(np.nanmean(marks[~dossier.since(found.at)]))
        step, end = int(dossier.steps.numbers[found.at]), int(dossier.steps.numbers[found.end - 1])
        return Spread(step, last if found.stays else end, before, after, found.z, rows, found.stays)
    everywhere = float(known.sum()) * share / np.sqrt(max(float(known.sum()) * share * (1 - share), 1.0))
    if share >= at_once and everywhere >= z:
        first = int(dossier.steps.of_rows[marks == 1].min())
        return Spread(first, last, np.nan, share, everywhere, np.ones(len(marks), np.bool_))
    return None


def first_rows(dossier: Dossier) -> NDArray[np.bool_]:
    """(rows,) the rollouts of the first steps: FIRST_SHARE of them, but three."""
    return ~dossier.since(max(3, round(FIRST_SHARE * len(dossier.steps.numbers))))


def usual_most(dossier: Dossier, values: Float64Array) -> float:
    """What all but a few of the rollouts of the first steps stay below, of (rows,) values; -inf where none has one."""
    first = values[first_rows(dossier) & np.isfinite(values)]
    return float(np.quantile(first, 0.95)) if len(first) else -np.inf


def as_found(
    found: Spread, dossier: Dossier, what: str, marks: NDArray[np.bool_], by: Float64Array | None = None, **more: Any
) -> Found:
    """What a kind says of a spread: responses do `what`, the marked (rows,) show it, the largest `by` first."""
    is_brief = not found.stays and found.last_step == found.step  # one odd step, among many
    more = {"crossed": "rise", "effect": found.effect(what)} | ({"severity": "note"} if is_brief else {}) | more
    shown = dossier.clearest(found.since & marks, by)
    return Found(first_step=found.step, last_step=found.last_step, measured=found.grown, strength=found.z, rollouts=shown, **more)
