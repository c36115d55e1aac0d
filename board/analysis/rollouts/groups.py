"""Groups of a run, all steps at once: their rewards, how many are right, their kinds.

Frame in, frame out. A group is the rollouts of one step with the same number in the column `group` (`board.metrics.prompt_groups`).
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, Literal

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from board.analysis.rollouts.selection import numbers, of_step
from board.errors import FieldMissing
from board.metrics.formulas import Float64Array
from board.metrics.group_statistics import pass_at_k, powers_of_two

Kind = Literal["all right", "mixed", "all wrong", "no reward"]
MOST_CURVES: Final = 6
"""At most this many curves of pass@k stand in one panel."""
KINDS: Final[tuple[Kind, ...]] = ("all right", "mixed", "all wrong", "no reward")

BINARY: Final = 0.5
"""The reward from which a response is right unless the reader chooses another, where rewards lie between 0 and 1."""


@dataclass(frozen=True)
class Grouped:
    """The rollouts of a run that are of a group, group by group in the order of steps and numbers. g groups of m rollouts."""

    groups: pd.DataFrame
    """step, group, rollouts, scored, mean, std, best, worst, gap (best − mean), flat: (g,) rows. std is of the population; what has no finite
    reward enters none but `rollouts`. `flat` are groups of several scored rollouts with equal rewards: they give no gradient."""
    keys: NDArray[np.int64]
    """(m,) the members' keys, groups end to end, in the frame's order within each."""
    rewards: Float64Array
    """(m,) their rewards, NaN where missing."""
    starts: NDArray[np.int64]
    """(g + 1,) where each group begins."""

    def members(self, at: int) -> NDArray[np.int64]:
        """The keys of the group in row `at`."""
        return self.keys[self.starts[at] : self.starts[at + 1]]

    def by_reward(self, at: int) -> NDArray[np.int64]:
        """The keys of the group in row `at`, the best first; those without a reward last, ties in the frame's order."""
        rewards = self.rewards[self.starts[at] : self.starts[at + 1]]
        return self.members(at)[np.argsort(-np.nan_to_num(rewards, nan=-np.inf), kind="stable")]

    def place(self, step: int, group: int) -> int | None:
        """The row of a group; None where there is none."""
        found = np.flatnonzero((self.groups["step"].to_numpy() == step) & (self.groups["group"].to_numpy() == group))
        return int(found[0]) if len(found) else None


def find(frame: pd.DataFrame) -> Grouped:
    """The groups of a frame. Raises FieldMissing where no rollout is of a group."""
    if "group" not in frame.columns or not frame["group"].notna().any():
        raise FieldMissing("This needs group_id, or prompts that were sampled more than once in a step.")
    group = frame["group"].to_numpy(np.float64)
    rows = np.flatnonzero(np.isfinite(group))
    steps, ids = frame["step"].to_numpy(np.int64)[rows], group[rows].astype(np.int64)
    order = np.lexsort([ids, steps])
    rows, steps, ids = rows[order], steps[order], ids[order]
    first = np.concatenate([[True], (steps[1:] != steps[:-1]) | (ids[1:] != ids[:-1])])
    starts = np.append(np.flatnonzero(first), len(rows))
    rewards = numbers(frame, "reward")[rows]
    columns = {"step": steps[starts[:-1]], "group": ids[starts[:-1]], "rollouts": np.diff(starts)}
    return Grouped(pd.DataFrame(columns | _spread(rewards, starts)), frame.index.to_numpy()[rows], rewards, starts)


def with_any(grouped: Grouped, keys: NDArray[np.int64]) -> Grouped:
    """The groups that have any of these rollouts, each whole. Raises FieldMissing where none has."""
    chosen = np.logical_or.reduceat(np.isin(grouped.keys, keys), grouped.starts[:-1])
    if not chosen.any():
        raise FieldMissing("No group has a rollout that the filter leaves.")
    sizes = np.diff(grouped.starts)
    members = np.repeat(chosen, sizes)
    starts = np.concatenate([[0], np.cumsum(sizes[chosen])])
    return Grouped(grouped.groups[chosen].reset_index(drop=True), grouped.keys[members], grouped.rewards[members], starts)


def _spread(rewards: Float64Array, starts: NDArray[np.int64]) -> dict[str, NDArray[np.generic]]:
    """What the rewards of each group come to."""
    known, begins, sizes = np.isfinite(rewards), starts[:-1], np.diff(starts)
    scored = np.add.reduceat(known.astype(np.int64), begins)
    some = scored > 0
    with np.errstate(invalid="ignore", over="ignore"):
        mean = np.where(some, np.add.reduceat(np.where(known, rewards, 0.0), begins) / np.maximum(scored, 1), np.nan)
        off = np.where(known, rewards - np.repeat(mean, sizes), 0.0)
        std = np.where(some, np.sqrt(np.add.reduceat(off**2, begins) / np.maximum(scored, 1)), np.nan)
    best = np.where(some, np.maximum.reduceat(np.where(known, rewards, -np.inf), begins), np.nan)
    worst = np.where(some, np.minimum.reduceat(np.where(known, rewards, np.inf), begins), np.nan)
    flat = (scored > 1) & (best == worst)
    std[flat] = 0.0  # what rounding leaves of equal rewards is no spread
    mean = np.where(some & (best == worst), best, mean)
    return {"scored": scored, "mean": mean, "std": std, "best": best, "worst": worst, "gap": best - mean, "flat": flat}


