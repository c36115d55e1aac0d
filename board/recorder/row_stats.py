"""What rollouts add to their step's numbers: moments of their tokens, by the board's formulas, and numbers of each as a whole.

Rows as they are written in, one number per rollout out. Knows nothing of steps or trackers.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from board.metrics.formulas import BoolArray, Float64Array, FloatArray
from board.metrics.token_sums import Moments, Tokens, moments
from board.recorder.token_arrays import aligned, counted, number
from board.schema import CUT_SHORT, DISCARD_FLAGS, DISCARDED, EVALUATION, TOKENS
from board.text.padding import ALL_ENDS, COMMON_PADS, marks


@dataclass(frozen=True)
class Observed:
    """What enters of one rollout."""

    arrays: dict[str, FloatArray]
    """By field name, all as long as the tokens, NaN where a number is missing."""
    counts: BoolArray
    """False for padding and masked tokens."""
    numbers: dict[str, float]
    """By the name of the column the board makes of it; NaN where one is missing."""


def is_discarded(row: Mapping[str, Any]) -> bool:
    """Whether the trainer says that it discarded the rollout: by its split, or by a flag where it is none of an evaluation."""
    split = row.get("split")
    return split == DISCARDED or (split != EVALUATION and any(number(row.get(name)) == 1 for name in DISCARD_FLAGS))


def observe(row: Mapping[str, Any], pads: frozenset[str] = COMMON_PADS) -> Observed | None:
    """What enters of a row without padding at its ends; None of a row that the board refuses, as it has neither a response nor tokens."""
    tokens, response = row.get(TOKENS), row.get("response")
    if response is None and not isinstance(tokens, list):
        return None
    arrays, length = aligned(row)
    counts = counted(tokens, arrays, length, pads)
    numbers = _scores(row)
    if isinstance(tokens, list):
        arrays = {**arrays, TOKENS: np.array(marks(tokens, ALL_ENDS), np.float32)}
    if arrays:
        numbers["response_length"] = float(counts.sum())
    if isinstance(response, str):
        numbers["response_chars"] = float(len(response))
    return Observed(arrays, counts, numbers)


def together(rollouts: Sequence[Observed]) -> tuple[Moments, dict[str, Float64Array]]:
    """Moments of the rollouts' tokens, and the rollouts' numbers, by name, each of shape (rollouts,)."""
    lengths = [one.counts.size for one in rollouts]
    names = dict.fromkeys(name for one in rollouts for name in one.arrays)
    flats = {
        name: np.concatenate([one.arrays.get(name, np.full(one.counts.size, np.nan, np.float32)) for one in rollouts])
        for name in names
    }
    offsets = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)
    found = moments(Tokens(flats, offsets, np.concatenate([one.counts for one in rollouts])))
    own = dict.fromkeys(name for one in rollouts for name in one.numbers)
    numbers = {name: np.array([one.numbers.get(name, np.nan) for one in rollouts]) for name in own}
    return found, numbers


def _scores(row: Mapping[str, Any]) -> dict[str, float]:
    """Rewards, the length of the prompt, and whether the response was cut at its limit; NaN where the row does not say."""
    reward, reference, valid = (number(row.get(name)) for name in ("reward", "ref_reward", "valid_reward"))
    truncated = number(row.get("truncated"))
    if "truncated" not in row and isinstance(row.get("finish_reason"), str):
        truncated = float(row["finish_reason"] == CUT_SHORT)
    return {
        "reward": reward,
        "ref_reward": reference,
        "valid_reward": valid,
        "reward_gap": reward - reference,
        "prompt_length": number(row.get("prompt_length")),
        "truncated": truncated,
    }
