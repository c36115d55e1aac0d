"""How far two arrays of logprobs of the same tokens are apart when laid on each other as they are, and a token earlier or later.

A part in, columns out (a measure of `rollout_measures`). Knows no run and no threshold.
"""

from typing import Final

import numpy as np
from numpy.typing import NDArray

from board.metrics.formulas import Float64Array
from board.runs.parts import COUNTS, Part

PAIRS: Final = {
    "ref": ("logprobs", "ref_logprobs"),
    "engine": ("logprobs", "rollout_logprobs"),
    "old": ("logprobs", "old_logprobs"),
    "sampled": ("ref_logprobs", "rollout_logprobs"),
}
"""Arrays that measure the same tokens."""

LAGS: Final = (-1, 0, 1)
"""Lag 1 lays a token of the first array on the next one of the second."""


def column(pair: str, lag: int) -> str:
    """The column of a pair at a lag."""
    return f"{pair}_apart{lag:+d}"


def measure(part: Part) -> dict[str, Float64Array]:
    """Mean of |first[t] − second[t + lag]| in nats over the tokens of each rollout that count and have both, (n,) for every pair and lag.

    Tokens at the ends, which one of the lags lacks, are left out of all, so that the three are of the same tokens. NaN for fewer than three.
    """
    found = {column(pair, lag): np.full(len(part), np.nan) for pair in PAIRS for lag in LAGS}
    if COUNTS not in part.tokens.column_names:
        return found
    lists = part.tokens.column(COUNTS).chunk(0)
    counts, offsets = lists.values.to_numpy(zero_copy_only=False), lists.offsets.to_numpy()
    inner = np.zeros(len(counts) + 1, np.bool_)
    inner[1:-1] = True
    inner[offsets] = False  # the first token of a rollout; the last one is before the first of the next
    inner = inner[:-1] & inner[1:] if len(counts) else inner[:0]
    for pair, names in PAIRS.items():
        if all(name in part.tokens.column_names for name in names):
            x, y = (_counted(part, name, counts) for name in names)
            found |= {column(pair, lag): mean for lag, mean in _apart(x, y, inner, offsets).items()}
    return found


def _counted(part: Part, name: str, counts: NDArray[np.bool_]) -> NDArray[np.float32]:
    """An array with NaN for tokens that do not count."""
    values = part.tokens.column(name).chunk(0).values.to_numpy()
    return values if counts.all() else np.where(counts, values, np.nan).astype(np.float32)


def _apart(
    x: NDArray[np.float32], y: NDArray[np.float32], inner: NDArray[np.bool_], offsets: NDArray[np.int64]
) -> dict[int, Float64Array]:
    """The means by lag, over the inner tokens with a number at every lag."""
    if len(x) < 3:
        return {}
    gaps = {lag: np.abs(x[1:-1] - y[1 + lag : len(y) - 1 + lag]) for lag in LAGS}
    known = inner[1:-1] & np.isfinite(gaps[-1] + gaps[0] + gaps[1])
    before = np.concatenate([[0, 0], np.cumsum(known)])  # known tokens before each place of the whole array
    ends = np.minimum(offsets, len(before) - 1)
    count = np.diff(before[ends]).astype(np.float64)
    found = {}
    for lag, gap in gaps.items():
        sums = np.concatenate([[0, 0], np.cumsum(np.where(known, gap, 0), dtype=np.float64)])
        with np.errstate(invalid="ignore", divide="ignore"):
            found[lag] = np.where(count > 0, np.diff(sums[ends]) / count, np.nan)
    return found
