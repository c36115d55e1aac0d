"""Groups of a step: the rollouts that were sampled from one prompt.

Arrays in, numbers out.
"""

from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from board.metrics.formulas import Float64Array
from board.schema import EVALUATION


def members(
    group_ids: "pd.Series[Any] | None", prompts: NDArray[np.int64], no_prompt: int, splits: "pd.Series[Any] | None"
) -> NDArray[np.int64]:
    """Equal numbers for rollouts that are of one group where they are of one step, -1 for one of no group; as in `group_numbers`. (rows,)"""
    by_id = pd.factorize(group_ids)[0] if group_ids is not None else np.full(len(prompts), -1)
    by_prompt = pd.factorize(prompts)[0] + by_id.max(initial=-1) + 1
    found: NDArray[np.int64] = np.where(by_id >= 0, by_id, np.where(prompts != no_prompt, by_prompt, -1))
    return found if splits is None else np.where(found < 0, found, 2 * found + (splits == EVALUATION))


def group_numbers(
    steps: NDArray[np.int64],
    group_ids: "pd.Series[Any] | None",
    prompts: NDArray[np.int64],
    no_prompt: int,
    splits: "pd.Series[Any] | None" = None,
    *,
    of_one: bool = False,
) -> Float64Array:
    """The number of each rollout's group within its step, from 1 in order of appearance. Shape (rows,).

    `steps` (rows,); `group_ids` (rows,) the trainer's, null where a row has none; `prompts` (rows,) keys that are equal for equal prompts,
    `no_prompt` where there is none. A row's group is the trainer's where it has one, else the rows of its step with the same prompt, those of
    an evaluation (`splits`) apart from those of training. NaN where there is neither, and everywhere when no group has a second member: then
    the run did not sample in groups. With `of_one`, for some steps of a run, groups of one are numbered all the same.
    """
    numbers = np.full(len(steps), np.nan)
    member = members(group_ids, prompts, no_prompt, splits)
    grouped = member >= 0
    if not grouped.any():
        return numbers
    step, _ = pd.factorize(steps[grouped])
    group, firsts = pd.factorize(step * np.int64(member.max() + 1) + member[grouped])
    if len(firsts) == len(group) and not of_one:
        return numbers
    step_of_group = firsts // (member.max() + 1)
    in_step = pd.Series(step_of_group).groupby(step_of_group).cumcount().to_numpy() + 1
    numbers[grouped] = in_step[group]
    return numbers
