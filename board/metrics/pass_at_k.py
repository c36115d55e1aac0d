"""Estimates of pass@k from n responses. Arrays in, arrays out."""

from typing import Final

import numpy as np
from numpy.typing import NDArray

from board.metrics.formulas import Float64Array

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
