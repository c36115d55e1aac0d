"""All tokens of a run by one metric: distribution, sums by position and step, extremes.

The summaries that parts store are added up where all of a part's step is chosen; the rest is counted from the token arrays.
Bars are made of the fine bins, so that parts of a run add up.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Final

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from board.analysis.steps.step_centres import StepCentres
from board.metrics.formulas import COVARIANCE, DEFAULT_ESTIMATOR, token_makers, token_metric_names
from board.metrics.token_summaries import CODES, MOST, PLACES, code_counts, code_values, codes, counted, extremes, profile, rank
from board.runs.cache import part_token_summaries
from board.runs.cache.parts import Part
from board.runs.run import Run
from board.schema import TOKEN_METRICS, Extreme, extreme, title

MOST_STEPS: Final = 1_000
"""Of more steps, neighbours are taken together, so that what is found stays bounded."""

_DERIVED: Final = {
    "prob": ("logprobs",),
    "ref_prob": ("ref_logprobs",),
    "log_ratio": ("logprobs", "ref_logprobs"),
    "kl": ("logprobs", "ref_logprobs"),
    "mismatch": ("logprobs", "rollout_logprobs", "old_logprobs"),
    COVARIANCE: ("logprobs", "advantages"),
}

Progress = Callable[[float], None]
"""Called now and then with the share that is done."""

Choose = Callable[[NDArray[np.float32]], NDArray[np.int64]]


@dataclass(frozen=True)
class TokenHistogram:
    """A run's counted tokens by one metric."""

    metric: str
    order: Extreme
    first: NDArray[np.int64]
    """(S,): the first step of each stretch of steps: a step each while there are at most MOST_STEPS."""
    last: NDArray[np.int64]
    """(S,): its last step."""
    sums: NDArray[np.float64]
    """(S, PLACES), by place as `board.metrics.token_summaries` has them; finite numbers alone."""
    counts: NDArray[np.int64]
    """(S, PLACES)"""
    in_bins: NDArray[np.int64]
    """(2 * CODES,): how many tokens lie in each bin of `codes`."""
    tokens: pd.DataFrame
    """The MOST most extreme of each stretch, most extreme first: key, step, position (from 0), value, and the stretch's number."""


def metrics_of(run: Run) -> list[str]:
    """The token metrics that some rollout of the run may have, by their screen names, in the order of the screen."""
    return token_metric_names(run.token_metrics)


def fields_of(run: Run, metric: str) -> list[str]:
    """Fields that a metric is made of; it may be a rollout's own, or the board's."""
    own = [name for name in run.token_metrics if metric in (name, title(name), f"{name} (logged)")]
    return list(dict.fromkeys([*_DERIVED.get(metric, ()), *own]))


