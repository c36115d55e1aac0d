"""Something that a response shows or not, and more and more responses do: where it begins to spread, and how clearly.

`spread` is for what a sound run has, too; `outbreak` for what it has not at all, whose share by step has no noise: it is 0, and then is not.
"""

from dataclasses import dataclass
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from board.findings.change_points import Series
from board.findings.context import Context
from board.findings.contract import Found, Limits
from board.findings.departures import departures
from board.metrics.formulas import BoolArray, Float64Array
from board.metrics.step_sums import Steps
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


CLEAR: Final = 5.0
"""Log-likelihood that two shares must gain over one: with a hundred places to divide at, one run in fifty gains so much by chance."""

_GAP: Final = 2
"""Marked steps so far apart, or less, are one stretch: what grows begins with little."""


@dataclass(frozen=True)
class Outbreak:
    """Where marked rollouts begin, and how many there are since."""

    at: int
    """Index of the first step with one, of those since their share is another."""
    step: int
    last_step: int
    """The last step with one."""
    before: float
    """Share of the rollouts before that are marked, 0 to 1; 0 where there are none before."""
    share: float
    """Of those from there to the last step with one."""
    count: int
    """Marked rollouts since."""
    z: float
    """The square root of twice the log-likelihood ratio of that share against the usual one; 0 where it is no larger."""

    def found(self, effect: str, rollouts: NDArray[np.int64], **more: Any) -> Found:
        """What a kind says of it whose threshold is that of the share."""
        return Found(effect, self.step, self.last_step, "share", self.share, self.z, rollouts, **more)


def judged(
    context: Context, marks: NDArray[np.bool_], known: NDArray[np.bool_], limits: Limits, **usual: float
) -> Outbreak | None:
    """The outbreak of `marks` among `known` rows where it is as large, and as clear, as a kind's thresholds say."""
    found = outbreak(context.steps, marks, known, **({"usual": limits["share"]} | usual))
    return None if found is None or found.share < limits["share"] or found.z < limits["z"] else found


def outbreak(steps: Steps, marks: NDArray[np.bool_], known: NDArray[np.bool_], usual: float = 0.01) -> Outbreak | None:
    """Where the share of `marks` among the `known` rows, (rows,) each, begins to be larger; None where no known row is marked.

    `usual` is the share that is no fault, or the share before where that is larger. The step is the one that divides the run into two
    binomial shares best, if the later one is larger; else the first with a mark.
    """
    size = len(steps.numbers)
    n = np.bincount(steps.row[known], minlength=size).astype(np.float64)
    k = np.bincount(steps.row[known & marks], minlength=size).astype(np.float64)
    marked = np.flatnonzero(k)
    if not len(marked):
        return None
    at, last = _first_of_stretch(marked, divided(k, n)[0]), int(marked[-1])
    before = float(k[:at].sum() / n[:at].sum()) if n[:at].sum() else 0.0
    count, rows = float(k[at : last + 1].sum()), float(n[at : last + 1].sum())
    z = beyond(count, rows, max(usual, before))
    return Outbreak(at, int(steps.numbers[at]), int(steps.numbers[last]), before, count / rows, int(count), z)


def beyond(count: float, rows: float, expected: float) -> float:
    """How clearly `count` of `rows` is more than an expected share: root of twice the log-likelihood ratio; 0 where it is no more."""
    if not rows or count / rows <= expected:
        return 0.0
    against = count * np.log(expected) + (rows - count) * np.log1p(-expected) if expected < 1 else 0.0
    gain = float(_fit(np.array(count), np.array(rows)) - against)
    return float(np.sqrt(2 * max(0.0, gain)))


def divided(k: Float64Array, n: Float64Array) -> tuple[int, float]:
    """The place at which two shares, a smaller and then a larger one, fit `k` of `n` best, (steps,) each, and the log-likelihood they gain.

    0 where one share fits about as well, or it falls.
    """
    k_before, n_before = np.cumsum(k)[:-1], np.cumsum(n)[:-1]
    k_after, n_after = k.sum() - k_before, n.sum() - n_before
    if not len(k_before):
        return 0, 0.0
    rises = k_after * n_before > k_before * n_after
    whole = float(_fit(k.sum(keepdims=True), n.sum(keepdims=True))[0])
    fits = np.where(rises, _fit(k_before, n_before) + _fit(k_after, n_after), -np.inf)
    best = int(fits.argmax())
    gain = float(fits[best]) - whole
    return (best + 1, gain) if gain > CLEAR else (0, 0.0)


def _first_of_stretch(marked: NDArray[np.int64], at: int) -> int:
    """The first marked step from `at` on, or before it where it grows out of earlier ones with no more than a step between."""
    place = min(int(np.searchsorted(marked, at)), len(marked) - 1)
    while place and marked[place] - marked[place - 1] <= _GAP:
        place -= 1
    return int(marked[place])


def _fit(k: Float64Array, n: Float64Array) -> Float64Array:
    """Log-likelihood of k of n at their own share."""
    share = k / np.maximum(n, 1)
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(k > 0, k * np.log(share), 0.0) + np.where(n > k, (n - k) * np.log1p(-share), 0.0)
