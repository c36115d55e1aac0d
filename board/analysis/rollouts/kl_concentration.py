"""Concentration of a rollout's KL on few tokens: shares of the largest, Gini, half.

A part in, columns out (a measure of `rollout_measures`), all rollouts of the part at once; and steps without their largest tokens.
"""

from typing import Final

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from board.analysis.rollouts import rollout_measures
from board.metrics.formulas import Float64Array, kl, log_ratio
from board.metrics.step_sums import Steps
from board.runs.cache.parts import Alike, Part
from board.runs.run import Run
from board.schema import Column

LARGEST: Final = 5
"""This many of the largest tokens are taken off a step, and make `kl_top_share`."""

_PERCENT: Final = 100
_FIELDS: Final = ("logprobs", "ref_logprobs")
_BITS: Final = np.uint64(32)

SHOWN: Final[tuple[Column, ...]] = (
    Column("kl_top_share", "number", "share of the response's Σ|log-ratio| that its 5 largest tokens hold", "share", "KL, top 5"),
    Column(
        "kl_top_percent_share",
        "number",
        "share of the response's Σ|log-ratio| that its largest 1 % of tokens hold, at least one",
        "share",
        "KL, top 1 %",
    ),
    Column(
        "kl_gini",
        "number",
        "Gini coefficient of |log-ratio| over the response's tokens: 0 all alike, 1 one has all",
        "0 to 1",
        "KL, Gini",
    ),
    Column("kl_half", "number", "fewest tokens that hold half of the response's Σ|log-ratio|", "tokens", "KL, tokens for half"),
    Column(
        "kl_k3_peak_share",
        "number",
        "share of the response's Σ k3 that its largest 1 % of tokens hold, at least one",
        "share",
        "KL k3, top 1 %",
    ),
)
"""Those of COLUMNS that are columns to sort, filter and draw by."""

COLUMNS: Final = (
    *(one.name for one in SHOWN),
    "kl_k3_peak_at",
    *(f"kl_k3_peak_{number}" for number in range(1, LARGEST + 1)),
)
"""Of Σ|log-ratio|: the share of the LARGEST largest tokens, that of the largest 1 % (at least one), Gini, and the fewest tokens that hold half;
of Σ k3: the share of the largest 1 %, the position (from 0) of the largest, and the LARGEST largest, the largest first."""


def measure(part: Part) -> dict[str, Float64Array]:
    """COLUMNS of each rollout of a part, (n,) each, of its tokens that count and are finite; NaN where it has none, or nothing to share.

    As `board.metrics.formulas.concentration` has them for one rollout.
    """
    found = {name: np.full(len(part), np.nan) for name in COLUMNS}
    if not set(_FIELDS) <= set(part.tokens.column_names):
        return found
    for alike in part.alike(np.arange(len(part)), _FIELDS):
        if len(alike.flats) == len(_FIELDS):
            for name, values in _of_alike(alike).items():
                found[name][alike.rows] = values
    return found


