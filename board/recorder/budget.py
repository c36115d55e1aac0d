"""Which rollouts of a step keep their token arrays when not all may: extremes first, and some at random.

Reads a line as the board will, so that what is ranked and summed up here is what the board would have computed. Knows nothing of
files or threads.
"""

import math
import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import chain, zip_longest
from typing import Final

import numpy as np
import orjson
from numpy.typing import NDArray

from board import metrics
from board.errors import RowRefused
from board.formats import native
from board.formats.row import Row, align, pad_mask
from board.metrics import FloatArray
from board.recorder.encoding import encode
from board.records import parse
from board.schema import ALTERNATIVES, TOKEN_IDS, TOKENS, title

Parts = dict[str, bytes]
"""A row as JSON texts by field name."""

LEFT_OUT: Final = "token_arrays_left_out"
"""Field that marks a row whose token arrays were measured, summed up and not written."""

CUT_SHORT: Final = ("finish_reason", "stop_reason")


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
class Held:
    """A row that waits for the end of its step."""

    parts: Parts
    row: Row | None
    """As the board will read it, aligned; None when it will refuse it or there is nothing to leave out."""
    leave: Sequence[str]
    """Its token arrays' fields."""

    @property
    def size(self) -> int:
        """Bytes its token arrays take in the file."""
        return sum(len(self.parts[name]) + len(name) + 4 for name in self.leave)


def hold(parts: Parts) -> Held:
    """Read a row as the board will, to see which of its fields are token arrays: those the board would align with the tokens.

    `response_tokens` counts among them where there is a `response`.
    """
    try:
        row = native.read(parse(joined(parts)))
    except RowRefused:
        return Held(parts, None, ())
    align(row)
    leave = [name for name in parts if _is_token_array(name, row)]
    return Held(parts, row if leave else None, leave)


def within(held: Sequence[Held], limit: int, seed: str) -> list[Parts]:
    """The rows of one step as they are written: token arrays of the chosen ones, at most `limit` bytes together.

    A row without its token arrays gets their sums and means instead, under the names the board derives them by, and is marked.
    """
    rows = [one.row or Row(step=0) for one in held]
    sums = summaries(rows)
    candidates = [_candidate(one, row, own) for one, row, own in zip(held, rows, sums, strict=True)]
    chosen = choose(candidates, limit, seed)
    return [one.parts if at in chosen or one.row is None else _bare(one, sums[at]) for at, one in enumerate(held)]


def _candidate(held: Held, row: Row, sums: dict[str, float]) -> Candidate:
    kl = sums.get(metrics.kl_column(metrics.DEFAULT_ESTIMATOR), math.nan)
    return Candidate(held.size, kl, row.numbers.get("reward", math.nan), _is_truncated(row))


def _bare(held: Held, sums: dict[str, float]) -> Parts:
    kept = {name: part for name, part in held.parts.items() if name not in held.leave}
    added = {name: encode(number) for name, number in sums.items() if math.isfinite(number) and name not in kept}
    return {**kept, **added, LEFT_OUT: b"1"}


def joined(parts: Parts) -> bytes:
    """The row as one line, its newline included."""
    return b"{" + b",".join(key_text(name) + b":" + part for name, part in parts.items()) + b"}\n"


def key_text(name: str) -> bytes:
    """A field's name as JSON text; one that UTF-8 cannot hold in escapes."""
    try:
        return orjson.dumps(name)
    except TypeError:
        return encode(name)


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


def summaries(rows: Sequence[Row]) -> list[dict[str, float]]:
    """Per aligned row what the board derives from token arrays: tokens, KL and log-ratio, mean of each metric; NaN where it cannot."""
    offsets = np.concatenate([[0], np.cumsum([row.length for row in rows])])
    flats = {name: _flat(rows, name) for name in dict.fromkeys(name for row in rows for name in row.arrays)}
    counts = np.concatenate([np.empty(0, bool), *map(_counts, rows)])
    ones = metrics.segment_stats(np.ones(counts.size), offsets, counts)
    columns: dict[str, FloatArray] = {"response_length": ones.count.astype(np.float64)}
    if "logprobs" in flats and "ref_logprobs" in flats:
        log_ratio = metrics.log_ratio(flats["logprobs"], flats["ref_logprobs"])
        for name in metrics.ESTIMATORS:
            stats = metrics.segment_stats(metrics.kl(log_ratio, name), offsets, counts)
            columns |= {metrics.kl_column(name, stat): getattr(stats, stat) for stat in ("mean", "sum", "max")}
    for name in (name for name in flats if name != "loss_mask" and name not in TOKEN_IDS):
        stats = metrics.segment_stats(flats[name], offsets, counts)
        columns[f"{title(name)}_mean"] = stats.mean
        if name == "token_rewards":
            columns[f"{title(name)}_sum"] = stats.sum
    return [{name: float(column[at]) for name, column in columns.items()} for at in range(len(rows))]


def _flat(rows: Sequence[Row], name: str) -> FloatArray:
    """One metric of all rows end to end, NaN for a row without it."""
    return np.concatenate([row.arrays.get(name, np.full(row.length, np.nan, np.float32)) for row in rows])


def _counts(row: Row) -> NDArray[np.bool_]:
    """Tokens that enter a mean: neither padding nor masked."""
    counts = np.ones(row.length, bool) if row.tokens is None else ~pad_mask(row.tokens)
    return counts & (row.arrays["loss_mask"] != 0) if "loss_mask" in row.arrays else counts


def _is_token_array(name: str, row: Row) -> bool:
    """Whether a field of the record became something with one entry per token."""
    if name == TOKENS:
        return row.tokens is not None and "response" in row.texts
    return name in row.arrays or f"{name} (logged)" in row.arrays or (name == ALTERNATIVES and row.alternatives is not None)


def _is_truncated(row: Row) -> bool:
    """Whether the trainer says that the response hit the length limit."""
    return row.numbers.get("truncated") == 1 or any(row.texts.get(name) == "length" for name in CUT_SHORT)
