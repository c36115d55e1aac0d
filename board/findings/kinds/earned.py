"""What the reward gains: nothing though there is something to learn from, the best there is everywhere, or what is not for being right."""

from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from board.analysis.rollouts.reward_parts import is_penalty, reward_parts
from board.analysis.stats.length_attribution import correlation, share_of_gain, within
from board.findings.answers import correctness, lengths
from board.findings.change_points import CLEAR, LEAST_AFTER, LEAST_BEFORE, Series, noise, turn
from board.findings.context import Context
from board.findings.contract import Answer, CannotTell, Found, Limits, declared
from board.findings.departures import dated
from board.findings.spreading import FIRST_SHARE, first_rows
from board.metrics.formulas import Float64Array, mean_of_known
from board.text.format_number import fmt

_LEAST_STEPS: Final = 20
SURE: Final = 2.0
"""Standard errors by which a rise must be below what counts as learning, and from which on a gain is one."""


def _look_for_a_move(context: Context, limits: Limits) -> Answer:
    rewards = context.number("reward")
    curve = context.curve_of(context.prompt_for_prompt(rewards))
    known = np.isfinite(curve.mean)
    if known.sum() < _LEAST_STEPS:
        return CannotTell(f"fewer than {_LEAST_STEPS} steps have rewards")
    inside = context.within_groups(rewards)
    inside = inside[np.isfinite(inside)]
    # what moves inside groups is what can be learned; without groups, what moves inside steps
    spread = float(inside.std()) if len(inside) else float(np.sqrt(np.nanmean(context.steps.variance(rewards))))
    if not spread > 0:
        return CannotTell("no two rewards that could be compared differ: there is nothing to learn from")
    rise, error = _line(curve)
    if rise + SURE * error > limits["rise"] * spread or rise < -limits["rise"] * spread:
        return None
    shift = turn(curve)
    if shift is not None and shift.z >= limits["z"]:
        return None  # it moves, if not in a line
    steps = curve.steps[known]
    effect = f"over {len(steps)} steps the reward moves by {fmt(rise)} ± {fmt(SURE * error)}, while rewards of one "
    effect += f"{'group' if len(inside) else 'step'} differ by {fmt(spread)} (one standard deviation)"
    strength = (limits["rise"] * spread - rise) / error if error > 0 else 0.0
    shown = context.clearest(np.isfinite(rewards) & context.since(int(np.flatnonzero(known)[-1])))
    return Found(effect, int(steps[0]), int(steps[-1]), "rise", rise / spread, strength, shown)


def _line(curve: Series) -> tuple[float, float]:
    """How far a straight line through the curve rises from the first step to the last, and the standard error of that, from what it leaves."""
    known = np.isfinite(curve.mean)
    x, y = curve.steps[known].astype(np.float64), curve.mean[known]
    x = (x - x.mean()) / np.ptp(x)
    slope = float(x @ (y - y.mean()) / (x @ x))
    left = y - y.mean() - slope * x
    return slope, float(np.sqrt((left @ left) / max(1, len(y) - 2) / (x @ x)))


_EDGE: Final = 0.2
"""The share of the steps at the end, and at least this many steps, that must be so; and of those at first that tell how a reward is spread."""
_LEAST_EDGE: Final = 3
_NEAR: Final = 0.01
"""Rewards are as good as equal when they are nearer to each other than this share of the range of rewards, few far ones left out."""
_GOOD: Final = 0.8
"""Quantile of the first steps' rewards that a level must reach to be a good one."""
_LOW: Final = 0.2
"""A part whose mean is so small a share of its largest value is hardly earned."""


