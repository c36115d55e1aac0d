"""The logged advantages of some rollouts do not follow from the rewards, or from returns and values, by the rule of the others.

Or all of them are centred over other rows than those of their groups.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from board.analysis.rollouts.advantage_audit import LOGGED, step_starts
from board.findings.context import Context
from board.findings.contract import Answer, CannotTell, Found, Limits, declared
from board.findings.spreading import Outbreak, judged
from board.findings.throughout import LEAST_ROWS, NEARLY_ALL, Look, Seen, level
from board.metrics.advantage_rules import ABSOLUTE, RELATIVE, GroupedRewards, fits
from board.metrics.formulas import Float64Array
from board.metrics.step_sums import Steps
from board.text.counting import plural
from board.text.format_number import fmt

_FOLLOWED: Final = 0.6
"""So large a share of the rollouts that can tell must follow a rule for it to be the run's."""
_TURNED: Final = 0.9
"""So large a share must follow it with the opposite sign, where the rule is followed by none."""
_LEAST_ROWS: Final = 20
_MATERIAL: Final = 0.05
"""An advantage breaks the rule by so large a share of what is typical, or more."""
_DRAWN: Final = 16
"""So many lines are drawn: where a third of the rollouts break the rule, none of them is through two others in one of 50,000 steps."""


@dataclass(frozen=True)
class _Followed:
    """A rule, and how the rollouts stand to it: arrays of (rows,)."""

    rule: str
    expected: Float64Array
    """NaN where it says nothing."""
    breaks: NDArray[np.bool_]

    def share(self, logged: Float64Array, early: NDArray[np.bool_]) -> float:
        """Share of the rollouts that keep it, of those where it says something else than 0: of all, or of the `early` ones if that is more.

        What is broken for all from a step on was a rule before.
        """
        telling = np.isfinite(self.expected) & ((np.abs(self.expected) > ABSOLUTE) | (np.abs(logged) > ABSOLUTE))
        some = [rows for rows in (telling, telling & early) if rows.sum() >= _LEAST_ROWS]
        return max((1 - float(self.breaks[rows].mean()) for rows in some), default=0.0)


