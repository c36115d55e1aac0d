"""Distribution of a run's tokens by one metric as bars, and the tokens of a bar.

Bars are made of the fine bins of a `TokenHistogram`, so that parts of a run add up.
"""

from dataclasses import dataclass
from typing import Final

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from board.analysis.tokens.token_histogram import Progress, TokenHistogram, most_extreme, read_tokens
from board.metrics.token_summaries import CODES, MOST, code_values, codes, extremes
from board.runs.run import Run

BARS: Final = 60


@dataclass(frozen=True)
class Bars:
    """Tokens counted in bars of equal width."""

    edges: NDArray[np.float64]
    """(b + 1,) in the metric's unit; empty where no token has a finite number."""
    counts: NDArray[np.int64]
    """(b,)"""
    codes: NDArray[np.int64]
    """(b + 1,): the fine bins of bar i are those from `codes[i]` to before the next; it has those whose middle lies in it."""
    infinite: int
    """Tokens whose number is infinite, in no bar."""


def bars(in_bins: NDArray[np.int64]) -> Bars:
    """Fine bins, (2 * CODES,) counts, as bars from the first that holds a token to the last."""
    held = np.flatnonzero(in_bins)
    finite = held[np.isfinite(code_values(held))]
    infinite = int(in_bins.sum() - in_bins[finite].sum())
    if not len(finite):
        return Bars(np.empty(0), np.zeros(0, np.int64), np.zeros(0, np.int64), infinite)
    middles = code_values(np.arange(2 * CODES))
    low, high = middles[finite[[0, -1]]]
    if low == high:
        low, high = low - (abs(low) * 0.1 or 0.5), high + (abs(high) * 0.1 or 0.5)
    edges = low + (high - low) * np.arange(BARS + 1) / BARS
    starts = np.searchsorted(middles, edges)
    starts[0], starts[-1] = finite[0], finite[-1] + 1
    cumulated = np.concatenate([[0], np.cumsum(in_bins)])
    return Bars(edges, np.diff(cumulated[starts]), starts.astype(np.int64), infinite)


@dataclass(frozen=True)
class Largest:
    """The tokens of the largest numbers of a metric."""

    tokens: int
    least: float
    """From which number on, in the metric's unit."""
    share: float
    """Of the sum of all positive numbers, 0 to 1."""


def largest(in_bins: NDArray[np.int64], share: float) -> Largest | None:
    """The tokens of the largest finite numbers, that share of all (0 to 1) but at least one; None where no number is positive.

    `in_bins` (2 * CODES,) as `TokenHistogram` has them: it is as exact as the bins are fine.
    """
    middles, counts = _finite(in_bins)
    weights = np.where(middles > 0, middles, 0.0)
    positive = float((counts * weights).sum())
    if not positive:
        return None
    tokens = max(1, round(share * int(counts.sum())))
    taken = np.diff(np.minimum(np.cumsum(np.append(0, counts[::-1])), tokens))[::-1]
    return Largest(tokens, float(middles[np.flatnonzero(taken)[0]]), float((taken * weights).sum()) / positive)


def between(in_bins: NDArray[np.int64], low: float, high: float) -> int:
    """How many tokens have numbers from `low` to `high`, as exactly as fine bins allow."""
    middles, counts = _finite(in_bins)
    return int(counts[(low <= middles) & (middles <= high)].sum())


def _finite(in_bins: NDArray[np.int64]) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """The middles of the bins of finite numbers, rising, and how many tokens each has."""
    middles = code_values(np.arange(2 * CODES))
    finite = np.isfinite(middles)
    return middles[finite], in_bins[finite]


def tokens_of_bar(
    run: Run, histogram: TokenHistogram, estimator: str, first: int, stop: int, progress: Progress = lambda _: None
) -> pd.DataFrame:
    """The most extreme tokens in the fine bins from `first` to before `stop`, at most MOST of them, as `TokenHistogram.tokens` has them.

    Taken from the histogram where it holds all of them, else read from the token arrays.
    """
    known = histogram.tokens[_within(histogram.tokens["value"].to_numpy(np.float32), first, stop)]
    if len(known) == int(histogram.in_bins[first:stop].sum()):
        return known.head(MOST).reset_index(drop=True)

    def choose(values: NDArray[np.float32]) -> NDArray[np.int64]:
        chosen = np.flatnonzero(_within(values, first, stop))
        own = extremes(values[chosen], np.array([0, len(chosen)]), histogram.order)
        return chosen[own]

    found, done = [known], 0
    for tokens, read in read_tokens(run, histogram.metric, estimator, choose):
        found.append(tokens)
        done += read
        progress(min(1.0, done / max(1, int(histogram.in_bins.sum()))))
    return most_extreme(pd.concat(found).drop_duplicates(["key", "position"]).assign(stretch=0), histogram.order)


def _within(values: NDArray[np.float32], first: int, stop: int) -> NDArray[np.bool_]:
    found = codes(values)
    return (first <= found) & (found < stop)
