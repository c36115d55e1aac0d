"""Rollouts of two runs paired by common prompts, and the difference of a number.

A pair is one prompt at one step, or a prompt's last visits, with the mean of the number over its rollouts in either run. Differences are B
− A. Rollouts of one prompt are alike, and so are its visits: intervals draw whole prompts (`board.analysis.stats.bootstrap`).
"""

from dataclasses import dataclass
from typing import Final, Literal

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from board.analysis.prompts.prompt_visits import cleared
from board.analysis.stats.bootstrap import mean_intervals
from board.metrics.formulas import Float64Array
from board.metrics.step_sums import Steps

IntArray = NDArray[np.int64]

Visits = Literal["same step", "last"]
"""What is paired of a prompt: every step at which both runs saw it, or the last visit of each, whatever its step."""

PAIRS: Final = (
    *("prompt", "step_a", "step_b", "rollouts_a", "rollouts_b", "mean_a", "mean_b", "difference"),
    *("first_a", "first_b"),
)
"""Columns of `pairs`, in order: the last two are the rows of the first rollouts."""

PROMPTS: Final = ("pairs", "rollouts_a", "rollouts_b", "mean_a", "mean_b", "difference", "widest")
"""Columns of `by_prompt`, in order."""

BY_STEP: Final = ("step", "difference", "low", "high", "prompts")
"""Columns of `by_step`, in order."""


@dataclass(frozen=True)
class Rollouts:
    """What is compared of one run, (n,) each, in any order."""

    steps: IntArray
    prompts: IntArray
    """Numbers that are equal for one prompt, in both runs."""
    values: Float64Array
    """What is not finite is missing."""

    def known(self, no_prompt: int) -> NDArray[np.bool_]:
        """Which have a prompt and a number. (n,)"""
        found: NDArray[np.bool_] = np.isfinite(self.values) & (self.prompts != no_prompt)
        return found


def pairs(a: Rollouts, b: Rollouts, no_prompt: int, visits: Visits = "same step") -> pd.DataFrame:
    """A row per pair, columns PAIRS, by step (of B) and prompt; rollouts of `no_prompt` or without a number enter none.

    `rollouts_a`, `mean_a`: how many of A and the mean of their numbers; a difference that is the rounding of sums alone is zero.
    """
    of_a, of_b = (_visited(one, no_prompt) for one in (a, b))
    if visits == "last":
        of_a, of_b = (one.sort_values("step", kind="stable").drop_duplicates("prompt", keep="last") for one in (of_a, of_b))
    both = pd.merge(of_a, of_b, on=["prompt"] if visits == "last" else ["step", "prompt"], suffixes=("_a", "_b"))
    if visits == "same step":
        both = both.assign(step_a=both["step"], step_b=both["step"])
    with np.errstate(over="ignore", invalid="ignore"):
        sizes = both["size_a"].to_numpy() + both["size_b"].to_numpy()
        both["difference"] = cleared((both["mean_b"] - both["mean_a"]).to_numpy(np.float64), sizes)
    return both.sort_values(["step_b", "prompt"], kind="stable", ignore_index=True)[list(PAIRS)]


