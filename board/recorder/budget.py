"""Which rollouts of a step keep their token arrays when not all may: extremes first, and some at random; and what the others keep.

That are the sums and means that the board would have of the arrays, by the same formulas. Knows nothing of files or threads.
"""

import math
import random
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain, zip_longest
from typing import Any, Final, get_args

import numpy as np

from board.metrics import formulas
from board.metrics.formulas import BoolArray, FloatArray
from board.recorder.values import Parts, encode, is_per_token
from board.schema import ALTERNATIVES, LEFT_OUT, TOKEN_IDS, TOKENS, title
from board.text.padding import is_cut, marks

_NUMBERS: Final = frozenset({int, float, bool, type(None)})
"""Types of what a list of numbers per token may hold; None is a missing one."""


@dataclass(frozen=True)
class Candidate:
    """A row that waits for the end of its step, and what decides whether it keeps its token arrays."""

    size: int
    """Bytes its token arrays take in the file."""
    kl: float
    """Mean KL k3 per counted token, NaN where it cannot be computed."""
    reward: float
    """NaN where there is none."""
    truncated: bool
    parts: Parts = field(default_factory=dict)
    leave: Sequence[str] = ()
    """Its token arrays' fields; none where nothing may be left out."""
    sums: Mapping[str, float] = field(default_factory=dict)
    """What is written in their place."""


def hold(row: Mapping[str, Any], parts: Parts, pads: frozenset[str]) -> Candidate:
    """Take a row's token arrays apart from the rest: what the board keeps per token. The row is without padding at its ends, `parts` are not.

    `response_tokens` counts among them where there is a `response`; a row with neither, which the board refuses, keeps all it has.
    """
    tokens, has_text = row.get(TOKENS), row.get("response") is not None
    length = len(tokens) if isinstance(tokens, list) else None
    arrays = _arrays(row, length)
    lists = {ALTERNATIVES, TOKENS} if has_text else {ALTERNATIVES}
    named = [name for name, value in row.items() if name in arrays or (name in lists and isinstance(value, list))]
    leave = [name for name in named if name in parts] if has_text or length is not None else []
    sums = _sums(arrays, _counting(arrays, tokens if isinstance(tokens, list) else None, pads))
    return Candidate(
        size=sum(len(parts[name]) + len(name) + 4 for name in leave),
        kl=sums.get(formulas.kl_column(formulas.DEFAULT_ESTIMATOR), math.nan),
        reward=float(reward) if isinstance(reward := row.get("reward"), int | float | np.number) else math.nan,
        truncated=is_cut(row),
        parts=parts,
        leave=leave,
        sums=sums,
    )


def within(held: Sequence[Candidate], limit: int, seed: str) -> list[Parts]:
    """The rows of one step as they are written: token arrays of the chosen ones, at most `limit` bytes together.

    A row without its token arrays gets their sums and means instead, under the names the board derives them by, and is marked.
    """
    chosen = choose(held, limit, seed)
    return [one.parts if at in chosen or not one.leave else _bare(one) for at, one in enumerate(held)]


def _bare(held: Candidate) -> Parts:
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

    def rising(keys: list[float]) -> list[int]:
        return sorted((index for index in shuffled if not math.isnan(keys[index])), key=keys.__getitem__)

    ranks = (
        rising([-one.kl for one in candidates]),
        rising([one.reward for one in candidates]),
        rising([-one.reward for one in candidates]),
        [index for index in shuffled if candidates[index].truncated],
        rng.sample(shuffled, len(shuffled)),
    )
    return (index for index in chain.from_iterable(zip_longest(*ranks)) if index is not None)


def _arrays(row: Mapping[str, Any], length: int | None) -> dict[str, FloatArray]:
    """The row's numbers per token as the board keeps them, float32: declared ones, and lists of numbers as long as its tokens.

    They are aligned with the tokens from the first on; a row without tokens, whose `length` is None, has as many as its longest array.
    """
    with np.errstate(over="ignore"):
        found = {
            name: np.asarray(value, np.float64).astype(np.float32)
            for name, value in row.items()
            if is_per_token(name, value, length)
            and (value.dtype.kind in "fiub" if isinstance(value, np.ndarray) else _NUMBERS.issuperset(map(type, value)))
        }
    size = max((array.size for array in found.values()), default=0) if length is None else length
    return {
        name: np.concatenate([array[:size], np.full(max(0, size - array.size), np.nan, np.float32)])
        for name, array in found.items()
    }


def _counting(arrays: Mapping[str, FloatArray], tokens: list[Any] | None, pads: frozenset[str]) -> BoolArray:
    """Which tokens enter a mean: not padding, and not those with loss_mask 0."""
    size = next((array.size for array in arrays.values()), 0)
    counts = np.ones(size, bool) if tokens is None else ~np.array(marks(tokens, pads), bool)
    return counts & (arrays["loss_mask"] != 0) if "loss_mask" in arrays else counts


def _sums(arrays: Mapping[str, FloatArray], counts: BoolArray) -> dict[str, float]:
    """What the board derives of a row's tokens that count: how many, KL and log-ratio, mean of each metric; NaN where it cannot."""
    whole = np.array([0, counts.size])
    found = {"response_length": float(counts.sum())}
    if "logprobs" in arrays and "ref_logprobs" in arrays:
        log_ratio = formulas.log_ratio(arrays["logprobs"], arrays["ref_logprobs"])
        for name in formulas.ESTIMATORS:
            stats = formulas.segment_stats(formulas.kl(log_ratio, name), whole, counts)
            found |= {formulas.kl_column(name, stat): getattr(stats, stat).item() for stat in get_args(formulas.Stat)}
    for name in (name for name in arrays if name != "loss_mask" and name not in TOKEN_IDS):
        stats = formulas.segment_stats(arrays[name], whole, counts)
        found[f"{title(name)}_mean"] = stats.mean.item()
        if name == "token_rewards":
            found[f"{title(name)}_sum"] = stats.sum.item()
    return found
