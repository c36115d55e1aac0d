"""Faults between two arrays of logprobs of the same tokens: shifted, scaled, unfilled.

A part in, columns out (a measure of `rollout_measures`).
"""

from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from board.metrics.formulas import Float64Array, before_update
from board.runs.cache.parts import COUNTS, Part

PAIRS: Final = {
    "ref": ("logprobs", "ref_logprobs"),
    "engine": ("logprobs", "rollout_logprobs"),
    "old": ("logprobs", "old_logprobs"),
    "sampled": ("ref_logprobs", "rollout_logprobs"),
}
"""Arrays that measure the same tokens."""

FAR: Final = 4.0
"""Nats: where one array is exactly 0 and the other so far below, the 0 was never filled in; nearer ones may be drift, and rounding."""

UNFILLED: Final = {f"{pair}_unfilled_{name}": (pair, name) for pair in ("ref", "engine") for name in PAIRS[pair]}
"""The columns that count such tokens: of which pair, and in which of its arrays they are 0."""

LAGS: Final = (-1, 0, 1)
"""Lag 1 lays a token of the first array on the next one of the second."""


def column(pair: str, lag: int) -> str:
    """The column of a pair at a lag."""
    return f"{pair}_apart{lag:+d}"


def measure(part: Part) -> dict[str, Float64Array]:
    """Mean of |first[t] − second[t + lag]| in nats over the tokens of each rollout that count and have both, (n,) for every pair and lag.

    Tokens at the ends, which one of the lags lacks, are left out of all, so that the three are of the same tokens. NaN for fewer than three.
    Besides the columns of UNFILLED, and of trainer (before the update) and engine, without such tokens: `engine_tokens`, how many;
    `engine_ratio`, the mean of e^|Δ|; `engine_scale`, how many times as widely the trainer's are spread; `engine_agreement`, their correlation.
    """
    names = [
        *(column(pair, lag) for pair in PAIRS for lag in LAGS),
        *UNFILLED,
        "engine_tokens",
        "engine_ratio",
        "engine_scale",
        "engine_agreement",
    ]
    found = {name: np.full(len(part), np.nan) for name in names}
    if COUNTS not in part.tokens.column_names:
        return found
    lists = part.tokens.column(COUNTS).chunk(0)
    counts, offsets = lists.values.to_numpy(zero_copy_only=False), lists.offsets.to_numpy()
    inner = np.zeros(len(counts) + 1, np.bool_)
    inner[1:-1] = True
    inner[offsets] = False  # the first token of a rollout; the last one is before the first of the next
    inner = inner[:-1] & inner[1:] if len(counts) else inner[:0]
    for pair, both in PAIRS.items():
        if all(name in part.tokens.column_names for name in both):
            x, y = (_counted(part, name, counts) for name in both)
            found |= {column(pair, lag): mean for lag, mean in _apart(x, y, inner, offsets).items()}
            found |= {one: _sum(marks, offsets) for one, marks in _unfilled(pair, x, y).items()}
    if {"logprobs", "rollout_logprobs"} <= {*part.tokens.column_names}:
        found |= _of_engine(part, counts, offsets)
    return found


def _unfilled(pair: str, x: NDArray[Any], y: NDArray[Any]) -> dict[str, NDArray[np.bool_]]:
    """By column of UNFILLED the tokens at which that array of the pair is 0, and the other is far below."""
    arrays = {PAIRS[pair][0]: (x, y), PAIRS[pair][1]: (y, x)}
    return {one: (arrays[name][0] == 0) & (arrays[name][1] < -FAR) for one, (of, name) in UNFILLED.items() if of == pair}


def _sum(values: NDArray[Any], offsets: NDArray[np.int64]) -> Float64Array:
    sums: Float64Array = np.diff(np.concatenate([[0.0], np.cumsum(values, dtype=np.float64)])[offsets])
    return sums


def _of_engine(part: Part, counts: NDArray[np.bool_], offsets: NDArray[np.int64]) -> dict[str, Float64Array]:
    """How the trainer's logprobs before the update stand to the engine's, over the tokens of each rollout that have both."""
    old = _counted(part, "old_logprobs", counts) if "old_logprobs" in part.tokens.column_names else None
    engine, trainer = _counted(part, "rollout_logprobs", counts), before_update(_counted(part, "logprobs", counts), old)
    known = np.isfinite(engine) & np.isfinite(trainer) & ~np.any(list(_unfilled("engine", trainer, engine).values()), axis=0)
    x, y = (np.where(known, one, 0).astype(np.float64) for one in (engine, trainer))
    with np.errstate(invalid="ignore", divide="ignore", over="ignore"):
        n = _sum(known, offsets)
        mean_x, mean_y = _sum(x, offsets) / n, _sum(y, offsets) / n
        var_x, var_y = _sum(x * x, offsets) / n - mean_x**2, _sum(y * y, offsets) / n - mean_y**2
        ratio = _sum(np.where(known, np.exp(np.abs(x - y)), 0), offsets) / n
        agreement = (_sum(x * y, offsets) / n - mean_x * mean_y) / np.sqrt(var_x * var_y)
        spread = np.sqrt(var_y / var_x)
        return {"engine_tokens": n, "engine_ratio": ratio, "engine_scale": spread, "engine_agreement": agreement}


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