def _visited(side: Rollouts, no_prompt: int) -> pd.DataFrame:
    """A row per prompt and step of one run: prompt, step, rollouts, mean, size (mean without signs), first (the row of its first rollout)."""
    rows = np.flatnonzero(side.known(no_prompt))
    step, steps = pd.factorize(side.steps[rows])
    prompt, prompts = pd.factorize(side.prompts[rows])
    visit, names = pd.factorize(step.astype(np.int64) * max(1, len(prompts)) + prompt)
    values, count = side.values[rows], len(names)
    first = np.zeros(count, np.int64)
    first[visit[::-1]] = rows[::-1]  # of places that are named often the last one written stays
    rollouts = np.bincount(visit, minlength=count)
    with np.errstate(over="ignore", invalid="ignore"):
        mean, size = (np.bincount(visit, one, count) / rollouts for one in (values, np.abs(values)))
    found = {"prompt": prompts[names % max(1, len(prompts))], "step": steps[names // max(1, len(prompts))]}
    return pd.DataFrame({**found, "rollouts": rollouts.astype(np.int64), "mean": mean, "size": size, "first": first})


def by_prompt(paired: pd.DataFrame) -> pd.DataFrame:
    """A row per prompt of `pairs`, index its key, columns PROMPTS, those first whose difference is largest, ties in the order of keys.

    `pairs`: how many; `rollouts_a` and `rollouts_b` of all of them; means and `difference` are means over its pairs; `widest`: the row in
    `paired` of the pair that is furthest apart.
    """
    grouped = paired.groupby("prompt")
    found = grouped[["rollouts_a", "rollouts_b"]].sum().assign(pairs=grouped.size())
    found = found.join(grouped[["mean_a", "mean_b", "difference"]].mean())
    found["difference"] = cleared(found["difference"].to_numpy(np.float64), _sizes(paired, "difference"))
    furthest = paired.loc[paired["difference"].abs().sort_values(kind="stable", ascending=False).index, ["prompt"]]
    found["widest"] = furthest.reset_index(names="widest").groupby("prompt")["widest"].first()
    return found.sort_values("difference", key=lambda one: -one.abs(), kind="stable")[list(PROMPTS)]


def _sizes(paired: pd.DataFrame, name: str) -> Float64Array:
    """Of each prompt, in the order of keys, the mean of a column without its signs."""
    sizes: Float64Array = paired[name].abs().groupby(paired["prompt"]).mean().to_numpy(np.float64)
    return sizes


def by_step(paired: pd.DataFrame) -> pd.DataFrame:
    """A row per step (of B), columns BY_STEP: mean difference over its pairs, 95 % interval over prompts (NaN of one prompt), how many."""
    steps = Steps(paired["step_b"].to_numpy(np.int64))
    differences, prompts = paired["difference"].to_numpy(np.float64), paired["prompt"].to_numpy(np.int64)
    low, high = mean_intervals(steps, differences, prompts)
    found = {"step": steps.numbers, "difference": steps.mean(differences), "low": low, "high": high}
    return pd.DataFrame(found | {"prompts": np.bincount(steps.row, minlength=len(steps.numbers))})[list(BY_STEP)]


@dataclass(frozen=True)
class PairedDifference:
    """How far B lies above A on the prompts that both saw."""

    prompts: int
    pairs: int
    difference: float
    """The mean over all pairs; NaN where there is none."""
    low: float
    high: float
    """Ends of the 95 % interval by bootstrap over prompts; NaN of fewer than two prompts."""
    win: int
    """Prompts whose mean difference is above zero."""
    tie: int
    loss: int

    @property
    def excludes_zero(self) -> bool:
        """Whether zero is outside the interval."""
        return self.low > 0 or self.high < 0


def overall(paired: pd.DataFrame) -> PairedDifference:
    """All pairs together: each weighs the same, and a prompt that was visited at many steps is drawn with all its pairs or not at all."""
    differences, prompts = paired["difference"].to_numpy(np.float64), paired["prompt"].to_numpy(np.int64)
    at_once = Steps(np.zeros(len(paired), np.int64))
    low, high = (float(one[0]) if len(one) else np.nan for one in mean_intervals(at_once, differences, prompts))
    with np.errstate(over="ignore", invalid="ignore"):
        mean = float(differences.mean()) if len(differences) else np.nan
    signs = np.sign(by_prompt(paired)["difference"].to_numpy(np.float64))
    win, tie, loss = (int((signs == sign).sum()) for sign in (1, 0, -1))
    return PairedDifference(len(signs), len(paired), mean, low, high, win, tie, loss)


def unpaired(side: Rollouts, paired: pd.DataFrame, no_prompt: int) -> int:
    """How many prompts of a run are in no pair, those without any number included."""
    prompts = pd.unique(side.prompts[side.prompts != no_prompt])
    return int((~np.isin(prompts, paired["prompt"].to_numpy(np.int64))).sum())
