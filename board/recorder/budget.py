"""Which rollouts of a step keep their token arrays when not all may: extremes first, and some at random.

Knows nothing of formulas, files or threads.
"""

import math
import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import chain, zip_longest

from board.metrics import formulas
from board.recorder.encoding import Parts, encode
from board.recorder.token_arrays import Held, summaries
from board.schema import LEFT_OUT


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


def within(held: Sequence[Held], limit: int, seed: str) -> list[Parts]:
    """The rows of one step as they are written: token arrays of the chosen ones, at most `limit` bytes together.

    A row without its token arrays gets their sums and means instead, under the names the board derives them by, and is marked.
    """
    sums = summaries(held)
    kl = formulas.kl_column(formulas.DEFAULT_ESTIMATOR)
    candidates = [
        Candidate(one.size, own.get(kl, math.nan), one.reward, one.truncated) for one, own in zip(held, sums, strict=True)
    ]
    chosen = choose(candidates, limit, seed)
    return [one.parts if at in chosen or not one.leave else _bare(one, sums[at]) for at, one in enumerate(held)]


def _bare(held: Held, sums: dict[str, float]) -> Parts:
    kept = {name: part for name, part in held.parts.items() if name not in held.leave}
    added = {name: encode(number) for name, number in sums.items() if math.isfinite(number) and name not in kept}
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
