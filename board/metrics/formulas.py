"""Formulas over tokens: log-ratio, KL estimators, clip range, probabilities, and their statistics.

Pure numpy on flat arrays. Arrays that come in are never changed, whatever their floats nothing warns, and results are float64.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Final, Literal

import numpy as np
from numpy.typing import NDArray

from board import schema
from board.errors import BoardError

FloatArray = NDArray[np.floating[Any]]
IntArray = NDArray[np.integer[Any]]
BoolArray = NDArray[np.bool_]
Float64Array = NDArray[np.float64]
Stat = Literal["mean", "sum", "max"]

CLIP: Final = 0.2
"""Epsilon of the clip range 1 ± epsilon of PPO (arXiv 1707.06347), outside of which tokens are counted."""


@dataclass(frozen=True)
class Estimator:
    """One way to estimate KL(policy‖reference) from tokens the policy sampled."""

    name: str
    formula: str
    """As the page prints it; d is the log-ratio."""
    reading: str
    """One line on what to expect of it."""
    compute: Callable[[FloatArray], Float64Array]
    """log-ratios of any shape → estimates of that shape, in nats."""


def _k1(d: FloatArray) -> Float64Array:
    return np.array(d, np.float64)


def _k2(d: FloatArray) -> Float64Array:
    d = np.asarray(d, np.float64)
    with np.errstate(over="ignore", under="ignore"):
        return np.square(d) / 2


def _k3(d: FloatArray) -> Float64Array:
    d = np.asarray(d, np.float64)
    with np.errstate(over="ignore", under="ignore", invalid="ignore"):
        estimate = np.expm1(-d) + d
    # inf - inf at d = -inf is NaN, its limit is inf; rounding may leave a hair below zero, where the formula never goes
    return np.maximum(np.where(np.isneginf(d), np.inf, estimate), 0.0)


ESTIMATORS: Final[dict[str, Estimator]] = {
    "k1": Estimator("k1", "d", "unbiased; single tokens are often negative and the noise is high", _k1),
    "k2": Estimator("k2", "d² / 2", "never negative, little noise; biased, less so the closer the policies", _k2),
    "k3": Estimator("k3", "exp(-d) - 1 + d", "unbiased and never negative; explodes where the reference is far likelier", _k3),
}
"""Estimators of KL(policy‖reference) with d = logprob - ref_logprob on tokens sampled from the policy.

Source: John Schulman, "Approximating KL Divergence", 2020, http://joschu.net/blog/kl-approx.html (his r is exp(-d)).
Mind the sign: exp(d) - 1 - d looks like k3, but under the policy its mean is the chi-squared divergence minus the KL.
"""

DEFAULT_ESTIMATOR: Final = "k3"


def log_ratio(logprobs: FloatArray, ref_logprobs: FloatArray) -> Float64Array:
    """d = logprob - ref_logprob, in nats. Shape of the arguments, which must be equal (BoardError otherwise).

    NaN where either is NaN and where both are the same infinity.
    """
    policy, reference = np.asarray(logprobs, np.float64), np.asarray(ref_logprobs, np.float64)
    if policy.shape != reference.shape:
        raise BoardError(f"logprobs and ref_logprobs differ in shape: {policy.shape} and {reference.shape}.")
    with np.errstate(invalid="ignore", over="ignore"):
        return policy - reference


def before_update(logprobs: FloatArray, old_logprobs: FloatArray | None) -> FloatArray:
    """Logprobs of the policy that sampled, shape of the arguments: the old ones where both are known, else the row's own."""
    if old_logprobs is None:
        return logprobs
    return np.where(np.isnan(old_logprobs) | np.isnan(logprobs), logprobs, old_logprobs)


def kl(log_ratio: FloatArray, estimator: str = DEFAULT_ESTIMATOR) -> Float64Array:
    """Per-token estimate of KL(policy‖reference), in nats, from log-ratios of any shape.

    NaN stays NaN; what overflows is inf. Raises BoardError for an estimator that is not in ESTIMATORS.
    """
    return _estimator(estimator).compute(log_ratio)


def beyond_clip(change: FloatArray, *, low: bool) -> Float64Array:
    """1 where the ratio, whose logarithm is `change`, has left the clip range at that end, 0 elsewhere, NaN where it is not known."""
    outside = change < np.log1p(-CLIP) if low else change > np.log1p(CLIP)
    return np.where(np.isnan(change), np.nan, outside)


