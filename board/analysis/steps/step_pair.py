"""Two steps of a run compared by a number, and the prompts that moved most.

A run in, arrays and a small frame out; the statistics are `board.analysis.steps.step_shift`'s. Draws nothing.
"""

from dataclasses import dataclass

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from board.analysis.rollouts.selection import of_step
from board.analysis.steps.step_shift import PermutationTest, moved_prompts, permutation_test, wasserstein
from board.analysis.steps.step_stats import finite_values
from board.metrics.formulas import Float64Array
from board.runs.prompt_keys import NO_PROMPT
from board.runs.run import Run


@dataclass(frozen=True)
class Side:
    """The rollouts of one step that have the number."""

    step: int
    keys: NDArray[np.int64]
    values: Float64Array
    prompts: NDArray[np.int64]


@dataclass(frozen=True)
class Shift:
    """A number compared between the two steps."""

    a: Side
    b: Side
    distance: float
    test: PermutationTest
    moved: pd.DataFrame


def compare(run: Run, number: str, against: int, step: int) -> Shift:
    """Both steps by this number. Raises FieldMissing where the run lacks it."""
    a, b = (_side(run, number, one) for one in (against, step))
    own = [np.where(side.prompts == NO_PROMPT, -1 - np.arange(side.prompts.size), side.prompts) for side in (a, b)]
    test = permutation_test(a.values, b.values, *own)
    moved = moved_prompts(a.values, b.values, a.prompts, b.prompts, NO_PROMPT)
    return Shift(a, b, wasserstein(a.values, b.values), test, moved)


def _side(run: Run, number: str, step: int) -> Side:
    steps = run.frame["step"].to_numpy()
    first = int(np.searchsorted(steps, step))
    rows = of_step(run.frame, step)
    values = finite_values(rows, number)
    known = np.isfinite(values)
    prompts = run.prompt_keys[first : first + len(rows)]
    return Side(step, rows.index.to_numpy()[known], values[known], prompts[known])


def typical(side: Side, prompt: int) -> int:
    """The key of the prompt's rollout whose number is nearest to the mean of them all."""
    of_prompt = np.flatnonzero(side.prompts == prompt)
    values = side.values[of_prompt]
    return int(side.keys[of_prompt[np.abs(values - values.mean()).argmin()]])
