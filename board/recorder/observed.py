"""What one rollout adds to its step's numbers: values of each counted token, and numbers of the whole, by name.

By the board's formulas, of what is written. Knows nothing of sums, steps or trackers.
"""

from collections.abc import Mapping
from typing import Any, Final

import numpy as np

from board import metrics
from board.metrics import BoolArray, Float64Array, FloatArray
from board.padding import pad_mask
from board.recorder.measures import CUT_SHORT, aligned, number
from board.schema import TOKENS

Tokens = dict[str, Float64Array]
"""Values of each counted token by the name of the quantity, shape (counted tokens,); NaN where one is missing."""

Numbers = dict[str, float]
"""Numbers of the rollout by the name of the quantity; NaN where one is missing."""

_TOKENS: Final = {
    "logprobs": "logprob",
    "ref_logprobs": "ref_logprob",
    "entropies": "entropy",
    "advantages": "advantage",
    "returns": "return",
    "values": "value",
}
"""Token arrays that enter as they are → the quantity's name."""

CLIP: Final = 0.2
"""PPO's usual epsilon, by which a ratio counts as clipped."""


def observe(row: Mapping[str, Any]) -> tuple[Tokens, Numbers] | None:
    """The quantities of a row; None of a row that the board refuses, as it has neither a response nor tokens."""
    if row.get("response") is None and not isinstance(row.get(TOKENS), list):
        return None
    arrays, length = aligned(row)
    counts = _counts(row, arrays, length)
    counted = {name: array.astype(np.float64)[counts] for name, array in arrays.items()}
    with np.errstate(all="ignore"):
        tokens = _tokens(counted)
        numbers = {**_scores(row), **_of_response(tokens, counted)}
    if "shaped" in numbers:
        numbers["penalty"] = numbers["shaped"] - numbers["reward"]
    if isinstance(row.get(TOKENS), list) or arrays:
        numbers |= {"length": float(counts.sum()), "empty": float(not counts.any())}
    if isinstance(row.get("response"), str):
        numbers["chars"] = float(len(row["response"]))
    return tokens, numbers


def _counts(row: Mapping[str, Any], arrays: Mapping[str, FloatArray], length: int) -> BoolArray:
    """Which tokens enter means: neither padding nor masked."""
    tokens = row.get(TOKENS)
    counts = ~pad_mask(tokens) if isinstance(tokens, list) else np.ones(length, bool)
    return counts & (arrays["loss_mask"] != 0) if "loss_mask" in arrays else counts


def _tokens(arrays: Mapping[str, Float64Array]) -> Tokens:
    found = {name: arrays[field] for field, name in _TOKENS.items() if field in arrays}
    if {"logprobs", "ref_logprobs"} <= arrays.keys():
        d = metrics.log_ratio(arrays["logprobs"], arrays["ref_logprobs"])
        found |= {name: metrics.kl(d, name) for name in metrics.ESTIMATORS}
    if {"values", "returns"} <= arrays.keys():
        bias = arrays["values"] - arrays["returns"]
        found |= {"bias": bias, "error": np.square(bias), "explained": np.where(np.isfinite(bias), arrays["returns"], np.nan)}
    if {"logprobs", "rollout_logprobs"} <= arrays.keys():
        found |= _mismatch(arrays["logprobs"], arrays["rollout_logprobs"])
    if {"logprobs", "old_logprobs"} <= arrays.keys():
        found |= _update(arrays["logprobs"] - arrays["old_logprobs"])
    return found


def _mismatch(logprobs: Float64Array, rollout_logprobs: Float64Array) -> Tokens:
    """Between what the trainer and what the inference engine say of the same tokens."""
    d = logprobs - rollout_logprobs
    return {
        "mismatch": d,
        "mismatch_abs": np.abs(d),
        "mismatch_prob": np.abs(np.exp(logprobs) - np.exp(rollout_logprobs)),
        "mismatch_mult": np.exp(np.abs(d)),
        "mismatch_kl": -d,
        "mismatch_k3": np.exp(d) - d - 1,
        "mismatch_is": np.exp(d),
    }


def _update(log_ratio: Float64Array) -> Tokens:
    """Between the policy that sampled the tokens and the one being trained."""
    ratio = np.exp(log_ratio)
    low, high = (np.where(np.isnan(ratio), np.nan, clipped) for clipped in (ratio < 1 - CLIP, ratio > 1 + CLIP))
    return {"ratio": ratio, "clip_low": low, "clip_high": high, "clip": low + high, "approxkl": np.square(log_ratio) / 2}


def _scores(row: Mapping[str, Any]) -> Numbers:
    """Rewards, and whether the response was cut at its limit; NaN where the row does not say."""
    reward, reference, valid = (number(row.get(name)) for name in ("reward", "ref_reward", "valid_reward"))
    found = {"reward": reward, "ref_reward": reference, "valid_reward": valid, "gap": reward - reference}
    found["win"] = float(reward > reference) if np.isfinite(found["gap"]) else np.nan
    if any(row.get(name) is not None for name in CUT_SHORT):
        found["truncated"] = float(any(row.get(name) == "length" for name in CUT_SHORT))
    else:
        found["truncated"] = number(row.get("truncated"))
    return found


def _of_response(tokens: Tokens, arrays: Mapping[str, Float64Array]) -> Numbers:
    """Sums and means over the rollout's counted tokens; NaN where no token has a number."""
    found: Numbers = {}
    for name in (name for name in metrics.ESTIMATORS if name in tokens):
        total, count = _sum(tokens[name])
        found |= {f"{name}_sum": total, f"{name}_rollout": total / max(1, count)}
    if "k1_sum" in found and np.isfinite(found["k1_sum"]):
        found["negative"] = float(found["k1_sum"] < 0)
    if "logprob" in tokens:
        found["surprisal"] = -_sum(tokens["logprob"])[0]
    if "mismatch" in tokens:
        found["mismatch_sequence"] = float(np.exp(_sum(tokens["mismatch"])[0]))
    if "token_rewards" in arrays:
        found["shaped"] = _sum(arrays["token_rewards"])[0]
    return found


def _sum(values: Float64Array) -> tuple[float, int]:
    """Of the finite values, and how many there are; NaN of none."""
    sound = np.isfinite(values)
    count = int(np.count_nonzero(sound))
    finite = values if count == values.size else values[sound]
    return (float(finite.sum()) if count else np.nan), count