def exp(logprobs: FloatArray) -> Float64Array:
    """Of log-probabilities the probabilities, 0 to 1 where they are such; of their differences the ratios. Same shape; NaN stays NaN."""
    with np.errstate(over="ignore", under="ignore"):
        return np.exp(np.asarray(logprobs, np.float64))


def kl_column(estimator: str, stat: Stat = "mean") -> str:
    """Frame column of one statistic per rollout of an estimator, e.g. "kl_k3_mean"; k1 is the log-ratio, so "log_ratio_mean"."""
    name = _estimator(estimator).name
    return f"log_ratio_{stat}" if name == "k1" else f"kl_{name}_{stat}"


def _estimator(name: str) -> Estimator:
    if name not in ESTIMATORS:
        raise BoardError(f"There is no KL estimator {name!r}, only {', '.join(ESTIMATORS)}.")
    return ESTIMATORS[name]


@dataclass(frozen=True)
class SegmentStats:
    """Statistics of n segments of a flat array, each of shape (n,). mean, sum and max are NaN where count is 0."""

    mean: Float64Array
    sum: Float64Array
    max: Float64Array
    count: NDArray[np.int64]
    """Values that entered: finite and chosen by `keep`."""


_REDUCTIONS: Final[dict[str, tuple[np.ufunc, float]]] = {
    "sum": (np.add, 0.0),
    "max": (np.maximum, -np.inf),
    "min": (np.minimum, np.inf),
}
"""What makes one number of a segment's, and what stands in for a value that does not enter."""


_WIDTHS: Final = (1, 2, 4, 8, 16, 32, 64)
"""Segments of up to so many numbers are summed side by side, each with those of up to that length."""


def segment_stats(values: FloatArray, offsets: IntArray, keep: BoolArray | None = None) -> SegmentStats:
    """Mean, sum, max and count of `values[offsets[i]:offsets[i + 1]]` for every i, in float64.

    `values` (N,), `offsets` (n + 1,) not decreasing, `keep` (N,) or None for all. Only finite values where `keep` is true enter.
    """
    entering = _entering(values, keep)
    count = _counted(entering, offsets)
    total, top = (_reduced(values, entering, offsets, count, by) for by in ("sum", "max"))
    return SegmentStats(mean=total / np.maximum(count, 1), sum=total, max=top, count=count)


def segment_reduced(
    values: FloatArray, offsets: IntArray, keep: BoolArray | None, by: Literal["sum", "max", "min"]
) -> Float64Array:
    """One statistic of what enters `segment_stats`, shape (n,); NaN where nothing does."""
    entering = _entering(values, keep)
    return _reduced(values, entering, offsets, _counted(entering, offsets), by)


def _entering(values: FloatArray, keep: BoolArray | None) -> BoolArray:
    return np.isfinite(values) if keep is None else np.isfinite(values) & keep


def _counted(entering: BoolArray, offsets: IntArray) -> NDArray[np.int64]:
    if entering.all():
        return np.diff(offsets).astype(np.int64)
    return _over_segments(np.add, entering.astype(np.int64), offsets)


def _reduced(values: FloatArray, entering: BoolArray, offsets: IntArray, count: NDArray[np.int64], by: str) -> Float64Array:
    ufunc, neutral = _REDUCTIONS[by]
    wide = np.asarray(values, np.float64)
    if not entering.all():  # nearly always all of them do, and nothing has to be copied
        wide = np.where(entering, wide, neutral)
    with np.errstate(over="ignore", invalid="ignore"):
        found = _over_segments(ufunc, wide, offsets)
    found[count == 0] = np.nan
    return found


def _over_segments(ufunc: np.ufunc, values: NDArray[Any], offsets: IntArray) -> NDArray[Any]:
    """Each segment reduced to one number, 0 for an empty one. Shape (n,)."""
    bounds = np.asarray(offsets, np.int64)
    filled = np.diff(bounds) > 0
    # reduceat gives an empty segment the value of its neighbour, so it only sees the others, which still touch end to end
    starts = bounds[:-1][filled]
    found = np.zeros(filled.size, values.dtype)
    if starts.size:
        found[filled] = ufunc.reduceat(values[: bounds[-1]], starts)
    return found


def mean_of_known(values: Float64Array) -> float:
    """The mean of the finite values; NaN where none is."""
    known = values[np.isfinite(values)]
    return float(known.mean()) if len(known) else np.nan