def usual_threshold(rewards: Float64Array) -> float:
    """The reward from which a response is right unless the reader chooses another: BINARY where all lie from 0 to 1, else their middle.

    That is half-way between the least and the largest; NaN where there is none.
    """
    known = rewards[np.isfinite(rewards)]
    if not known.size:
        return np.nan
    low, high = float(known.min()), float(known.max())
    return BINARY if low >= 0 and high <= 1 else low / 2 + high / 2


def obvious_threshold(rewards: Float64Array) -> float:
    """Half-way between the two values that rewards have, 0.5 where they are all 0 or all 1; NaN where there are others, or none.

    From which one on a response is right only the reader knows then: rewards may be lengths.
    """
    known = rewards[np.isfinite(rewards)]
    low, high = float(known.min(initial=np.inf)), float(known.max(initial=-np.inf))
    if low == high:
        return BINARY if low in (0, 1) else np.nan
    return low / 2 + high / 2 if known.size and bool(((known == low) | (known == high)).all()) else np.nan


def judged(grouped: Grouped, threshold: float, k: int) -> pd.DataFrame:
    """The groups with `right` (how many have a reward of at least the threshold), `pass_at_k` and `kind`, one row each.

    A rollout without a reward is neither right nor wrong. `kind` is a category of KINDS: "no reward" where none of the group has one. Where
    the threshold is NaN none of the three says anything.
    """
    right = _right(grouped, threshold)
    scored = grouped.groups["scored"].to_numpy()
    codes = np.select([scored == 0, right == scored, right == 0], [3, 0, 2], 1)
    return grouped.groups.assign(
        right=right, pass_at_k=pass_at_k(scored, right, k), kind=pd.Categorical.from_codes(codes.astype(np.int8), pd.Index(KINDS))
    )


def _right(grouped: Grouped, threshold: float) -> NDArray[np.int64]:
    with np.errstate(invalid="ignore"):
        enough = (grouped.rewards >= threshold).astype(np.int64)
    return np.add.reduceat(enough, grouped.starts[:-1])


def shares(groups: pd.DataFrame) -> pd.DataFrame:
    """Shares (0 to 1) of a step's scored groups by step: all_right, mixed, all_wrong, flat, and how many there are as `count`.

    `groups` as of `judged`. `flat` is of the groups of several scored rollouts. A step without a scored group is not there.
    """
    scored = groups[groups["scored"] > 0]
    kinds = {kind.replace(" ", "_"): (scored["kind"] == kind).to_numpy(np.float64) for kind in KINDS[:3]}
    flat = np.where(scored["scored"] > 1, scored["flat"].to_numpy(np.float64), np.nan)
    by_step = pd.DataFrame({**kinds, "flat": flat}).groupby(scored["step"].to_numpy())
    return by_step.mean().assign(count=by_step.size()).rename_axis("step")


def pass_by_step(grouped: Grouped, threshold: float, ks: Sequence[int]) -> pd.DataFrame:
    """Mean pass@k of a step's groups by step, a column for each k: over the groups with k scored rollouts or more, NaN where none has."""
    right, scored = _right(grouped, threshold), grouped.groups["scored"].to_numpy()
    found = pd.DataFrame({k: pass_at_k(scored, right, k) for k in ks})
    return found.groupby(grouped.groups["step"].to_numpy()).mean().rename_axis("step")


def usual_ks(grouped: Grouped) -> list[int]:
    """The k whose pass@k is drawn: powers of two up to the size of the largest group, and 1,024; of more than MOST_CURVES evenly many."""
    every = powers_of_two(int(grouped.groups["scored"].max()))
    return [every[at] for at in np.unique(np.linspace(0, len(every) - 1, MOST_CURVES).round().astype(np.int64))]


def in_order(groups: pd.DataFrame, step: int, by: str, *, descending: bool) -> pd.DataFrame:
    """The groups of a step in the order of a column, missing numbers last and ties in the order of the groups."""
    rows = of_step(groups, step)
    return rows.sort_values(by, ascending=not descending, kind="stable", na_position="last")


def without_group(frame: pd.DataFrame) -> int:
    """How many rollouts are of no group."""
    return int(frame["group"].isna().sum()) if "group" in frame.columns else len(frame)
