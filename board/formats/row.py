"""A rollout as every format hands it on: checked, typed, aligned."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Final

import numpy as np
from numpy.typing import NDArray

from board.schema import ALTERNATIVES
from board.text.counting import plural

FloatArray = NDArray[np.float32]

Alternative = tuple[str, float]
"""A token that the policy could have sampled, and its log-probability in nats; NaN where that is missing."""


@dataclass(slots=True)
class Row:
    """One rollout. Arrays are float32, one number per token, NaN where a number is missing."""

    step: int
    texts: dict[str, str] = field(default_factory=dict)
    numbers: dict[str, float] = field(default_factory=dict)
    ids: dict[str, str] = field(default_factory=dict)
    tokens: list[str] | None = None
    arrays: dict[str, FloatArray] = field(default_factory=dict)
    alternatives: list[list[Alternative] | None] | None = None
    """For each token what else could have been sampled, None where that is not known."""
    flags: list[str] = field(default_factory=list)
    """What is odd about the row, one sentence each."""

    @property
    def length(self) -> int:
        """Number of tokens; without tokens, of the longest array."""
        if self.tokens is not None:
            return len(self.tokens)
        return max((array.size for array in self.arrays.values()), default=0)


_MAY_BE_MISSING: Final = frozenset({"is_masked"})
"""What a trainer leaves out on purpose, at tokens of which its loss decides nothing."""


def flag_not_finite(rows: Sequence[Row]) -> None:
    """Flag for each row which arrays hold NaN or infinity at a token that is trained on, before they are aligned.

    One look at all numbers of a metric tells whether any does; what is said of a row does not depend on the others.
    """
    names = dict.fromkeys(name for row in rows for name in row.arrays if name not in _MAY_BE_MISSING)
    suspect = {name for name in names if not _all_finite([row.arrays[name] for row in rows if name in row.arrays])}
    for row, name in [(one, name) for one in rows for name in one.arrays if name in suspect]:
        bad = np.flatnonzero(~np.isfinite(row.arrays[name]) & ~_masked(row, row.arrays[name].size))
        if bad.size:
            row.flags.append(f"{name} has no finite number at {plural(bad.size, 'token')}, the first at position {bad[0]}")


def _all_finite(arrays: Sequence[FloatArray]) -> bool:
    return bool(np.isfinite(np.concatenate(arrays)).all())


def _masked(row: Row, size: int) -> NDArray[np.bool_]:
    """At which of the first `size` tokens the loss mask is 0; at none where there is no mask."""
    masked = np.zeros(size, bool)
    if (mask := row.arrays.get("loss_mask")) is not None:
        masked[: mask.size] = mask[:size] == 0
    return masked


def align(row: Row) -> None:
    """Make every array as long as the tokens, from the first token on; say what was missing or left over."""
    length = row.length
    for name, array in row.arrays.items():
        if array.size == length:
            continue
        row.arrays[name] = np.concatenate([array[:length], np.full(max(0, length - array.size), np.nan, np.float32)])
        row.flags.append(_mismatch(name, array.size, length))
    if row.alternatives is not None and len(row.alternatives) != length:
        left, given = row.alternatives[length:], len(row.alternatives)
        row.alternatives = [*row.alternatives[:length], *[None] * (length - given)]
        if given < length or any(one is not None for one in left):
            row.flags.append(_mismatch(ALTERNATIVES, given, length, "list"))


def _mismatch(name: str, numbers: int, tokens: int, noun: str = "number") -> str:
    have = f"{name} has {plural(numbers, noun)} for {plural(tokens, 'token')}"
    if numbers < tokens:
        return f"{have}: {plural(tokens - numbers, 'token')} at the end without one"
    return f"{have}: {plural(numbers - tokens, noun)} at the end left over"
