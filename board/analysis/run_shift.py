"""Two runs by their numbers: how far the distribution of one lies apart, and the means of many. Runs in, numbers and a small frame out.

Which prompts are the same is `shared_prompts`' to say; the statistics are `distribution_shift`'s and `mean_differences`'. Draws nothing.
"""

from collections.abc import Sequence

import numpy as np
import pandas as pd

from board.analysis.distribution_shift import DistributionShift, PromptValues, shift
from board.analysis.mean_differences import mean_differences
from board.analysis.prompt_draws import PromptDraws
from board.analysis.shared_prompts import shared_prompts
from board.analysis.step_stats import finite_values
from board.runs.prompt_keys import NO_PROMPT
from board.runs.run import Run


def run_shift(baseline: Run, other: Run, number: str) -> DistributionShift:
    """The shift of a column of the frame, over the rollouts that have it. Raises FieldMissing where either run lacks the column."""
    keys = shared_prompts(baseline, other)
    sides = []
    for run, prompts in ((baseline, keys.a), (other, keys.b)):
        values = finite_values(run.frame, number)
        known = np.isfinite(values)
        sides.append(PromptValues(values[known], prompts[known]))
    return shift(sides[0], sides[1], NO_PROMPT)


def run_means(a: Run, b: Run, numbers: Sequence[str]) -> pd.DataFrame:
    """The means of columns of both frames, as `mean_differences.mean_differences` has them."""
    keys = shared_prompts(a, b)
    return mean_differences(a.frame, b.frame, numbers, PromptDraws(keys.a, keys.b, NO_PROMPT))
