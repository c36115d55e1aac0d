"""The rewards of one data source are multiplied or shifted from one step on: the same behaviour is paid otherwise than before."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Final

import numpy as np

from board.findings.change_points import LEAST_AFTER, LEAST_BEFORE, Series, turn
from board.findings.context import Context
from board.findings.contract import Answer, CannotTell, Found, Limits, declared
from board.findings.departures import departures, squares_left
from board.findings.rescaling import Rescaling, rescaling
from board.metrics.formulas import Float64Array
from board.metrics.step_sums import Steps
from board.text.format_number import fmt

_AROUND: Final = 6
"""So many steps on either side are compared, and more where these have too few rollouts."""
_LEAST_ROWS: Final = 40
_NEAR: Final = 2
"""Steps around a curve's turn that are tried too: it dates no better."""
_WAYS: Final = ((1, 0), *((steps, late) for steps in (2, 3, 4, 6, 8, 12) for late in range(steps)))
"""Ways from one level to another: in so many steps, the last of them so many behind a place. The first is a jump."""


@dataclass(frozen=True)
class _Jump:
    step: int
    before: str
    after: str
    how: Rescaling


def _look(context: Context, limits: Limits) -> Answer:
    rewards = context.number("reward")
    freed, inner = context.prompt_for_prompt(rewards), context.within_groups(rewards)
    inner = np.where(np.isfinite(inner), inner, rewards)
    jumps: dict[int, list[tuple[int, _Jump]]] = {}
    is_known = False
    for source in np.unique(context.sources).tolist():
        rows = np.flatnonzero((context.sources == source) & np.isfinite(rewards))
        steps = Steps(context.steps.of_rows[rows])
        if len(steps.numbers) < LEAST_BEFORE + LEAST_AFTER:
            continue
        is_known = True
        jump = _clearest(steps, rewards[rows], freed[rows], inner[rows], limits)
        if jump is not None and not _is_behaviour(context, jump, limits["z"]):
            jumps.setdefault(jump.step, []).append((source, jump))
    if not is_known:
        return CannotTell("no data source has rewards at enough steps")
    return [_found(context, step, some) for step, some in sorted(jumps.items())]


def _is_behaviour(context: Context, jump: _Jump, z: float) -> bool:
    """Whether the validation reward turns against the rewards when they jump: then the rollouts changed, and not what is paid for them."""
    if jump.how.is_certain or not context.has("valid_reward"):
        return False
    gold = turn(context.curve_of(context.like_for_like(context.number("valid_reward"))))
    if gold is None or gold.z < z:
        return False
    at = int(np.searchsorted(context.steps.numbers, jump.step))
    return abs(gold.at - at) <= _AROUND and gold.change * (jump.how.shift or np.log(abs(jump.how.factor))) < 0