def _look(context: Context, limits: Limits) -> Answer:
    column = next((name for name in LOGGED if context.has(name)), None)
    if column is None:
        return CannotTell("no rollout has advantages, or a number advantage")
    logged = context.number(column)
    rules = _rules(context, logged)
    if not rules:
        return CannotTell("no rollout has an advantage with a reward in a group, or with returns and values")
    early = ~context.since(max(1, len(context.steps.numbers) // 5))
    if max(int(np.isfinite(rule.expected).sum()) for rule in rules) < _LEAST_ROWS:
        return CannotTell(
            f"fewer than {_LEAST_ROWS} rollouts have an advantage on a token that counts, in a group with all its rewards"
        )
    best = max(rules, key=lambda rule: rule.share(logged, early))
    if best.share(logged, early) < _FOLLOWED:
        return _turned(context, logged) or CannotTell("the logged advantages follow no rule it knows")
    found = judged(context, best.breaks, np.isfinite(best.expected), limits)
    return None if found is None else _found(context, best, logged, found)


def _rules(context: Context, logged: Float64Array) -> list[_Followed]:
    return [*_of_groups(context, logged), *_of_critic(context, logged)]


def _turned(context: Context, logged: Float64Array) -> Found | None:
    """All advantages, from the first step on, where they follow a rule but for their sign."""
    best = max(_rules(context, -logged), key=lambda rule: rule.share(-logged, np.zeros(len(logged), np.bool_)))
    share = best.share(-logged, np.zeros(len(logged), np.bool_))
    if share < _TURNED:
        return None
    wrong = np.abs(np.nan_to_num(best.expected)) > ABSOLUTE
    effect = f"from the first step on {fmt(100 * share)} % of the advantages are what the rewards make them, but for their sign, which is "
    effect += f"the opposite ({best.rule}): better responses are punished"
    steps, shown = context.steps.of_rows[wrong], context.clearest(wrong, np.abs(logged))
    return Found(effect, int(steps.min()), int(steps.max()), "share", share, float(np.sqrt(wrong.sum())), shown)


def _of_groups(context: Context, logged: Float64Array) -> list[_Followed]:
    """Every rule of rewards in groups, over groups that are as large as most."""
    grouped = context.grouped
    if grouped is None or not np.isfinite(grouped.rewards).any():
        return []
    rows = context.rows_of(grouped.keys)
    sizes = grouped.groups["rollouts"].to_numpy()
    usual = int(np.bincount(sizes).argmax())
    whole = (sizes == usual) | ((sizes == usual).mean() < 0.5)
    whole &= grouped.groups["scored"].to_numpy() == sizes
    in_whole = np.repeat(whole, sizes)
    rules = []
    for fit in fits(GroupedRewards(grouped.rewards, grouped.starts, step_starts(grouped)), logged[rows]):
        expected = np.full(len(logged), np.nan)
        expected[rows] = np.where(in_whole, logged[rows] - fit.errors, np.nan)
        rules.append(_Followed(f"{fit.rule.name}, {fit.rule.formula}", expected, _breaks(logged, expected)))
    return rules


def _of_critic(context: Context, logged: Float64Array) -> list[_Followed]:
    """Return minus value, as it is or whitened by step."""
    error = context.number("return_mean") - context.number("value_mean")
    if np.isfinite(error + logged).sum() < _LEAST_ROWS:
        return []
    whitened = line_by_step(context.steps, error, logged)
    found = [("return − value", error), ("return − value, whitened by step", whitened)]
    return [_Followed(rule, expected, _breaks(logged, expected)) for rule, expected in found]


def _breaks(logged: Float64Array, expected: Float64Array) -> NDArray[np.bool_]:
    """Which advantages are farther from what is expected than rounding, of them or of the rewards, explains."""
    size = np.abs(expected)[np.abs(expected) > ABSOLUTE]
    rounding = max(ABSOLUTE, _MATERIAL * float(np.median(size))) if len(size) else ABSOLUTE
    off = np.abs(logged - expected)
    return np.isfinite(off) & (off > rounding + RELATIVE * np.abs(expected))


def line_by_step(steps: Steps, x: Float64Array, y: Float64Array) -> Float64Array:
    """What y is by the line through most of a step's rollouts, y = a x + b: (n,) numbers, NaN where x or y is missing.

    Of lines through two rollouts drawn at random that which most are near to (Rousseeuw 1984), then the least squares of the half of the
    rollouts that are nearest to it.
    """
    both = np.isfinite(x) & np.isfinite(y)
    x, y = np.where(both, x, np.nan), np.where(both, y, np.nan)
    best, line = np.full(len(steps.numbers), np.inf), np.full(len(x), np.nan)
    for one, other in _pairs(steps, both):
        with np.errstate(invalid="ignore", divide="ignore"):
            drawn = y[one][steps.row] + ((y[other] - y[one]) / (x[other] - x[one]))[steps.row] * (x - x[one][steps.row])
        error = np.nan_to_num(steps.median(np.abs(y - drawn)), nan=np.inf)
        line = np.where((error < best)[steps.row], drawn, line)
        best = np.minimum(best, error)
    near = np.abs(y - line) <= best[steps.row]
    near_x, near_y = np.where(near, x, np.nan), np.where(near, y, np.nan)
    mean_x, mean_y = steps.mean(near_x), steps.mean(near_y)
    off = near_x - mean_x[steps.row]
    slope = steps.sum(off * (near_y - mean_y[steps.row])) / steps.sum(np.square(off))
    return slope[steps.row] * (x - mean_x[steps.row]) + mean_y[steps.row]


def _pairs(steps: Steps, both: NDArray[np.bool_]) -> Iterator[tuple[NDArray[np.int64], NDArray[np.int64]]]:
    """_DRAWN times two rows of each step, (k,) each, of those with both numbers; the same row twice where a step has no two."""
    dice = np.random.default_rng(0)
    order = np.lexsort([dice.random(len(both)), ~both, steps.row])
    firsts = np.searchsorted(steps.row, np.arange(len(steps.numbers)))
    count = np.maximum(1, np.bincount(steps.row[both], minlength=len(firsts)))
    for at in range(_DRAWN):
        yield order[firsts + 2 * at % count], order[firsts + (2 * at + 1) % count]


def _found(context: Context, followed: _Followed, logged: Float64Array, found: Outbreak) -> Found:
    breaks = followed.breaks & context.since(found.at)
    turned = float((np.sign(logged[breaks]) == -np.sign(followed.expected[breaks])).mean())
    effect = f"from step {found.step} on {fmt(100 * found.share)} % of the advantages ({plural(found.count, 'rollout')})"
    effect += f"{context.in_rank(breaks)} are not what the rewards make them by the rule of the others ({followed.rule})"
    if turned > 0.5:
        effect += f", and {fmt(100 * turned)} % of these have the opposite sign"
    return found.found(effect, context.clearest(breaks, np.abs(logged - followed.expected)))


def not_centred(context: Context, least: float) -> Look:
    """Advantages that follow the rewards in a line, and are centred over other rows than those of their groups.

    Centred over some rows: their means there are nearly 0. Those of a critic follow no line.
    """
    column = None if context.has("values") else next((name for name in LOGGED if context.has(name)), None)
    rewards, group = context.number("reward"), context.group_rows
    known = np.isfinite(rewards) & (group >= 0) & (np.isfinite(context.number(column)) if column else False)
    # members that lack theirs are missing in the mean
    lacking = np.bincount(group[group >= 0], ~known[group >= 0])
    known[known] = lacking[group[known]] == 0
    frame = context.frame[known]
    table = pd.DataFrame({"advantage": context.number(column or "advantage")[known], "reward": rewards[known]}, frame.index)
    of = [pd.Series(group[known], frame.index)]
    table, of = table[_size(table, of) > 1], [of[0][_size(table, of) > 1]]
    if column is None or len(table) < LEAST_ROWS:
        return CannotTell(f"fewer than {LEAST_ROWS} rollouts of a group have a reward and an advantage that is no critic's")
    spread = float(table["advantage"].std())
    apart = table.groupby(of, observed=True)["advantage"].transform("mean").abs().groupby(frame["step"]).mean()
    if not spread > 0 or not (apart >= least * spread).any():
        return None
    # before the first step that is off it is another rule
    table = table[frame.loc[table.index, "step"] >= (begins := apart.index[int((apart >= least * spread).to_numpy().argmax())])]
    of, frame = [of[0].loc[table.index]], frame.loc[table.index]
    step = [frame["step"]]
    named = {name: [*step, frame[name].astype(str)] for name in ("data_source", "rank", "shard") if name in frame}
    named = {name: by for name, by in named.items() if table.groupby(by).ngroups > frame["step"].nunique()}
    size = int(_size(table, of).mode().iloc[0])
    behind = context.frame.groupby(["step", "shard"], observed=True).cumcount().loc[table.index] // size
    places = {f"each {name.replace('_', ' ')} of a step": by for name, by in named.items()}
    places[f"each {size} rows of a step that were written one after the other"] = [*step, frame["shard"], behind]
    places |= {"each step": step, "the whole run": [pd.Series(0, table.index)]}
    centred = [(place, by) for place, by in places.items() if _off_centre(table, by) < least * spread]
    place, by = centred[0] if centred else ("", step)
    large = _size(table, of) > 2  # two always lie on a line
    off, since = _off_centre(table, of), "the first step" if begins == apart.index[0] else f"step {begins}"
    if off < least * spread or max(_line(table, by), _line(table[large], [of[0][large]])) < NEARLY_ALL:
        return None
    flat = (table.groupby(of)["reward"].transform("nunique") == 1) & (table["advantage"].abs() > least * spread)
    marks, shown = np.isin(context.keys, table.index), np.isin(context.keys, table.index[flat])
    effect = f"from {since} on the mean advantage of a group is {fmt(off)} off 0 (they spread by {fmt(spread)})"
    effect += f": they are centred over {place} instead" if place else ": they are centred over no rows"
    also = f"; {plural(int(flat.sum()), 'rollout')} of groups with equal rewards have an advantage other than 0"
    effect += also if flat.any() else ""
    return Seen(marks, effect, off / spread, by=np.where(shown, np.abs(context.number(column)), -1))


def _size(table: pd.DataFrame, by: list[pd.Series]) -> pd.Series:
    return table.groupby(by, observed=True)["reward"].transform("size")


def _off_centre(table: pd.DataFrame, by: list[pd.Series]) -> float:
    """How far the mean advantage of some rows is off 0: the mean of |mean| over the rows."""
    return float(table.groupby(by, observed=True)["advantage"].transform("mean").abs().mean())


def _line(table: pd.DataFrame, by: list[pd.Series]) -> float:
    """The share of the advantages' spread that lines through the rewards explain, one for each of the sets of rows."""
    off = table - table.groupby(by, observed=True).transform("mean")
    sums = (off["advantage"] * off["reward"]).groupby(by, observed=True).transform("sum")
    squares = off["reward"].pow(2).groupby(by, observed=True).transform("sum")
    left = off["advantage"] - (sums / squares.where(squares > 0)).fillna(0) * off["reward"]
    total = float(off["advantage"].pow(2).sum())
    return 1 - float(left.pow(2).sum()) / total if total > 0 else 0.0


KIND: Final = declared("advantage_bug", _look)
NOT_CENTRED: Final = level("advantages_not_centred", not_centred)