def _look_for_the_best(context: Context, limits: Limits) -> Answer:
    rewards = context.number("reward")
    known = np.isfinite(rewards)
    count = len(context.steps.numbers)
    if count < 2 * _LEAST_EDGE or not known.any():
        return CannotTell("too few steps have rewards")
    edge = max(_LEAST_EDGE, round(_EDGE * count))
    first, last = rewards[~context.since(edge) & known], rewards[context.since(count - edge) & known]
    extent = float(np.ptp(np.quantile(rewards[known], (0.1, 0.9))) or np.ptp(rewards[known]))
    if not len(first) or not len(last) or extent <= 0:
        return None  # a reward that never varies says nothing of what is good
    top = float(np.median(last))
    if top < np.quantile(first, _GOOD) or top <= first.mean():
        return None
    best = np.where(known, (np.abs(rewards - top) <= _NEAR * extent).astype(np.float64), np.nan)
    curve = context.curve_of(best)
    level = float(np.nanmean(curve.mean[-edge:])) if np.isfinite(curve.mean[-edge:]).any() else np.nan
    if not level >= limits["share"]:
        return None
    below = np.flatnonzero(np.nan_to_num(curve.mean, nan=1.0) < limits["share"] - 0.05)
    at = int(below[-1]) + 1 if len(below) else 0
    rows = float(curve.count[at:].sum())
    since = context.since(at) & (best == 1)
    if rows * (1 - limits["share"]) < 1 or at >= len(curve.steps):
        return None  # so few rollouts may all be the best by chance
    shift = turn(curve)
    behind = _left_behind(context, since)
    begins = at if shift is None or shift.z < CLEAR else min(at, dated(curve, shift))
    share = fmt(100 * float(np.nansum(best[context.since(at)])) / rows)
    effect = f"from step {int(curve.steps[at])} on {share} % of the rewards are as good as equal ({fmt(top)})"
    effect += f", which are more and more from step {int(curve.steps[begins])} on" if begins < at else ""
    effect += f": hardly any group gives a gradient{behind}"
    strength, severity = float(np.sqrt(rows * level)), "warning" if behind else None
    return Found.since(context, begins, effect, "share", level, strength, context.clearest(since), severity=severity)


def _left_behind(context: Context, since: NDArray[np.bool_]) -> str:
    """Which parts of the reward stay low while the whole is at its best, as what is paid is the others; empty where none does."""
    low = []
    for name in (one for one in reward_parts(context.frame) if not is_penalty(one)):
        values = context.number(name)
        there = values[since & np.isfinite(values)]
        most, mean = float(values[np.isfinite(values)].max(initial=0.0)), float(there.mean()) if len(there) else np.inf
        if mean < _LOW * most:
            low.append(f"`{name}` stays at {fmt(mean)} of {fmt(most)}")
    return f"; it is not earned by all of its parts: {', '.join(low)}" if low else ""


_UNEARNED: Final = 1 / 3
"""The share of the reward's gain that is not for being right, at the least: without length it is about none."""
_RIGHT: Final = 0.75
"""Where correctness gains as much as the reward, or nearly so, the reward gains by it: both in standard deviations between rollouts."""


def _look_for_length(context: Context, limits: Limits) -> Answer:
    reward, right = context.number("reward"), correctness(context)
    length = lengths(context)[0]
    if right is None:
        return CannotTell("neither a validation reward nor the ground truth tells whether longer responses are better")
    grown = turn(context.curve_of(context.like_for_like(np.log(np.maximum(length, 1.0)))))
    if grown is None or grown.z < limits["z"] or grown.change < np.log1p(limits["growth"]):
        return None
    since = context.since(grown.at)
    groups = _groups(context)
    slope = _worth_of_being_right(within(reward, groups), within(right, groups))
    longer, unearned = within(np.log(np.maximum(length, 1.0)), groups), within(reward - slope * right, groups)
    coupled, clear = correlation(longer[since], unearned[since]), _clearness(longer, unearned, np.where(since, groups, -1))
    if not coupled >= limits["coupling"] or clear < limits["z"]:
        return None
    gain, bare, true = (gain_since(context, values, grown.at) for values in (reward, reward - slope * right, right))
    if (
        not (gain.z >= SURE and bare.z >= SURE)
        or bare.size < _UNEARNED * gain.size
        or (true.z > SURE and true.in_spreads > _RIGHT * gain.in_spreads)
    ):
        return None
    bought = share_of_gain(length, reward, ~since, context.since(round((1 - FIRST_SHARE) * len(context.steps.numbers))))
    shows = since & (length > np.nanmedian(length[~since])) & (longer > 0) & (unearned > 0)
    effect = f"from step {grown.step} responses grow by {100 * np.expm1(grown.change):.0f} % and longer ones earn more than others to their "
    effect += f"prompt (correlation {coupled:.2f} beyond what being right earns); of what the reward gains, "
    effect += f"{100 * min(bare.size / gain.size, 1.0):.0f} % is not for being right"
    effect += f", and length buys {100 * min(bought, 1.0):.0f} %" if bought > 0 else ""
    shown = context.clearest(shows, longer * unearned)
    return Found.since(context, grown.at, effect, "coupling", coupled, min(grown.z, clear), shown)


def _groups(context: Context) -> NDArray[np.int64]:
    """(rows,) what a response is held against: its group; where there are none, its step's others of its data source."""
    if np.isfinite(within(context.number("reward"), context.group_rows)).any():
        return context.group_rows
    sources = context.sources - int(context.sources.min(initial=0))
    return context.steps.row * (int(sources.max(initial=0)) + 1) + sources


