"""Something that a response shows or not, and more and more responses do: where it begins to spread, and how clearly.

Most kinds about texts use it on their marks.
"""

from dataclasses import dataclass
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from board.findings.change_points import Series
from board.findings.context import Context
from board.findings.contract import Found
from board.findings.departures import departures
from board.findings.outbreaks import divided
from board.metrics.formulas import BoolArray, Float64Array
from board.text.format_number import fmt

FIRST_SHARE: Final = 0.2
"""The share of the steps that tells how a run was at first, where a mark is held against that."""

_LITTLE: Final = 2
"""So few steps before are no level to depart from."""


@dataclass(frozen=True)
class Spread:
    """A share of responses that rises, or that is there from the first step on."""

    step: int
    """The first at which it is more."""
    last_step: int
    """The last that has a mark."""
    before: float
    """Share of the marked ones before, 0 to 1; NaN where it is there from the start, or may be."""
    after: float
    z: float
    since: NDArray[np.bool_]
    """(rows,) rollouts from `step` on, to its end."""
    stays: bool = True
    """Whether it does not come back."""
    share: float = np.nan
    """Of the marked ones in the whole run, where it is there from the start."""

    @property
    def grown(self) -> float:
        """How much more of the responses it is now than before."""
        return self.share if np.isnan(self.before) else self.after - self.before

    def effect(self, what: str) -> str:
        """In words: what responses do of which there are more."""
        if np.isnan(self.before):
            begins = "the first step" if self.since.all() else f"step {self.step}"
            return f"from {begins} on {percent(self.after)} of the responses {what}"
        until = " on" if self.stays else f" to {self.last_step}"
        return f"from step {self.step}{until} {percent(self.after)} of the responses {what}, before {percent(self.before)}"


def percent(share: float) -> str:
    """A share of 0 to 1 as words, never rounded to nothing."""
    return f"{fmt(100 * share, 2)} %"


def share_since(context: Context, marks: BoolArray, of: BoolArray | None = None) -> str:
    """ "from step 8 on 50 %": since when there are marked rows, (rows,), and the share of them among the rows `of` since then."""
    since = context.since(int(context.steps.row[marks].min()))
    begins = "the first step" if since.all() else f"step {context.steps.of_rows[since].min()}"
    return f"from {begins} on {percent(float(marks[since if of is None else since & of].mean()))}"


def spread(context: Context, marks: Float64Array, least: float, z: float, at_once: float = np.inf) -> Spread | None:
    """Where the share of marked responses rises by `least` or more, with a clearness of `z`; else the whole run if the share is `at_once`.

    `marks` (rows,): 1 where a response shows it, 0 where not, NaN where that is unknown. The curve is like for like by data source, and
    its noise never less than that of drawing as many rollouts as a step usually has.
    """
    if not (marks == 1).any():
        return None
    marked, share = float((marks == 1).sum()), float(np.nanmean(marks))
    curve = context.curve_of(context.like_for_like(marks))
    usual = float(np.median(curve.count[curve.count > 0]))
    last = int(context.steps.of_rows[marks == 1].max())
    off = departures(curve, 1, least, float(np.sqrt(share * (1 - share) / max(usual, 1.0))))
    found = max((one for one in off if one.z >= z), key=lambda one: one.z, default=None)
    if found is not None:
        rows = context.since(found.at) & ~context.since(found.end)
        # a level that comes in stairs ends above what the last steps have; what is said is what is there
        after, before = float(np.nanmean(marks[rows])), float(np.nanmean(marks[~context.since(found.at)]))
        step, end = int(context.steps.numbers[found.at]), int(context.steps.numbers[found.end - 1])
        return Spread(step, last if found.stays else end, before, after, found.z, rows, found.stays)
    began = _with_little_before(context, marks, curve, usual, least)
    if began is not None and (began.z >= z or share >= at_once):
        return began
    everywhere = marked / np.sqrt(max(marked * (1 - share), 1.0))
    if share < at_once or everywhere < z:
        return None
    since = context.since(int(context.steps.row[marks == 1].min()))
    step, after = int(context.steps.of_rows[since].min()), float(np.nanmean(marks[since]))
    return Spread(step, last, np.nan, after, everywhere, since, share=share)


def _with_little_before(context: Context, marks: Float64Array, curve: Series, usual: float, least: float) -> Spread | None:
    """Where the share divides in two right after the first steps: as two binomial ones, for so few are no level with a noise of its own."""
    n = context.steps.count(marks)
    at, gain = divided(np.nan_to_num(n * context.steps.mean(marks)), n)
    if not 0 < at <= _LITTLE or np.nanmean(curve.mean[at:]) - np.nanmean(curve.mean[:at]) < least:
        return None
    since = context.since(at)
    before, after = (float(np.nanmean(marks[rows])) for rows in (~since, since))
    # the responses to a prompt may be alike: so many of them tell as much as one
    chance = max(after * (1 - after), 1 / usual)
    alike = np.where(np.isfinite(curve.error), np.square(curve.error), chance)[at:].mean() * usual / chance
    z, last = np.sqrt(2 * gain / max(1.0, alike)), int(context.steps.of_rows[marks == 1].max())
    return Spread(int(curve.steps[at]), last, before, after, float(z), since)


def first_rows(context: Context) -> NDArray[np.bool_]:
    """(rows,) the rollouts of the first steps: FIRST_SHARE of them, but three."""
    return ~context.since(max(3, round(FIRST_SHARE * len(context.steps.numbers))))


def unusual(context: Context, values: Float64Array, least: float) -> BoolArray:
    """(rows,) values of `least` or more that are above what all but a few of the rollouts of the first steps stay below."""
    first = first_rows(context) & np.isfinite(values)
    # or of the first step alone, if that is less: what begins right after it is not usual
    sets = (values[first], values[first & (context.steps.row == 0)])
    return (values >= least) & (values > min((np.quantile(some, 0.95) for some in sets if len(some)), default=-np.inf))


def as_found(
    found: Spread, context: Context, what: str, marks: NDArray[np.bool_], by: Float64Array | None = None, **more: Any
) -> Found:
    """What a kind says of a spread: responses do `what`, the marked (rows,) show it, the largest `by` first."""
    is_brief = not found.stays and found.last_step == found.step  # one odd step, among many
    more = {"crossed": "rise", "effect": found.effect(what)} | ({"severity": "note"} if is_brief else {}) | more
    shown = context.clearest(found.since & marks, by)
    return Found(first_step=found.step, last_step=found.last_step, measured=found.grown, strength=found.z, rollouts=shown, **more)
