"""Statistics of the rewards of a step's groups: is there anything left to learn from?

Arrays in, one number per step out.
"""

from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from board.metrics.formulas import Float64Array, FloatArray
from board.metrics.step_sums import Steps

GROUP_STATISTICS: Final = (
    *("count", "size_mean"),
    *("zero_std_share", "all_best_share", "all_worst_share", "std_mean", "signal_to_noise", "best_mean"),
)
"""Statistics of `group_statistics`: those of `group_sizes`, then those of `group_rewards`."""


@dataclass(frozen=True)
class Groups:
    """The groups of all steps, g of them, in the order of their steps."""

    members: Steps
    """Which group each of the rollouts that have one is of, in the order of the groups."""
    order: NDArray[np.int64]
    """Which rollout each of those members is."""
    steps: Steps
    """Which step each group is of."""


def find_groups(steps: Steps, groups: FloatArray, enter: NDArray[np.bool_]) -> Groups:
    """The groups of the rollouts that enter. `groups` (rollouts,) numbers those of each step; every one that enters must have one."""
    entering = np.flatnonzero(enter)
    numbers = groups[entering].astype(np.int64)
    width = int(numbers.max(initial=0)) + 1
    ids = steps.row[entering] * width + numbers
    order = np.argsort(ids, kind="stable")
    members = Steps(ids[order])
    return Groups(members, entering[order], Steps(steps.numbers[members.numbers // width]))


def group_statistics(steps: Steps, rewards: FloatArray, groups: FloatArray) -> dict[str, Float64Array]:
    """GROUP_STATISTICS by name, each (steps,). `rewards` and `groups` are (rollouts,), NaN where one is missing."""
    count, size_mean = group_sizes(steps, groups)
    return {"count": count, "size_mean": size_mean, **group_rewards(steps, rewards, groups)}


def group_sizes(steps: Steps, groups: FloatArray) -> tuple[Float64Array, Float64Array]:
    """How many groups each step has, and how many rollouts one of them has on average; each (steps,), NaN where none is known."""
    found = find_groups(steps, groups, np.isfinite(groups))
    return _onto(steps, found, found.steps.sizes), _onto(steps, found, found.steps.mean(found.members.sizes))


def group_rewards(steps: Steps, rewards: FloatArray, groups: FloatArray) -> dict[str, Float64Array]:
    """How rewards differ within groups, by name, each (steps,). `rewards` and `groups` are (rollouts,); a rollout without either enters nothing.

    A group of one scored rollout has no spread and enters `best_mean` alone. Variances are of the population (ddof 0). `all_best` and
    `all_worst` are groups whose rewards all equal the step's largest or smallest reward; NaN where these do not differ.
    """
    found = find_groups(steps, groups, np.isfinite(rewards) & np.isfinite(groups))
    values = np.asarray(rewards, np.float64)[found.order]
    several = found.members.sizes > 1
    low, high, std = (getattr(found.members, stat)(values) for stat in ("min", "max", "std"))
    mean = np.where(several, found.members.mean(values), np.nan)
    step_high, step_low = (extreme[found.steps.row] for extreme in (found.steps.max(high), found.steps.min(low)))
    differ = several & (step_high > step_low)
    equal = low == high
    with np.errstate(divide="ignore", invalid="ignore"):
        noise = found.steps.mean(np.where(several, np.square(std), np.nan))
        ratio = np.square(found.steps.std(mean)) / np.where(noise > 0, noise, np.nan)
    of_groups = {
        "zero_std_share": found.steps.mean(np.where(several, equal, np.nan)),
        "all_best_share": found.steps.mean(np.where(differ, equal & (low == step_high), np.nan)),
        "all_worst_share": found.steps.mean(np.where(differ, equal & (high == step_low), np.nan)),
        "std_mean": found.steps.mean(np.where(several, std, np.nan)),
        "signal_to_noise": ratio,
        "best_mean": found.steps.mean(high),
    }
    return {name: _onto(steps, found, values) for name, values in of_groups.items()}


def _onto(steps: Steps, found: Groups, values: Float64Array) -> Float64Array:
    """Numbers of the steps that have groups, for all steps; NaN elsewhere."""
    spread = np.full(len(steps.numbers), np.nan)
    spread[np.searchsorted(steps.numbers, found.steps.numbers)] = values
    return spread


MOST_K: Final = 1_024
"""The largest k that is computed."""


def pass_at_k(counts: NDArray[np.int64], right: NDArray[np.int64], k: int) -> Float64Array:
    """1 − C(n − c, k) / C(n, k), without bias, for n `counts` and c `right`, 0 ≤ c ≤ n (Chen et al. 2021, arXiv:2107.03374, equation 1).

    Both arrays are (groups,), k is at least 1; NaN where fewer than k were sampled. Binomials as sums of logarithms: their ratio is right to
    about ten digits up to a million samples.
    """
    found = np.full(len(counts), np.nan)
    enough = counts >= k
    n, wrong = counts[enough], (counts - right)[enough]
    logs = np.concatenate([[0.0], np.cumsum(np.log(np.arange(1, int(n.max(initial=0)) + 1)))])
    spare = np.maximum(wrong - k, 0)
    none_right = np.exp((logs[wrong] - logs[n]) + (logs[n - k] - logs[spare]))  # each exactly 0 where all are wrong
    found[enough] = np.where(wrong >= k, 1.0 - none_right, 1.0)
    return found


def powers_of_two(largest: int) -> list[int]:
    """1, 2, 4, … up to `largest` and MOST_K, and at least 1."""
    return [1 << power for power in range(MOST_K.bit_length()) if 1 << power <= max(1, largest)]