def _worth_of_being_right(reward: Float64Array, right: Float64Array) -> float:
    """What the centred reward gains with the centred correctness, (rows,) each, by least squares; 0 where that does not vary."""
    both = np.isfinite(reward) & np.isfinite(right)
    return float(reward[both] @ right[both]) / (float(right[both] @ right[both]) or 1.0)


def _clearness(one: Float64Array, other: Float64Array, groups: NDArray[np.int64]) -> float:
    """How many standard errors the covariance of two (rows,) arrays centred by group is above 0: groups are what is independent."""
    known = np.isfinite(one) & np.isfinite(other) & (groups >= 0)
    sums = np.bincount(np.unique(groups[known], return_inverse=True)[1].ravel(), one[known] * other[known])
    return float(sums.sum()) / (float(np.sqrt(np.square(sums).sum())) or 1.0)


@dataclass(frozen=True)
class Gain:
    """What a number gains over a turn."""

    size: float
    """Mean at the end of the run minus mean before the turn."""
    in_spreads: float
    """The same in standard deviations between rollouts at first."""
    z: float
    """The same in its standard errors."""


def gain_since(context: Context, values: Float64Array, at: int) -> Gain:
    """What the mean of (rows,) values gains from before the step with that index to the end of the run."""
    there = np.isfinite(values)
    held = values[first_rows(context) & there]
    spread = float((held if len(held) else values[there]).std()) or float(np.nanstd(values)) or 1.0
    curve = context.curve_of(context.like_for_like(values))
    last = max(at, round((1 - FIRST_SHARE) * len(curve.mean)))
    before, after = curve.mean[:at], curve.mean[last:]
    known = np.isfinite(curve.mean)
    sizes = max(1, np.isfinite(before).sum()), max(1, np.isfinite(after).sum())
    error = noise(curve.mean[known], curve.error[known]) * float(np.sqrt(1 / sizes[0] + 1 / sizes[1]))
    size = mean_of_known(after) - mean_of_known(before)
    return Gain(size, size / spread, size / error if error > 0 else 0.0)


def _look_for_a_gap(context: Context, limits: Limits) -> Answer:
    proxy, gold = context.number("reward"), context.number("valid_reward")
    both = np.isfinite(proxy) & np.isfinite(gold)
    if len(np.unique(context.steps.row[both])) < LEAST_BEFORE + LEAST_AFTER:
        return CannotTell("too few steps have rollouts with both rewards")
    if np.array_equal(proxy[both], gold[both]):
        return None
    # both in units of the spread between rollouts at the run's beginning, so that two scales can be compared
    apart = _scored(context, proxy, both) - _scored(context, gold, both)
    gap = context.curve_of(context.like_for_like(apart))
    shift = turn(gap)
    if shift is None or shift.z < limits["z"] or shift.change < limits["gap"]:
        return None
    rose, fell = (gain_since(context, np.where(both, values, np.nan), shift.at) for values in (proxy, gold))
    if not (rose.z > SURE >= fell.z):  # NaN, too, where the end or the beginning has neither
        return None
    since = context.since(shift.at) & both
    effect = f"from step {shift.step} the reward rises by {fmt(rose.size)} while the validation reward of the same rollouts "
    effect += f"falls by {fmt(-fell.size)}" if fell.size < 0 else f"stands (rises by {fmt(fell.size)})"
    shown = context.clearest(since & (apart > np.nanmedian(apart)), apart)
    return Found.since(context, shift.at, effect, "gap", shift.change, shift.z, shown)


def _scored(context: Context, values: Float64Array, both: np.ndarray) -> Float64Array:
    """Values in standard deviations from their mean, over the first steps' rollouts, or over all where those do not vary."""
    first = both & ~context.since(max(LEAST_BEFORE, round(_EDGE * len(context.steps.numbers))))
    held = values[first] if first.any() and values[first].std() > 0 else values[both]
    spread = float(held.std()) if len(held) else 0.0
    return np.where(both, (values - held.mean()) / (spread if spread > 0 else 1.0), np.nan)


NO_LEARNING: Final = declared("no_learning", _look_for_a_move)
REWARD_SATURATED: Final = declared("reward_saturated", _look_for_the_best)
LENGTH_EXPLOITATION: Final = declared("length_exploitation", _look_for_length)
PROXY_GOLD_GAP: Final = declared("proxy_gold_gap", _look_for_a_gap)