def sums_to_end(values: Float64Array, offsets: IntArray) -> Float64Array:
    """At each place the sum from there to the end of its segment, added up from the end, shape (N,); a segment without numbers has none.

    `values` (N,), `offsets` (n + 1,) not decreasing. Within each segment alone: a difference of sums over the whole array would carry its
    rounding into every place.
    """
    bounds = np.asarray(offsets, np.int64)
    lengths = np.diff(bounds)
    found = values.copy()
    with np.errstate(over="ignore", invalid="ignore"):
        for width in _WIDTHS:  # short segments side by side, as one each would take longer than the sums
            alike = np.flatnonzero((lengths <= width) & (lengths > width // 2))
            backwards = bounds[alike + 1, np.newaxis] - 1 - np.arange(width)
            within = backwards >= bounds[alike, np.newaxis]
            places = backwards[within]
            spread = np.zeros(within.shape)
            spread[within] = values[places]
            found[places] = np.add.accumulate(spread, axis=1)[within]
        for at in np.flatnonzero(lengths > _WIDTHS[-1]).tolist():
            reversed_sums = found[bounds[at] : bounds[at + 1]][::-1]
            np.add.accumulate(reversed_sums, out=reversed_sums)
    return found


@dataclass(frozen=True)
class Concentration:
    """How unevenly a non-negative quantity is spread over the tokens of one response; shares are of its sum, 0 to 1."""

    count: int
    """Tokens that entered: counted and finite."""
    top_percent: int
    """How many tokens the top 1 % are: at least one."""
    top_percent_share: float
    top_five: int
    """Five, or all there are."""
    top_five_share: float
    gini: float
    """0 where every token holds the same, towards 1 where one holds everything."""
    half: int
    """The fewest tokens that together hold half."""


def concentration(values: FloatArray, keep: BoolArray | None = None) -> Concentration | None:
    """How the sum of |value| is spread over tokens; None where there is nothing to spread (no finite token where `keep` is true, or a sum of 0).

    `values` (T,), `keep` (T,) or None for all. Magnitudes, because log-ratios and KL k1 of both signs would cancel out. With n
    magnitudes x in ascending order, Gini = 2 Σ i·xᵢ / (n Σ x) - (n + 1) / n, i from 1 (Damgaard & Weiner 2000,
    https://doi.org/10.1890/0012-9658(2000)081[1139:DIIPSO]2.0.CO;2, biased form: one of n tokens holding all gives 1 - 1/n).
    """
    wide = np.abs(np.asarray(values, np.float64))
    ordered = np.sort(wide[np.isfinite(wide) if keep is None else np.isfinite(wide) & keep])
    count = ordered.size
    if not count or not ordered[-1] > 0:
        return None
    with np.errstate(under="ignore"):
        ordered = ordered / ordered[-1]  # so that no sum overflows
        held = np.cumsum(ordered[::-1]) / ordered.sum()
        gini = 2 * float(np.arange(1, count + 1) @ ordered) / (count * float(ordered.sum())) - (count + 1) / count
    percent, five = max(1, count // 100), min(5, count)
    return Concentration(
        count=count,
        top_percent=percent,
        top_percent_share=min(1.0, float(held[percent - 1])),
        top_five=five,
        top_five_share=min(1.0, float(held[five - 1])),
        gini=max(0.0, gini),
        half=int(np.searchsorted(held, 0.5 - 1e-12)) + 1,
    )


def largest(values: FloatArray, count: int, keep: BoolArray | None = None) -> NDArray[np.int64]:
    """Positions of the `count` tokens of greatest |value|, greatest first and the earlier first of equals; those `concentration` sums up.

    `values` (T,), `keep` (T,) or None for all; fewer than `count` where fewer are finite, in `keep` and not 0.
    """
    wide = np.abs(np.asarray(values, np.float64))
    holding = np.isfinite(wide) & (wide > 0)
    entering = np.flatnonzero(holding if keep is None else holding & keep)
    return entering[np.argsort(-wide[entering], kind="stable")[:count]]


CENTRES: Final[Mapping[str, str]] = {"logprobs": "logprobs, mean of the step", "advantages": "advantages, mean of the step"}
"""The fields that the covariance is of, each with the name of the array (T,) of its mean, which the covariance is taken around."""

COVARIANCE: Final = "covariance"
"""The screen name of `covariance`."""


def covariance(
    logprobs: FloatArray, advantages: FloatArray, logprob_mean: FloatArray, advantage_mean: FloatArray
) -> Float64Array:
    """(logprob - its mean) (advantage - its mean) of each token, (T,), the means being those over the tokens of its step.

    Where their mean is large the entropy falls (Cui et al. 2025, "The Entropy Mechanism of Reinforcement Learning for Reasoning Language
    Models", arXiv 2505.22617): likely tokens were rewarded.
    """
    with np.errstate(over="ignore", invalid="ignore"):
        centred: Float64Array = np.asarray(logprobs, np.float64) - logprob_mean
        return centred * (np.asarray(advantages, np.float64) - advantage_mean)


def token_metric_names(fields: Iterable[str]) -> list[str]:
    """The screen names of all token metrics of rollouts with those fields, in the order of the screen."""
    held = {name: np.zeros(0, np.float32) for name in fields}
    centres = dict.fromkeys(CENTRES.values(), np.zeros(0, np.float32)) if set(CENTRES) <= set(held) else {}
    return [*token_makers({**held, **centres})]


_ORDER: Final = ("token_reward", "log_ratio", "kl", "value", "logprob", "ref_logprob", "prob", "ref_prob")
"""The order in which the screen lists token metrics; others follow as declared in the schema, then as the row has them."""


def token_arrays(arrays: Mapping[str, FloatArray], estimator: str = DEFAULT_ESTIMATOR) -> dict[str, FloatArray]:
    """All token metrics of one rollout under their screen names, its own and the derived ones, in the order of the screen.

    `arrays` maps field names ("logprobs") to arrays of one length T; every result is (T,). Only what can be computed is there (a covariance
    where its `CENTRES` are among the arrays), `loss_mask` and token ids are left out. A field whose name a native or derived metric has taken (a
    trainer's own `kl`) becomes "kl (logged)".
    """
    return {name: make() for name, make in token_makers(arrays, estimator).items()}


def token_makers(arrays: Mapping[str, FloatArray], estimator: str = DEFAULT_ESTIMATOR) -> dict[str, Callable[[], FloatArray]]:
    """What makes each of `token_arrays`, by its name and in its order: a caller of one need not compute the others."""
    own = {schema.title(name): arrays[name] for name in schema.TOKEN_METRICS if name in arrays and name != "loss_mask"}
    metrics = {name: _as_it_is(array) for name, array in own.items()} | _derived(arrays, estimator)
    listed = {name: metrics.pop(name) for name in _ORDER if name in metrics} | metrics
    for name, array in arrays.items():
        if name not in schema.TOKEN_METRICS and name not in schema.TOKEN_IDS and name not in CENTRES.values():
            listed[f"{name} (logged)" if name in listed else name] = _as_it_is(array)
    return listed


def _as_it_is(array: FloatArray) -> Callable[[], FloatArray]:
    return lambda: array


def token_ids(arrays: Mapping[str, FloatArray]) -> NDArray[np.int32] | None:
    """The row's token ids, (T,), -1 where one is missing or no whole number; None where the row has none.

    They were read as float32, which is exact below 2**24, far beyond any vocabulary; a larger one counts as missing.
    """
    ids = next((arrays[name] for name in schema.TOKEN_IDS if name in arrays), None)
    if ids is None:
        return None
    sound = (ids >= 0) & (ids < 2**24) & (ids == np.floor(ids))
    return np.where(sound, ids, -1).astype(np.int32)


def _derived(arrays: Mapping[str, FloatArray], estimator: str) -> dict[str, Callable[[], FloatArray]]:
    derived: dict[str, Callable[[], FloatArray]] = {}
    if "logprobs" in arrays:
        derived["prob"] = lambda: exp(arrays["logprobs"])
    if "ref_logprobs" in arrays:
        derived["ref_prob"] = lambda: exp(arrays["ref_logprobs"])
    if "logprobs" in arrays and "ref_logprobs" in arrays:
        derived["log_ratio"] = lambda: log_ratio(arrays["logprobs"], arrays["ref_logprobs"])
        derived["kl"] = lambda: kl(log_ratio(arrays["logprobs"], arrays["ref_logprobs"]), estimator)
    if "logprobs" in arrays and "rollout_logprobs" in arrays:
        derived["mismatch"] = lambda: log_ratio(
            before_update(arrays["logprobs"], arrays.get("old_logprobs")), arrays["rollout_logprobs"]
        )
    fields = (*CENTRES, *CENTRES.values())
    if set(fields) <= set(arrays):
        derived[COVARIANCE] = lambda: covariance(*(arrays[name] for name in fields))
    return derived
