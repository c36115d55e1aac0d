"""Which rollouts of a step keep their token arrays when not all may: extremes first, and some at random; and what the others keep.

That are the sums and means that the board would have of the arrays, by the same formulas. Knows nothing of files or threads.
"""

import math
import random
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, zip_longest
from typing import Any, Final

import numpy as np

from board.metrics import formulas
from board.metrics.formulas import BoolArray, FloatArray
from board.recorder.values import Floats, Parts, encode
from board.schema import ALTERNATIVES, CUT_SHORT, LEFT_OUT, TOKEN_IDS, TOKEN_METRICS, TOKENS, title
from board.text.padding import marks

_REASONS: Final = ("finish_reason", "stop_reason")

_NUMBERS: Final = frozenset({int, float, bool, type(None)})
"""Types of what a list of numbers per token may hold; None is a missing one."""


@dataclass(frozen=True)
class Candidate:
    """What decides whether a rollout keeps its token arrays."""

    size: int
    """Bytes its token arrays take in the file."""
    kl: float
    """Mean KL k3 per counted token, NaN where it cannot be computed."""
    reward: float
    """NaN where there is none."""
    truncated: bool


@dataclass(frozen=True)
class Held(Candidate):
    """A row that waits for the end of its step."""

    parts: Parts
    leave: Sequence[str]
    """Its token arrays' fields; none where nothing may be left out."""
    sums: Mapping[str, float]
    """What is written in their place."""


def hold(row: Mapping[str, Any], parts: Parts, pads: frozenset[str]) -> Held:
    """Take a row's token arrays apart from the rest: what the board keeps per token. The row is without padding at its ends, `parts` are not.

    `response_tokens` counts among them where there is a `response`; a row with neither, which the board refuses, keeps all it has.
    """
    tokens, has_text = row.get(TOKENS), row.get("response") is not None
    arrays, size = _aligned(row)
    listed = [TOKENS] * (has_text and isinstance(tokens, list)) + [ALTERNATIVES] * isinstance(row.get(ALTERNATIVES), list)
    counts = ~np.array(marks(tokens, pads), bool) if isinstance(tokens, list) else np.ones(size, bool)
    if "loss_mask" in arrays:
        counts &= arrays["loss_mask"] != 0
    readable = has_text or isinstance(tokens, list)
    leave = [name for name in (*arrays, *listed) if readable and name in parts]
    sums = _sums(arrays, counts)
    return Held(
        size=sum(len(parts[name]) + len(name) + 4 for name in leave),
        kl=sums.get(formulas.kl_column(formulas.DEFAULT_ESTIMATOR), math.nan),
        reward=_number(row.get("reward")),
        truncated=_number(row.get("truncated")) == 1 or any(row.get(name) == CUT_SHORT for name in _REASONS),
        parts=parts,
        leave=leave,
        sums=sums,
    )


def within(held: Sequence[Held], limit: int, seed: str) -> list[Parts]:
    """The rows of one step as they are written: token arrays of the chosen ones, at most `limit` bytes together.

    A row without its token arrays gets their sums and means instead, under the names the board derives them by, and is marked.
    """
    chosen = choose(held, limit, seed)
    return [one.parts if at in chosen or not one.leave else _bare(one) for at, one in enumerate(held)]


def _bare(held: Held) -> Parts:
    kept = {name: part for name, part in held.parts.items() if name not in held.leave}
    added = {name: encode(number) for name, number in held.sums.items() if math.isfinite(number) and name not in kept}
    return {**kept, **added, LEFT_OUT: b"1"}


def choose(candidates: Sequence[Candidate], limit: int, seed: str) -> set[int]:
    """Indices of the candidates that keep their token arrays, which take at most `limit` bytes together.

    In turn: the largest KL, the lowest reward, the highest reward, a truncated one and one at random, each the next that is not
    chosen yet, until nothing more fits. Equals are ordered at random. The same `seed` and candidates give the same choice.
    """
    chosen: set[int] = set()
    for index in _in_turn(candidates, random.Random(seed)):
        if index not in chosen and candidates[index].size <= limit:
            chosen.add(index)
            limit -= candidates[index].size
    return chosen