def _clearest(steps: Steps, rewards: Float64Array, freed: Float64Array, inner: Float64Array, limits: Limits) -> _Jump | None:
    """The clearest jump of one source's rewards, (n,) in the order of `steps`.

    `freed` (n,) are the rewards freed from which prompts a step has, `inner` (n,) what they are off their group's mean.
    """
    found: list[_Jump] = []
    level = steps.mean(freed)
    for at in _places(steps, rewards):
        first, cut, last = _window(steps, at)
        how = rescaling(rewards[first:cut], rewards[cut:last], limits["factor"], limits["shift"])
        # one step before it tells where rewards of few values have others
        if how is None or (at < LEAST_AFTER and not how.is_certain) or not _is_sudden(steps, inner, at, how):
            continue
        if how.shift and not how.is_certain:
            how = replace(how, z=min(how.z, _beyond_steps(level, at)))
        if how.z >= limits["z"]:
            found.append(_Jump(int(steps.numbers[at]), _ends(rewards[first:cut]), _ends(rewards[cut:last]), how))
    best = max(found, key=lambda jump: jump.how.z, default=None)
    if best is not None:  # the way back is as clear as the way there
        there = [one for one in found if one.step < best.step - _AROUND // 2 and one.how.z >= best.how.z / 2]
        best = max(there, key=lambda jump: jump.how.z, default=best)
    return best


def _is_sudden(steps: Steps, inner: Float64Array, at: int, how: Rescaling) -> bool:
    """Whether a factor is there in the nearest steps, rather than that they are on the way; also of what rollouts of a group differ by."""
    if how.is_certain or how.factor == 1:
        return True
    first, cut, last = _window(steps, at, LEAST_AFTER)
    spread = np.log(max(float(inner[cut:last].std()), 1e-300) / max(float(inner[first:cut].std()), 1e-300))
    return bool(spread / np.log(abs(how.factor)) > 0.6)


def _beyond_steps(curve: Float64Array, at: int) -> float:
    """How far the steps after a place are from those before, in standard errors as a z; 0 where they rather move in several steps.

    `curve` (k,) means by step. Rollouts of a step share its prompts and its policy: a hundred rewards of four prompts are four. So the
    error is what other neighbours differ by (von Neumann 1941); as these are few, it is Student's (as a z: Wallace 1959).
    """
    first = max(0, at - _AROUND)
    before, after = curve[first:at], curve[at : at + _AROUND]
    off = np.arange(first, at + len(after)) - at
    ways = np.stack([np.clip((off - late) / steps + 1, 0, 1) for steps, late in _WAYS])
    jump, *slower = squares_left(curve[off + at], ways).tolist()
    others = np.square(np.delete(np.diff(curve), at - 1))
    if jump > min(slower):
        return 0.0
    if not others.any():
        return np.inf
    t = float(after.mean() - before.mean()) / np.sqrt(others.mean() / 2 * (1 / len(before) + 1 / len(after)))
    freedom = 2 / 3 * len(others)
    return float((8 * freedom + 1) / (8 * freedom + 3) * np.sqrt(freedom * np.log1p(t * t / freedom)))


def _places(steps: Steps, rewards: Float64Array) -> list[int]:
    """Indices of steps at which it may have been: where a level, a spread or an end of the rewards turns, and the steps next to them."""
    with np.errstate(divide="ignore", invalid="ignore"):
        curves = [
            steps.mean(rewards),
            np.log(steps.mean(np.abs(rewards))),
            np.log(steps.std(rewards)),
            steps.max(rewards),
            steps.min(rewards),
        ]
    unsure = np.full(len(steps.numbers), np.nan)
    lines = [Series(steps.numbers, np.where(np.isfinite(curve), curve, np.nan), unsure, unsure) for curve in curves]
    left = [one for line in lines for side in (1, -1) for one in departures(line, side, 0.0)]
    turns = [
        *(one.at for line in lines if (one := turn(line))),
        *(at for one in left for at in (one.at, one.end)),
    ]
    near = {at + off for at in turns for off in range(-_NEAR, _NEAR + 1)}
    return sorted(at for at in near if 1 <= at <= len(steps.numbers) - LEAST_AFTER)


def _window(steps: Steps, at: int, around: int = _AROUND) -> tuple[int, int, int]:
    """Rows from the first before to behind the last after a place that are compared, and the place's own."""
    bounds = np.searchsorted(steps.row, np.arange(len(steps.numbers) + 1))
    cut = int(bounds[at])
    first = min(int(bounds[max(0, at - around)]), max(0, cut - _LEAST_ROWS))
    last = max(int(bounds[min(len(steps.numbers), at + around)]), min(len(steps.row), cut + _LEAST_ROWS))
    return first, cut, last


def _ends(rewards: Float64Array) -> str:
    return f"{fmt(float(rewards.min()))} to {fmt(float(rewards.max()))}"


def _found(context: Context, step: int, some: list[tuple[int, _Jump]]) -> Found:
    clearest = max((jump for _, jump in some), key=lambda jump: jump.how.z)
    how = clearest.how
    whose = " and ".join(_names(context, [source for source, _ in some]))
    rewards, of_source = context.number("reward"), np.isin(context.sources, [source for source, _ in some])
    numbers = context.steps.numbers
    at = int(np.searchsorted(numbers, step))
    end = _end(context.steps, np.where(of_source, rewards, np.nan), at, how)
    marks = of_source & (context.steps.row >= at) & (context.steps.row < end)
    moved = np.abs(rewards - how.undone(rewards))
    order = np.minimum(moved, np.nanmedian(moved[marks & (moved > 0)])) if (marks & (moved > 0)).any() else moved
    until = "" if end == len(numbers) else f" to {numbers[end - 1]}"
    effect = f"from step {step}{until} the rewards of {whose} {how.wording()}: {clearest.before} before, {clearest.after} after"
    crossed, measured = ("factor", how.factor) if how.factor != 1 else ("shift", how.in_spreads)
    shown = context.clearest(marks & (moved > 0), order - 1e-9 * np.nanmax(moved) * context.steps.row)
    return Found(effect, step, int(numbers[end - 1]), crossed, measured, how.z, shown)


def _end(steps: Steps, rewards: Float64Array, at: int, how: Rescaling) -> int:
    """Index behind the last step on the other scale: level and spread of those behind it are nearer to what they were before."""
    curves = np.stack([steps.mean(rewards), steps.std(rewards)])
    known = np.flatnonzero(np.isfinite(curves).all(axis=0))
    curves, first = curves[:, known], int(np.searchsorted(known, at))
    before = np.median(curves[:, max(0, first - _AROUND) : first], axis=1, keepdims=True)
    way = np.array([[how.factor], [abs(how.factor)]]) * before + [[how.shift], [0.0]] - before
    back = ((curves - before) * way).sum(axis=0) < np.square(way).sum() / 2
    runs = np.flatnonzero(back[first + LEAST_AFTER - 1 : -1] & back[first + LEAST_AFTER :])
    return int(known[first + LEAST_AFTER - 2 + runs[0]]) + 1 if len(runs) else len(steps.numbers)


def _names(context: Context, sources: list[int]) -> Iterator[str]:
    if np.unique(context.sources).size == len(sources):
        yield "all rollouts"
        return
    for source in sources:
        row = int(np.flatnonzero(context.sources == source)[0])
        yield "rollouts without a data source" if source < 0 else f"data source {context.frame['data_source'].iloc[row]}"


KIND: Final = declared("reward_scale_jump", _look)
