"""Bootstrap over the prompts of two runs at once. Keys in, weights out.

Rollouts of one prompt are alike, so whole prompts are drawn, with all their rollouts of either run: a prompt that both runs saw is drawn for
both, so that what it adds to either cancels in a difference; prompts of one run alone are drawn among themselves, as many as there are.
Cluster bootstrap, stratified: Davison and Hinkley, Bootstrap Methods and their Application (1997), sections 3.2 and 3.8.
"""

from typing import Final

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from board.analysis.stats.bootstrap import MOST_UNITS, drawn, units_of
from board.metrics.formulas import Float64Array

_SEED: Final = 0

IntArray = NDArray[np.int64]


class PromptDraws:
    """RESAMPLES draws of the prompts of two runs. Of more than MOST_UNITS prompts of a kind blocks of them are drawn in their place."""

    def __init__(self, prompts_a: IntArray, prompts_b: IntArray, no_prompt: int) -> None:
        """`prompts_a` (n,) and `prompts_b` (m,): equal numbers are one prompt; rollouts of `no_prompt` are each drawn by themselves."""
        units, names = pd.factorize(units_of(np.concatenate([prompts_a, prompts_b]), no_prompt))
        in_a, in_b = (np.bincount(of, minlength=len(names)) > 0 for of in np.split(units, [len(prompts_a)]))
        block = np.zeros(len(names), np.int64)
        weights: list[Float64Array] = []
        for kind, of_kind in enumerate((in_a & ~in_b, in_a & in_b, in_b & ~in_a)):
            there = np.flatnonzero(of_kind)
            blocks = min(len(there), MOST_UNITS)
            rng = np.random.default_rng([_SEED, kind, len(there)])
            block[rng.permutation(there)] = sum(one.shape[1] for one in weights) + np.arange(len(there)) % max(1, blocks)
            weights.append(drawn(rng, blocks))
        self.weights: Float64Array = np.concatenate(weights, axis=1)
        """(RESAMPLES, blocks): how often each block is drawn."""
        self.a, self.b = np.split(block[units], [len(prompts_a)])
        """(n,) and (m,): the block that each rollout is of."""
        self.prompts = int(in_a.sum()), int(in_b.sum())
        """How many prompts each run has, those without one counted by rollouts."""
        self.shared = int((in_a & in_b).sum())
        """How many of them both have."""

    @property
    def tell(self) -> bool:
        """Whether there are prompts enough for an interval: two of each run."""
        return min(self.prompts) > 1
