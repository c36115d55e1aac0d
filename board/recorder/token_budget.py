"""Which rollouts of a step keep their token arrays when not all may: extremes first, and some at random; and what the others keep.

That are the sums and means that the board would have of the arrays, by the same formulas.
"""

import math
import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
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

    parts: Parts = field(default_factory=dict)
    bare: Parts = field(default_factory=dict)
    """What is written where it does not keep them: it without them, marked, with the numbers that the board derives of them."""
    size: int = 0
    """Bytes its token arrays take in the file; 0 where nothing may be left out."""
    kl: float = math.nan
    """Mean KL k3 per counted token, NaN where it cannot be computed."""
    reward: float = math.nan
    """NaN where there is none."""
    truncated: bool = False


def hold(row: Mapping[str, Any], parts: Parts, pads: frozenset[str]) -> Candidate:
    """Take a row's token arrays apart from the rest: what the board keeps per token. The row is without padding at its ends, `parts` are not.

    `response_tokens` counts among them where there is a `response`; else it is the text.
    """
    arrays, counts = _arrays(row, pads)
    has_tokens = isinstance(row.get(TOKENS), list) and row.get("response") is not None
    leave = {*arrays, ALTERNATIVES, *([TOKENS] if has_tokens else [])}
    numbers = _numbers(arrays, counts)
    remaining = {name: part for name, part in parts.items() if name not in leave}
    added = {name: encode(number) for name, number in numbers.items() if math.isfinite(number) and name not in remaining}
    return Candidate(
        parts,
        {**remaining, **added, LEFT_OUT: b"1"},
        sum(len(parts[name]) + len(name) + 4 for name in leave & parts.keys()),
        numbers.get(formulas.kl_column(formulas.DEFAULT_ESTIMATOR), math.nan),
        math.nan if row.get("reward") is None else float(row["reward"]),
        is_cut(row),
    )


def choose(candidates: Sequence[Candidate], limit: int, seed: str) -> set[int]:
    """Indices of the candidates that keep their token arrays, which take at most `limit` bytes together.

    In turn: the largest KL, the lowest reward, the highest reward, a truncated one and one at random, each the next that is not
    chosen yet, until nothing more fits. Equals are ordered at random. The same `seed` and candidates give the same choice.
    """
    shuffled = random.Random(seed).sample(range(len(candidates)), len(candidates))
    in_order = [candidates[index] for index in shuffled]
    keys = np.array([(-row.kl, row.reward, -row.reward, 0 if row.truncated else np.nan, 0) for row in in_order]).reshape(-1, 5)
    ranked = np.argsort(keys, axis=0, kind="stable")
    in_turn = ranked[~np.isnan(np.take_along_axis(keys, ranked, axis=0))]
    chosen: set[int] = set()
    for index in dict.fromkeys(shuffled[at] for at in in_turn.tolist()):
        if candidates[index].size <= limit:
            chosen.add(index)
            limit -= candidates[index].size
    return chosen


def _arrays(row: Mapping[str, Any], pads: frozenset[str]) -> tuple[dict[str, FloatArray], BoolArray]:
    """The row's numbers per token as the board keeps them, float32: declared ones, and lists of numbers as long as its tokens.

    They are aligned with the tokens from the first on; a row without tokens has as many as its longest array. Second, which tokens
    count: not padding, and not those with loss_mask 0.
    """
    tokens = row.get(TOKENS) if isinstance(row.get(TOKENS), list) else None
    length = None if tokens is None else len(tokens)
    with np.errstate(over="ignore"):
        found = {
            name: np.asarray(value, np.float32)
            for name, value in row.items()
            if is_per_token(name, value, length)
            and (value.dtype.kind in "fiub" if isinstance(value, np.ndarray) else _NUMBERS.issuperset(map(type, value)))
        }
    if tokens is None:
        tokens = [None] * max(map(len, found.values()), default=0)
    counts = ~np.array(marks(tokens, pads), bool)
    arrays = {
        name: np.pad(array[: len(tokens)], (0, max(0, len(tokens) - len(array))), constant_values=np.nan)
        for name, array in found.items()
    }
    if "loss_mask" in arrays:
        counts &= arrays["loss_mask"] != 0
    return arrays, counts


def _numbers(arrays: Mapping[str, FloatArray], counts: BoolArray) -> dict[str, float]:
    """What the board derives of a row's tokens that count: how many, KL and log-ratio, mean of each metric; NaN where it cannot."""
    found = {"response_length": float(counts.sum())}
    statistics = partial(formulas.segment_stats, offsets=np.array([0, counts.size]), keep=counts)
    if "logprobs" in arrays and "ref_logprobs" in arrays:
        log_ratio = formulas.log_ratio(arrays["logprobs"], arrays["ref_logprobs"])
        for name in formulas.ESTIMATORS:
            stats = statistics(formulas.kl(log_ratio, name))
            found |= {formulas.kl_column(name, stat): getattr(stats, stat).item() for stat in get_args(formulas.Stat)}
    for name in [name for name in arrays if name not in ("loss_mask", *TOKEN_IDS)]:
        found[f"{title(name)}_mean"] = statistics(arrays[name]).mean.item()
    if "token_rewards" in arrays:
        found[f"{title('token_rewards')}_sum"] = statistics(arrays["token_rewards"]).sum.item()
    return found
