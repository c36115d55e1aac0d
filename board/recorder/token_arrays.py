"""What a row's token arrays are and what they add up to: as the board would have it, by the same formulas.

Knows nothing of budgets, files or threads.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np

from board.metrics import formulas
from board.metrics.formulas import BoolArray, FloatArray
from board.recorder.encoding import Parts
from board.recorder.snapshot import Floats
from board.schema import ALTERNATIVES, TOKEN_IDS, TOKEN_METRICS, TOKENS, title
from board.text.padding import COMMON_PADS, is_cut, marks

NUMBERS: Final = frozenset({int, float, bool, type(None)})
"""Types of what a list of numbers per token may hold; None is a missing one."""


@dataclass(frozen=True)
class Held:
    """A row that waits for the end of its step."""

    parts: Parts
    leave: Sequence[str]
    """Its token arrays' fields; none where nothing may be left out."""
    arrays: dict[str, FloatArray]
    """Those that hold numbers, all as long as the tokens, NaN where a number is missing."""
    counts: BoolArray
    """(tokens,): False for pads, and where the loss mask is 0."""
    reward: float
    truncated: bool

    @property
    def size(self) -> int:
        """Bytes its token arrays take in the file."""
        return sum(len(self.parts[name]) + len(name) + 4 for name in self.leave)


def hold(row: Mapping[str, Any], parts: Parts, pads: frozenset[str] = COMMON_PADS) -> Held:
    """Take a row's token arrays apart from the rest: what the board keeps per token. The row is without padding at its ends, `parts` are not.

    `response_tokens` counts among them where there is a `response`; a row with neither, which the board refuses, keeps all it has.
    """
    tokens = row.get(TOKENS)
    arrays, size = aligned(row)
    has_text = row.get("response") is not None
    listed = [TOKENS] * (has_text and isinstance(tokens, list)) + [ALTERNATIVES] * isinstance(row.get(ALTERNATIVES), list)
    counts = counted(tokens, arrays, size, pads)
    readable = has_text or isinstance(tokens, list)
    return Held(
        parts=parts,
        leave=[name for name in (*arrays, *listed) if readable and name in parts],
        arrays=arrays,
        counts=counts,
        reward=number(row.get("reward")),
        truncated=is_cut(row),
    )


def aligned(row: Mapping[str, Any]) -> tuple[dict[str, FloatArray], int]:
    """The row's token arrays, all as long as its tokens, and how long that is; without tokens, as long as the longest array."""
    tokens = row.get(TOKENS)
    length = len(tokens) if isinstance(tokens, list) else None
    arrays = {name: array for name, value in row.items() if (array := token_array(name, value, length)) is not None}
    size = max((array.size for array in arrays.values()), default=0) if length is None else length
    return {name: _fitted(array, size) for name, array in arrays.items()}, size


def counted(tokens: object, arrays: Mapping[str, FloatArray], size: int, pads: frozenset[str]) -> BoolArray:
    """Which of a row's tokens count. Shape (size,)."""
    counts = ~np.array(marks(tokens, pads), bool) if isinstance(tokens, list) else np.ones(size, bool)
    return counts & (arrays["loss_mask"] != 0) if "loss_mask" in arrays else counts


def token_array(name: str, value: object, length: int | None) -> FloatArray | None:
    """A field's numbers per token as the board keeps them, float32: declared ones, and lists of numbers as long as the tokens.

    `length` is the number of tokens, None where there are none. None for everything else.
    """
    if not isinstance(value, list | np.ndarray):
        return None
    entries = len(value) if isinstance(value, list) else len(np.atleast_1d(value))
    if not (name in TOKEN_METRICS or entries == length):
        return None
    if isinstance(value, list) and not isinstance(value, Floats) and not NUMBERS.issuperset(map(type, value)):
        return None
    with np.errstate(over="ignore"):
        array = np.asarray(value, dtype=None if isinstance(value, np.ndarray) else np.float64)
        return array.astype(np.float32) if array.ndim == 1 and array.dtype.kind in "fiub" else None


def summaries(held: Sequence[Held]) -> list[dict[str, float]]:
    """Per row what the board derives from token arrays: tokens, KL and log-ratio, mean of each metric; NaN where it cannot.

    Padding and tokens with loss_mask 0 enter no mean.
    """
    offsets = np.concatenate([[0], np.cumsum([one.counts.size for one in held])])
    flats = {name: _flat(held, name) for name in dict.fromkeys(name for one in held for name in one.arrays)}
    counts = np.concatenate([one.counts for one in held])
    ones = formulas.segment_stats(np.ones(offsets[-1]), offsets, counts)
    columns: dict[str, FloatArray] = {"response_length": ones.count.astype(np.float64)}
    if "logprobs" in flats and "ref_logprobs" in flats:
        log_ratio = formulas.log_ratio(flats["logprobs"], flats["ref_logprobs"])
        for name in formulas.ESTIMATORS:
            stats = formulas.segment_stats(formulas.kl(log_ratio, name), offsets, counts)
            columns |= {formulas.kl_column(name, stat): getattr(stats, stat) for stat in ("mean", "sum", "max")}
    for name in (name for name in flats if name != "loss_mask" and name not in TOKEN_IDS):
        stats = formulas.segment_stats(flats[name], offsets, counts)
        columns[f"{title(name)}_mean"] = stats.mean
        if name == "token_rewards":
            columns[f"{title(name)}_sum"] = stats.sum
    return [{name: float(column[at]) for name, column in columns.items()} for at in range(len(held))]


def _flat(held: Sequence[Held], name: str) -> FloatArray:
    """One metric of all rows end to end, NaN for a row without it."""
    return np.concatenate([one.arrays.get(name, np.full(one.counts.size, np.nan, np.float32)) for one in held])


def _fitted(array: FloatArray, length: int) -> FloatArray:
    """As long as the tokens, from the first on, as the board aligns it."""
    return np.concatenate([array[:length], np.full(max(0, length - array.size), np.nan, np.float32)])


def number(value: object) -> float:
    """A number, NaN for anything else."""
    if isinstance(value, np.ndarray | np.generic):
        value = value.item() if value.size == 1 else None
    return float(value) if isinstance(value, int | float) else math.nan