def _of_alike(alike: Alike) -> dict[str, Float64Array]:
    ratio = log_ratio(alike.flats["logprobs"], alike.flats["ref_logprobs"])
    k3 = kl(ratio, "k3")
    known = np.isfinite(ratio) & np.isfinite(k3) & alike.counts
    rows = np.repeat(np.arange(len(alike.rows)), np.diff(alike.offsets))[known]
    positions = (np.arange(len(ratio)) - np.repeat(alike.offsets[:-1], np.diff(alike.offsets)))[known]
    counts = np.bincount(rows, minlength=len(alike.rows))
    of_ratio, of_k3 = (_Sorted(np.abs(values[known]), rows, counts) for values in (ratio, k3))
    percent = np.maximum(1, counts // _PERCENT)
    peaks = {f"kl_k3_peak_{number}": of_k3.largest(number) for number in range(1, LARGEST + 1)}
    return {
        "kl_top_share": of_ratio.share(np.full(len(counts), LARGEST)),
        "kl_top_percent_share": of_ratio.share(percent),
        "kl_gini": of_ratio.gini(),
        "kl_half": of_ratio.half(),
        "kl_k3_peak_share": of_k3.share(percent),
        "kl_k3_peak_at": _first_at(_narrow(k3[known]), rows, positions, peaks["kl_k3_peak_1"]),
        **peaks,
    }


class _Sorted:
    """Non-negative numbers of many rows, each row's in ascending order, end to end."""

    def __init__(self, values: Float64Array, rows: NDArray[np.int64], counts: NDArray[np.int64]) -> None:
        # a positive float32 is in the order of its bits: behind the row's number they sort all rows at once
        keys = np.sort(rows.astype(np.uint64) << _BITS | _narrow(values).view(np.uint32))
        self._ordered = (keys & np.uint64(0xFFFFFFFF)).astype(np.uint32).view(np.float32).astype(np.float64)
        self._rows, self._counts = rows, counts
        self._stops = np.cumsum(counts)
        # shares of a sum are those of any multiple: each row's largest is 1, so that a huge one of another row does not swallow its sum
        most = np.maximum.reduceat(np.append(self._ordered, 0.0), self._stops - counts) if len(counts) else np.zeros(0)
        scale = np.where((counts > 0) & (most > 0), most, 1.0)
        self._scaled = self._ordered / scale[rows]
        self._sums = np.concatenate([[0.0], np.cumsum(self._scaled)])
        self._totals = self._sums[self._stops] - self._sums[self._stops - counts]
        self._some = self._totals > 0

    def _where_known(self, values: Float64Array) -> Float64Array:
        return np.where(self._some, values, np.nan)

    def share(self, largest: NDArray[np.int64]) -> Float64Array:
        """The share of each row's sum that its `largest` largest hold."""
        held = self._sums[self._stops] - self._sums[self._stops - np.minimum(largest, self._counts)]
        return self._where_known(np.minimum(1.0, held / np.where(self._some, self._totals, 1.0)))

    def largest(self, number: int) -> Float64Array:
        """The `number`-th largest of each row, NaN in one of fewer."""
        there = self._counts >= number
        found = np.full(len(self._counts), np.nan)
        found[there] = self._ordered[self._stops[there] - number]
        return found

    def gini(self) -> Float64Array:
        """2 Σ i·xᵢ / (n Σ x) − (n + 1) / n, with i from 1 in ascending order."""
        ranks = np.arange(len(self._rows)) - (self._stops - self._counts)[self._rows] + 1
        weighed = np.bincount(self._rows, ranks * self._scaled, len(self._counts))
        n = np.maximum(self._counts, 1)
        return self._where_known(np.maximum(0.0, 2 * weighed / (n * np.where(self._some, self._totals, 1.0)) - (n + 1) / n))

    def half(self) -> Float64Array:
        """The fewest of each row that hold half of its sum."""
        edge = self._sums[self._stops] - self._totals * (0.5 - 1e-12)
        first = np.searchsorted(self._sums, edge, side="right") - 1
        return self._where_known((self._stops - np.minimum(first, self._stops - 1)).astype(np.float64))


def _narrow(values: Float64Array) -> NDArray[np.float32]:
    """Numbers as float32, the largest there is for those beyond: exp(-d) of a token the reference finds impossible is one."""
    return np.minimum(values, np.finfo(np.float32).max).astype(np.float32)


def _first_at(
    values: NDArray[np.float32], rows: NDArray[np.int64], positions: NDArray[np.int64], largest: Float64Array
) -> Float64Array:
    """The first position of each row's largest value, NaN without any."""
    at = np.flatnonzero(values == largest[rows].astype(np.float32))
    found = np.full(len(largest), np.nan)
    found[rows[at][::-1]] = positions[at][::-1]
    return found


def without_largest(
    steps: NDArray[np.int64], sums: Float64Array, tokens: Float64Array, peaks: Float64Array
) -> tuple[Float64Array, Float64Array]:
    """The mean KL of a token in each of s steps, with all and without the LARGEST largest tokens of the step; (s,) each.

    `steps` (n,) number the rollouts' steps from 0 on, `sums` their Σ k3 and `tokens` how many tokens that is of; `peaks` (n, LARGEST) their
    largest, NaN where there are fewer. A rollout without a sum enters nothing, nor one with a token so large that the others are lost in its
    sum; NaN for a step without any left.
    """
    lost = (peaks >= np.finfo(np.float32).max).any(axis=1)
    known = np.isfinite(sums) & np.isfinite(tokens) & ~lost
    size = int(steps.max(initial=-1)) + 1
    total = np.bincount(steps[known], sums[known], size)
    count = np.bincount(steps[known], tokens[known], size)
    of = np.repeat(steps[known], peaks.shape[1])
    values = peaks[known].ravel()
    there = np.isfinite(values)
    of, values = of[there], values[there]
    order = np.lexsort([-values, of])
    of, values = of[order], values[order]
    begins = np.searchsorted(of, np.arange(size))
    among_largest = np.arange(len(of)) - begins[of] < LARGEST
    taken, number = np.bincount(of[among_largest], values[among_largest], size), np.bincount(of[among_largest], minlength=size)
    with np.errstate(divide="ignore", invalid="ignore"):
        return total / np.where(count > 0, count, np.nan), (total - taken) / np.where(count > number, count - number, np.nan)


NAME: Final = "kl_concentration"
"""Name under which the measure is cached."""


def curve_without_largest(run: Run) -> "pd.Series[float] | None":
    """The mean k3 per token of each step without its LARGEST largest tokens, index step; None before the run was measured, or without KL."""
    measures = {NAME: measure}
    if not {"kl_k3_sum", "response_length"} <= set(run.frame.columns) or not rollout_measures.is_cached(run, measures):
        return None
    found = rollout_measures.of_run(run, measures)
    steps = Steps(run.frame["step"].to_numpy(np.int64))
    sums, tokens = (run.frame[name].to_numpy(np.float64, na_value=np.nan) for name in ("kl_k3_sum", "response_length"))
    peaks = found[[f"kl_k3_peak_{number}" for number in range(1, LARGEST + 1)]].to_numpy(np.float64)
    rest = without_largest(steps.row, sums, tokens, peaks)[1]
    return pd.Series(rest, pd.Index(steps.numbers, name="step"))
