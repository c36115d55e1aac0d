"""Weighted log-odds of two corpora with an informative Dirichlet prior.

Counts in, numbers out.
"""

from dataclasses import dataclass
from typing import Final

import numpy as np

from board.metrics.formulas import Float64Array, FloatArray, IntArray

PRIOR_SHARE: Final = 0.1
"""The prior weighs as much as this share of both corpora: 20 of one corpus against none of the other are beyond |z| = 3, 10 are not."""

Z_LIMIT: Final = 3.0
"""|z| beyond which a difference is listed."""


@dataclass(frozen=True)
class LogOdds:
    """Of w things, each (w,)."""

    delta: Float64Array
    """log-odds in the first corpus minus those in the second."""
    z: Float64Array
    """delta by its standard error; 0 where there is nothing to compare."""


def log_odds(
    first: FloatArray | IntArray,
    second: FloatArray | IntArray,
    totals: tuple[float, float],
    prior: FloatArray,
    prior_total: float,
) -> LogOdds:
    """How the odds of each thing differ between two corpora.

    `first` and `second` (w,) count each thing, `totals` all that could have been it; `prior` (w,) and `prior_total` are pseudo-counts that
    enter both corpora. With y + α = counts and prior, n + α₀ their totals, and o = n + α₀ - y - α what is something else,
    δ = log((y₁ + α) / o₁) - log((y₂ + α) / o₂) and var(δ) = 1/(y₁ + α) + 1/o₁ + 1/(y₂ + α) + 1/o₂
    (Monroe, Colaresi & Quinn 2008, "Fightin' Words", doi 10.1093/pan/mpn018, equations 15, 16 and 19). The terms 1/o, which they drop as
    small, matter where the things are whole responses that nearly all hold a phrase.
    """
    alpha = np.asarray(prior, np.float64)
    held = [np.asarray(counts, np.float64) + alpha for counts in (first, second)]
    others = [total + prior_total - of for total, of in zip(totals, held, strict=True)]
    with np.errstate(divide="ignore", invalid="ignore"):
        delta = np.log(held[0] / others[0]) - np.log(held[1] / others[1])
        variance = sum((1 / one for one in (*held, *others)), np.zeros(len(alpha)))
        z = delta / np.sqrt(variance)
    return LogOdds(delta, np.where(np.isfinite(z), z, 0.0))


def against_shared_prior(first: FloatArray | IntArray, second: FloatArray | IntArray, totals: tuple[float, float]) -> LogOdds:
    """Log-odds with the two corpora together as the prior, at PRIOR_SHARE of their weight: what is rare must differ more to stand out."""
    together = np.asarray(first, np.float64) + np.asarray(second, np.float64)
    return log_odds(first, second, totals, PRIOR_SHARE * together, PRIOR_SHARE * sum(totals))


def of_pairs(first: Float64Array, second: Float64Array) -> LogOdds:
    """Log-odds of matched rollouts: `first` (w,) counts pairs of which the first alone has a thing, `second` those of which the second alone.

    Pairs of which both or neither have it do not enter, and other things do not matter:
    δ = log((y₁ + α) / (y₂ + α)), var(δ) = 1/(y₁ + α) + 1/(y₂ + α), with α = PRIOR_SHARE · (y₁ + y₂).
    """
    alpha = PRIOR_SHARE * (first + second)
    with np.errstate(divide="ignore", invalid="ignore"):
        delta = np.log((first + alpha) / (second + alpha))
        z = delta / np.sqrt(1 / (first + alpha) + 1 / (second + alpha))
    return LogOdds(np.nan_to_num(delta), np.nan_to_num(z))
