"""Ends of the token metrics' colour scales over many rollouts.

The definition is that of the token view for one response (`token_view/scale.js`): both sides name the same two order statistics.
"""

from collections.abc import Iterable, Iterator, Mapping
from typing import Final

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from board.analysis.rollouts.selection import of_step
from board.analysis.steps.step_centres import StepCentres
from board.metrics import formulas
from board.runs.run import Run
from board.schema import BY_TITLE

TAIL: Final = 0.01
"""Share of the tokens beyond an end."""

TOKENS_READ: Final = 1_000_000
"""About how many tokens are read at most: of as many independent ones the 1 % quantile is off by 0.01 percentage points (one sigma)."""

_SEED: Final = 0


def token_ranges(run: Run, step: int | None, estimator: str, most: int = TOKENS_READ) -> pd.DataFrame:
    """Ends of every token metric over the counted, finite tokens of a step, or of the run for None.

    Index: screen names as of `metrics.token_arrays`, KL by `estimator`; a metric without a number is not there. Columns `lo` and
    `hi` (the metric's unit), `rollouts` (how many were read) and `total` (how many there are). All rollouts are read while they
    hold at most `most` tokens; of more, as many as fit, drawn at random with a fixed seed, and at least one.
    """
    rows = of_step(run.frame, step)
    lengths = rows["response_length"].to_numpy(np.float64) if "response_length" in rows else np.zeros(len(rows))
    keys = _sample(rows.index.to_numpy(), np.nan_to_num(lengths), most)
    values: dict[str, list[NDArray[np.float32]]] = {}
    for name, numbers in _columns(run, keys, estimator):
        values.setdefault(name, []).append(numbers)
    ends = {name: ends_of(np.concatenate(pieces), name) for name, pieces in values.items()}
    known = {name: both for name, both in ends.items() if both is not None}
    frame = pd.DataFrame.from_dict(known, orient="index", columns=["lo", "hi"], dtype=np.float64)
    return frame.assign(rollouts=len(keys), total=len(rows))


def joint_ends(
    rollouts: Iterable[tuple[Mapping[str, NDArray[np.floating]], NDArray[np.bool_]]],
) -> dict[str, tuple[float, float]]:
    """Ends of every token metric over the counted, finite tokens of a few rollouts together; a metric without a number is not there.

    Each rollout is its (tokens,) arrays by screen name, and which of the tokens count.
    """
    values: dict[str, list[NDArray[np.float32]]] = {}
    for arrays, counts in rollouts:
        for name, array in arrays.items():
            values.setdefault(name, []).append(_counted_finite(array, counts))
    ends = {name: ends_of(np.concatenate(pieces), name) for name, pieces in values.items()}
    return {name: both for name, both in ends.items() if both is not None}


def ends_of(values: NDArray[np.float32], name: str) -> tuple[float, float] | None:
    """The two ends between which a metric's finite `values` (N,) are coloured; None when there is none.

    From the 1 % to the 99 % quantile, as order statistics, down to zero where zero is near; symmetric around zero, by the 99 %
    quantile of the magnitudes, for a metric that diverges from it; 0 to 1 for a probability. A metric that the schema does not
    know diverges where it has numbers of both signs.
    """
    if not values.size:
        return None
    column = BY_TITLE.get(name)
    if column is not None and column.unit == "0 to 1":
        return 0.0, 1.0
    low, high = float(values.min()), float(values.max())
    if column.scale == "diverging" if column else low < 0 < high:
        end = _nth(np.abs(values), np.ceil((1 - TAIL) * (values.size - 1))) or max(-low, high)
        return -end, end
    last = values.size - 1
    lo, hi = _nth(values, np.floor(TAIL * last)), _nth(values, np.ceil((1 - TAIL) * last))
    return _from_zero(lo, hi) if lo != hi else _from_zero(low, high)


def _nth(values: NDArray[np.float32], place: float) -> float:
    return float(np.partition(values, int(place))[int(place)])


def _from_zero(lo: float, hi: float) -> tuple[float, float]:
    """Start at zero where zero is near: quiet then means "none" instead of "least of these"."""
    if 0 <= lo <= hi - lo:
        return 0.0, hi
    if hi <= 0 and -hi <= hi - lo:
        return lo, 0.0
    return lo, hi


def _sample(keys: NDArray[np.int64], lengths: NDArray[np.float64], most: int) -> NDArray[np.int64]:
    """All keys, or as many drawn at random as have at most `most` tokens together, and at least one."""
    if lengths.sum() <= most:
        return keys
    order = np.random.default_rng(_SEED).permutation(len(keys))
    drawn = max(1, int(np.searchsorted(np.cumsum(lengths[order]), most, side="right")))
    return keys[order[:drawn]]


def _columns(run: Run, keys: NDArray[np.int64], estimator: str) -> Iterator[tuple[str, NDArray[np.float32]]]:
    """Counted, finite numbers of each metric, some rollouts at a time; float32, as the token view is sent them."""
    centres = StepCentres(run)
    for part, _, rows in run.of_rows(run.frame.index.isin(keys), "drawn").parts_of_rows():
        steps = part.scalars.column("step").to_numpy()
        for alike in part.alike(rows, run.token_metrics):
            arrays = centres.added_to(alike.flats, steps[alike.rows], alike.offsets)
            for name, values in formulas.token_arrays(arrays, estimator).items():
                yield name, _counted_finite(values, alike.counts)


def _counted_finite(values: NDArray[np.floating], counts: NDArray[np.bool_]) -> NDArray[np.float32]:
    with np.errstate(over="ignore"):
        narrow = np.asarray(values, np.float32)
    return narrow[counts & np.isfinite(narrow)]