class _Stretches:
    """The steps of a run, neighbours taken together where there are more than MOST_STEPS."""

    def __init__(self, steps: NDArray[np.int64]) -> None:
        """`steps` (k,) are all there are, rising."""
        self._steps, self.count = steps, min(len(steps), MOST_STEPS)
        self._number = np.arange(len(steps)) * self.count // max(1, len(steps))

    def of(self, step: NDArray[np.int64]) -> NDArray[np.int64]:
        """The stretch of each of some steps, as given."""
        return self._number[np.searchsorted(self._steps, step)]

    def ends(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """(count,) the first and the last step of each."""
        edges = np.searchsorted(self._number, np.arange(self.count + 1))
        return self._steps[edges[:-1]], self._steps[edges[1:] - 1]


def count_tokens(
    run: Run, metric: str, estimator: str = DEFAULT_ESTIMATOR, progress: Progress = lambda _: None
) -> TokenHistogram:
    """All counted tokens of the run's frame by a metric; KL by that estimator. A run without the metric has no token."""
    adding = _Adding(run, metric, estimator)
    done = 0
    for part, start, rows in run.parts_of_rows():
        adding.part(part, start, rows)
        done += len(rows)
        progress(done / len(run.frame))
    return adding.histogram()


class _Adding:
    """The histogram of the parts that were added so far."""

    def __init__(self, run: Run, metric: str, estimator: str) -> None:
        self._metric, self._estimator, self._fields = metric, estimator, fields_of(run, metric)
        self._stretches, self._centres = _Stretches(run.steps), StepCentres(run)
        self._has_summaries = metric != "kl" or estimator == DEFAULT_ESTIMATOR
        self._sums = np.zeros((self._stretches.count, PLACES))
        self._counts = np.zeros((self._stretches.count, PLACES), np.int64)
        self._in_bins = np.zeros(2 * CODES, np.int64)
        self._found: list[pd.DataFrame] = []

    def histogram(self) -> TokenHistogram:
        """What was added, over all stretches."""
        order, (first, last) = extreme(self._metric), self._stretches.ends()
        tokens = most_extreme(pd.concat(self._found or [_no_tokens()], ignore_index=True), order)
        return TokenHistogram(self._metric, order, first, last, self._sums, self._counts, self._in_bins, tokens)

    def part(self, part: Part, start: int, rows: NDArray[np.int64]) -> None:
        """Add the tokens of some rows of a part, whose first rollout has the key `start`."""
        steps = part.scalars.column("step").to_numpy()
        for at, summary in part_token_summaries.summaries_of(part.summaries, self._metric).items() if self._has_summaries else ():
            own = _group(part, steps, at)
            if np.isin(own, rows, assume_unique=True).all():
                rows = np.setdiff1d(rows, own, assume_unique=True)
                stretch = self._stretches.of(steps[at])
                self._sums[stretch] += summary.sums
                self._counts[stretch] += summary.counts
                self._in_bins[summary.bins] += summary.in_bins
                self._keep_extremes(start + summary.rows, steps[summary.rows], summary.positions, summary.values)
        if len(rows):
            self._count(part, start, rows, steps)

    def _count(self, part: Part, start: int, rows: NDArray[np.int64], steps: NDArray[np.int64]) -> None:
        """Add tokens out of their arrays."""
        for alike in part.alike(rows, self._fields):
            flats = self._centres.added_to(alike.flats, steps[alike.rows], alike.offsets)
            make = token_makers(flats, self._estimator).get(self._metric)
            if make is None:
                continue
            stretch = self._stretches.of(steps[alike.rows])
            order = np.argsort(stretch, kind="stable")
            there, groups = np.unique(stretch[order], return_inverse=True)
            where = counted(alike.offsets, alike.counts, order, groups)
            values = where.of(make())
            by_place = profile(where, values)
            self._sums[there] += by_place.sums
            self._counts[there] += by_place.counts
            self._in_bins += code_counts(codes(values), where.bounds[[0, -1]])[0]
            chosen = extremes(values, where.bounds, extreme(self._metric))
            own, positions = where.places(chosen, alike.offsets)
            self._keep_extremes(start + alike.rows[own], steps[alike.rows[own]], positions, values[chosen])

    def _keep_extremes(
        self,
        keys: NDArray[np.int64],
        steps: NDArray[np.int64],
        positions: NDArray[np.int64],
        values: NDArray[np.float32],
    ) -> None:
        stretch = self._stretches.of(steps)
        self._found.append(pd.DataFrame({"key": keys, "step": steps, "position": positions, "value": values, "stretch": stretch}))


def _no_tokens() -> pd.DataFrame:
    """The candidates for the most extreme tokens where there are none."""
    return pd.DataFrame({"key": [], "step": [], "position": [], "value": [], "stretch": []}).astype(np.int64)


def _group(part: Part, steps: NDArray[np.int64], at: int) -> NDArray[np.int64]:
    """The rows that the summary in row `at` is of: those of its step, and of training or of an evaluation as it is."""
    same = np.flatnonzero(steps == steps[at])
    split = part.scalars.column("split") if "split" in part.scalars.column_names else None
    groups = part_token_summaries.group_of(steps[same], None if split is None else split.take(same))
    own: NDArray[np.int64] = same[groups == groups[np.searchsorted(same, at)]]
    return own


def most_extreme(tokens: pd.DataFrame, order: Extreme) -> pd.DataFrame:
    """The MOST most extreme tokens of each stretch, most extreme first; equal ones by step, key and position."""
    extremeness = rank(tokens["value"].to_numpy(np.float32), order)
    columns = [tokens[name].to_numpy(np.int64) for name in ("position", "key", "step")]
    ordered = tokens.iloc[np.lexsort([*columns, extremeness])]
    return ordered[ordered.groupby("stretch").cumcount().to_numpy() < MOST].reset_index(drop=True)


def declared_fields() -> tuple[str, ...]:
    """Fields that would give a run token metrics: what to name where there is none."""
    return tuple(name for name in TOKEN_METRICS if name != "loss_mask")


def read_tokens(run: Run, metric: str, estimator: str, choose: Choose) -> Iterator[tuple[pd.DataFrame, int]]:
    """Some of the counted tokens of the run's frame, some rollouts at a time: key, step, position (from 0), value; and how many were read.

    `choose` gives the positions of those to read in values of several rollouts, end to end.
    """
    fields, centres = fields_of(run, metric), StepCentres(run)
    for part, start, rows in run.parts_of_rows():
        steps = part.scalars.column("step").to_numpy()
        for alike in part.alike(rows, fields):
            make = token_makers(centres.added_to(alike.flats, steps[alike.rows], alike.offsets), estimator).get(metric)
            if make is None:
                continue
            where = counted(alike.offsets, alike.counts, np.arange(len(alike.rows)), np.zeros(len(alike.rows), np.int64))
            values = where.of(make())
            chosen = choose(values)
            own, positions = where.places(chosen, alike.offsets)
            held = alike.rows[own]
            columns = {"key": start + held, "step": steps[held], "position": positions, "value": values[chosen]}
            yield pd.DataFrame(columns), len(values)


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