def _in_turn(candidates: Sequence[Candidate], rng: random.Random) -> Iterator[int]:
    """Indices by each rank in turn; an index comes up as often as it has ranks."""
    shuffled = rng.sample(range(len(candidates)), len(candidates))
    with_kl = [index for index in shuffled if not math.isnan(candidates[index].kl)]
    with_reward = [index for index in shuffled if not math.isnan(candidates[index].reward)]
    ranks = (
        sorted(with_kl, key=lambda index: -candidates[index].kl),
        sorted(with_reward, key=lambda index: candidates[index].reward),
        sorted(with_reward, key=lambda index: -candidates[index].reward),
        [index for index in shuffled if candidates[index].truncated],
        rng.sample(shuffled, len(shuffled)),
    )
    return (index for index in chain.from_iterable(zip_longest(*ranks)) if index is not None)


def _sums(arrays: Mapping[str, FloatArray], counts: BoolArray) -> dict[str, float]:
    """What the board derives from a row's token arrays: tokens, KL and log-ratio, mean of each metric; NaN where it cannot.

    Padding and tokens with loss_mask 0, where `counts` is False, enter no mean.
    """
    found = {"response_length": float(counts.sum())}
    if "logprobs" in arrays and "ref_logprobs" in arrays:
        log_ratio = formulas.log_ratio(arrays["logprobs"], arrays["ref_logprobs"])
        for name in formulas.ESTIMATORS:
            stats = _stats(formulas.kl(log_ratio, name), counts)
            found |= {formulas.kl_column(name, stat): stats[stat] for stat in ("mean", "sum", "max")}
    for name in (name for name in arrays if name != "loss_mask" and name not in TOKEN_IDS):
        stats = _stats(arrays[name], counts)
        found[f"{title(name)}_mean"] = stats["mean"]
        if name == "token_rewards":
            found[f"{title(name)}_sum"] = stats["sum"]
    return found


def _stats(values: FloatArray, counts: BoolArray) -> dict[str, float]:
    """Of those that count and are finite."""
    known = values[counts & np.isfinite(values)].astype(np.float64)
    if not known.size:
        return dict.fromkeys(("mean", "sum", "max"), math.nan)
    with np.errstate(over="ignore"):
        total = float(known.sum())
    return {"mean": total / known.size, "sum": total, "max": float(known.max())}


def _aligned(row: Mapping[str, Any]) -> tuple[dict[str, FloatArray], int]:
    """The row's token arrays, all as long as its tokens, and how long that is; without tokens, as long as the longest array."""
    tokens = row.get(TOKENS)
    length = len(tokens) if isinstance(tokens, list) else None
    arrays = {name: array for name, value in row.items() if (array := _token_array(name, value, length)) is not None}
    size = max((array.size for array in arrays.values()), default=0) if length is None else length
    return {name: _fitted(array, size) for name, array in arrays.items()}, size


def _token_array(name: str, value: object, length: int | None) -> FloatArray | None:
    """A field's numbers per token as the board keeps them, float32: declared ones, and lists of numbers as long as the tokens.

    `length` is the number of tokens, None where there are none. None for everything else.
    """
    if not isinstance(value, list | np.ndarray):
        return None
    entries = len(value) if isinstance(value, list) else len(np.atleast_1d(value))
    if not (name in TOKEN_METRICS or entries == length):
        return None
    if isinstance(value, list) and not isinstance(value, Floats) and not _NUMBERS.issuperset(map(type, value)):
        return None
    with np.errstate(over="ignore"):
        array = np.asarray(value, dtype=None if isinstance(value, np.ndarray) else np.float64)
        return array.astype(np.float32) if array.ndim == 1 and array.dtype.kind in "fiub" else None


def _fitted(array: FloatArray, length: int) -> FloatArray:
    """As long as the tokens, from the first on, as the board aligns it."""
    return np.concatenate([array[:length], np.full(max(0, length - array.size), np.nan, np.float32)])


def _number(value: object) -> float:
    """A number, NaN for anything else."""
    if isinstance(value, np.ndarray | np.generic):
        value = value.item() if value.size == 1 else None
    return float(value) if isinstance(value, int | float) else math.nan
