"""Centres of the covariance of logprob and advantage: their means over a step's tokens.

A batch is the rollouts of training of one step, whatever the reader's filter leaves of them, so that a token has one number on every page.
"""

from collections.abc import Mapping
from functools import cached_property
from typing import Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from board.metrics.formulas import CENTRES, Float64Array
from board.metrics.step_sums import Steps, token_mean
from board.runs.cache.parts import Part
from board.runs.run import Run
from board.schema import DISCARDED, EVALUATION

_MEANS: Final = dict(zip(CENTRES, ("credited_logprob", "credited_advantage"), strict=True))
"""The quantity of `board.metrics.token_sums` whose mean each field's centre is."""

_COLUMNS: Final = [f"{quantity}/{stat}" for quantity in _MEANS.values() for stat in ("count", "mean")]
"""The columns of `board.metrics.token_sums` that centres are made of."""

Flats = Mapping[str, NDArray[np.floating]]

Batch = tuple[NDArray[np.int64], Mapping[str, Float64Array]]
"""Of some rollouts of training the steps, (n,), exactly, as no float is beyond 2^53, and by `_COLUMNS` what means are made of, (n,)."""


class StepCentres:
    """The centres of the steps of a run from `first` to `last`, of all where neither is given; they are computed on first use."""

    def __init__(self, run: Run, first: int | None = None, last: int | None = None) -> None:
        self._run, self._first, self._last = run, first, last

    def added_to(self, flats: Flats, steps: NDArray[np.int64], offsets: NDArray[np.int64]) -> Flats:
        """Token arrays end to end, (N,) by field, and the centres as further ones, NaN at tokens of a step without; as they are
        without both fields.

        `steps` (k,) are those of the rollouts, the i-th of which has the tokens from `offsets[i]` to before the next.
        """
        if not set(CENTRES) <= set(flats):
            return flats
        numbers, means = self._found
        at = np.searchsorted(numbers, steps)
        there = np.append(numbers, np.int64(0))[at] == steps
        there &= at < len(numbers)
        sizes = np.diff(offsets)
        centres = {CENTRES[field]: np.append(mean, np.nan)[np.where(there, at, -1)] for field, mean in means.items()}
        return {**flats, **{name: np.repeat(values, sizes) for name, values in centres.items()}}

    @cached_property
    def _found(self) -> tuple[NDArray[np.int64], dict[str, Float64Array]]:
        """The steps there are, rising, and by field the centres, (k,) each."""
        run = self._run
        batches = [_of_part(part, self._first, self._last) for part in run.parts]
        steps = Steps(np.concatenate([np.zeros(0, np.int64), *(numbers for numbers, _ in batches)]))
        found = {name: np.concatenate([np.zeros(0), *(of[name] for _, of in batches)]) for name in _COLUMNS}
        means = {
            field: token_mean(steps, found[f"{quantity}/count"], found[f"{quantity}/mean"]) for field, quantity in _MEANS.items()
        }
        return steps.numbers, means


def _of_part(part: Part, first: int | None, last: int | None) -> Batch:
    """The step of each rollout of training of a part within those steps, and what its means are made of."""
    step = part.scalars.column("step").to_numpy()
    chosen = np.ones(len(step), np.bool_)
    if first is not None:
        chosen &= step >= first
    if last is not None:
        chosen &= step <= last
    if chosen.any() and "split" in part.scalars.column_names:
        others = pc.is_in(part.scalars.column("split").cast(pa.string()), pa.array([EVALUATION, DISCARDED]))
        chosen &= ~others.to_numpy(zero_copy_only=False)
    held = set(part.moments.column_names)
    found = {
        name: part.moments.column(name).to_numpy()[chosen] if name in held else np.full(int(chosen.sum()), np.nan)
        for name in _COLUMNS
    }
    return step[chosen].astype(np.int64), found
