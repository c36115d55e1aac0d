"""Tokens sampled by accident: far less likely than a uniform draw of the vocabulary."""

from typing import Final

import numpy as np

from board.metrics.formulas import Float64Array
from board.runs.cache.parts import Part
from board.runs.cache.rollout import Rollout
from board.schema import Column

VOCABULARY: Final = 150_000
"""Tokens of a usual vocabulary; what a part shows of the real one grows with the part, and a smaller one would mark likelier tokens."""
BELOW: Final = 2.0
"""Nats below an even draw, as prime-rl's gibberish filter has it."""

COLUMNS: Final = (
    Column(
        "rare_tokens",
        "number",
        f"share of tokens with a logprob below −ln {VOCABULARY:,} − {BELOW:g}, far less likely than one drawn evenly from a usual vocabulary",
        "share",
        "rare tokens",
    ),
)


def measure(part: Part) -> dict[str, Float64Array]:
    """Share of a rollout's counted tokens with logprob < −ln VOCABULARY − BELOW, (n,); NaN where it has no finite logprob."""
    found = np.full(len(part), np.nan)
    for alike in part.alike(np.arange(len(part)), ["rollout_logprobs", "logprobs"]):
        own = alike.flats.get("logprobs", alike.flats.get("rollout_logprobs"))
        if own is None:
            continue
        counted = alike.counts & np.isfinite(own)
        rare = counted & (own < -np.log(VOCABULARY) - BELOW)
        total, few = (np.diff(np.concatenate([[0], np.cumsum(mark)])[alike.offsets]) for mark in (counted, rare))
        found[alike.rows] = np.where(total > 0, few / np.maximum(total, 1), np.nan)
    return {"rare_tokens": found}


def places(rollout: Rollout) -> Float64Array:
    """The logprobs of its tokens that are rare, 0 elsewhere. Shape (tokens,)."""
    own = rollout.arrays.get("logprobs", rollout.arrays.get("rollout_logprobs"))
    if own is None:
        return np.zeros(0)
    return np.where(rollout.counts & (own < -np.log(VOCABULARY) - BELOW), own, 0.0)
