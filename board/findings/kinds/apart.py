"""Logprobs that are far apart: a KL that very few tokens hold, an engine whose probabilities are others than the trainer's."""

from collections import Counter
from typing import Final

import numpy as np
from numpy.typing import NDArray

from board.analysis.rollouts.kl_concentration import LARGEST, without_largest
from board.findings.change_points import FEW, Series, turn
from board.findings.context import Context
from board.findings.contract import MOST_SHOWN, Answer, CannotTell, Found, Limits, declared
from board.findings.departures import dated, departures
from board.findings.spreading import Outbreak, outbreak
from board.metrics.formulas import Float64Array, before_update
from board.text.display import visible
from board.text.format_number import fmt

_LEAST_KL: Final = 0.01
"""Nats of Σ k3 of a rollout: what is less is rounding of a policy that is still the reference, of which any token may hold most."""
_TIMES: Final = 2.0
"""So many times as many rollouts as before are concentrated."""
_READ: Final = 2_000
"""Of so many rollouts it is looked at which token is the largest."""
_FAR: Final = 4.0
"""Nats of k3 of one token, from which on it is far from the reference: e^5 times as likely, or a hundredth."""


def _look_for_few(context: Context, limits: Limits) -> Answer:
    found = _of_rollouts(context, limits)
    return found if found is not None else _of_steps(context, limits)


def _of_steps(context: Context, limits: Limits) -> list[Found]:
    """Steps whose KL a single token holds: the share of the largest, as a curve that departs from its level."""
    sums, peaks, size = context.number("kl_k3_sum"), context.number("kl_k3_peak_1"), len(context.steps.numbers)
    known, row = np.isfinite(sums) & np.isfinite(peaks), context.steps.row
    largest, total = np.zeros(size), np.bincount(row[known], sums[known], size)
    np.maximum.at(largest, row[known], peaks[known])
    share = np.where(total >= _LEAST_KL, largest / np.maximum(total, _LEAST_KL), np.nan)
    unsure = np.full(size, np.nan)
    if np.isfinite(share).sum() < FEW:
        return []
    found = []
    for one in departures(Series(context.steps.numbers, share, unsure, unsure), 1, limits["share"] / 2, clear=limits["z"]):
        at = np.flatnonzero((row >= one.at) & (row < one.end) & known & (peaks == largest[row]) & (peaks >= _FAR))
        at = at[np.argsort(-peaks[at], kind="stable")]
        if not len(at) or one.after < limits["share"]:
            continue
        first, last = (int(context.steps.numbers[step]) for step in (one.at, one.end - 1))
        held, before = fmt(100 * float(np.nanmean(share[one.at : one.end]))), fmt(100 * one.before)
        places = context.number("kl_k3_peak_at")[at].astype(np.int64)
        most = fmt(float(peaks[at[0]]))
        effect = f"from step {first} to {last} a single token holds {held} % of a step's KL (before: {before} %), with up to {most} nats"
        tokens = list(zip(context.keys[at].tolist(), places.tolist(), strict=True))
        found.append(Found(effect, first, last, "share", one.after, one.z, context.keys[at], tokens))
    return found


def _of_rollouts(context: Context, limits: Limits) -> Answer:
    share, sums = context.number("kl_k3_peak_share"), context.number("kl_k3_sum")
    known = np.isfinite(share) & (sums >= _LEAST_KL)
    if not known.any():
        return CannotTell(f"no rollout has a KL of {fmt(_LEAST_KL)} nats or more")
    marks = known & (share >= limits["share"])
    found = outbreak(context.steps, marks, known, limits["usual"])
    if found is None or found.z < limits["z"] or found.share < limits["rollouts"] or found.share < _TIMES * found.before:
        return None
    if not (known & ~context.since(found.at)).any():
        return None
    since = marks & context.since(found.at) & (context.steps.row <= np.searchsorted(context.steps.numbers, found.last_step))
    name, of_name, same = _which(context, since, limits["same"])
    if not same.any():
        return None
    keys = context.clearest(same, context.number("kl_k3_peak_1"))
    at = dict(zip(context.keys.tolist(), context.number("kl_k3_peak_at").tolist(), strict=True))
    tokens = [(key, int(at[key])) for key in keys[:MOST_SHOWN].tolist()]
    effect = _effect(context, found, since, share, name, of_name)
    return Found(effect, found.step, found.last_step, "rollouts", found.share, found.z, keys, tokens)


def _which(context: Context, marks: NDArray[np.bool_], least: float) -> tuple[str, float, NDArray[np.bool_]]:
    """What the largest tokens of the marked rollouts have in common: one text, or that they are the last; in which share; and which rollouts.

    None of them where it is less than `least` of them.
    """
    rows = np.flatnonzero(marks)
    rows = rows[np.linspace(0, len(rows) - 1, min(len(rows), _READ)).astype(np.int64)]
    keys, at = context.keys[rows], context.number("kl_k3_peak_at")[rows].astype(np.int64)
    if context.run.has_tokens:
        texts = context.run.at_tokens("response_tokens", keys, at).tolist()
    else:
        texts = ["the last token" if last else None for last in (at >= context.number("response_length")[rows] - 1).tolist()]
    (text, count), *_ = Counter(texts).most_common(1)
    same = np.zeros(len(marks), bool)
    if text is not None and count >= least * len(texts):
        same[rows[[one == text for one in texts]]] = True
    name = f"“{visible(text)}”" if context.run.has_tokens and text is not None else str(text)
    return name, count / len(texts), same


def _effect(context: Context, found: Outbreak, since: NDArray[np.bool_], share: Float64Array, name: str, of_name: float) -> str:
    """With the share of the KL that is held by few, and what is left without them."""
    peaks = context.number("kl_k3_peak_1")[since]
    means = context.number("kl_k3_mean")[since]
    held = float(np.median(share[since]))
    largest = np.stack([context.number(f"kl_k3_peak_{number}") for number in range(1, LARGEST + 1)], axis=1)
    whole, rest = without_largest(context.steps.row, context.number("kl_k3_sum"), context.number("response_length"), largest)
    steps = np.unique(context.steps.row[since])
    return (
        f"from step {found.step} the largest 1 % of the tokens hold {fmt(100 * held)} % of the KL of {fmt(100 * found.share)} % of the "
        f"responses (before: of {fmt(100 * found.before)} %), and in {fmt(100 * of_name)} % of these it is {name}, with a KL of "
        f"{fmt(float(np.median(peaks)))} nats where the mean of all tokens is {fmt(float(np.median(means)))}; without its {LARGEST} largest "
        f"tokens a step's KL is {fmt(float(np.nanmean(rest[steps])))} instead of {fmt(float(np.nanmean(whole[steps])))}"
    )


_GROWN: Final = 1.5
"""So many times what it was before must the mean excess of the ratio be since."""
_IMPROBABLE: Final = 0.1
"""Tokens of a smaller probability are improbable ones."""
_SAMPLE: Final = 200
"""Rollouts whose tokens are looked at."""
_TOKENS: Final = 50
_IN_LINE: Final = 0.9
"""Correlation from which on two arrays are one, but for noise and scale."""
_SCALED: Final = 1.1
"""So many times as widely one must be spread for a temperature to be the cause."""
_MOST_ALIKE: Final = 0.8
_LEAST_ROWS: Final = 8
_LEAST_EXCESS: Final = 1e-6
"""Excess of the ratio below which arrays are as good as equal."""


def _look_for_drift(context: Context, limits: Limits) -> Answer:
    excess = context.number("engine_ratio") - 1
    if not np.isfinite(excess).any():
        return CannotTell("no rollout has logprobs of the trainer and of the engine")
    curve = context.curve_of(context.like_for_like(np.log(np.maximum(excess, _LEAST_EXCESS))))
    level = context.curve_of(excess).mean
    shift = turn(curve)
    if shift is not None and shift.z >= limits["z"] and shift.change > np.log(_GROWN):
        after = float(np.nanmean(level[max(shift.at, len(level) - max(3, len(level) // 5)) :]))
        before, at, strength = float(np.nanmean(level[: shift.at])), dated(curve, shift), shift.z
        grows = True
    else:
        after, before, at, grows = float(np.nanmean(level)), np.nan, 0, False
        strength = after / limits["ratio"]  # it is there from the start: nothing to tell it from
    # all along is what most steps are, and not a few
    if not min(after, np.inf if grows else float(np.nanmedian(level))) >= limits["ratio"]:
        return None
    since = context.since(at) & np.isfinite(excess)
    k3 = float(np.nanmean(context.run.moment("mismatch_k3/mean", context.keys[since])))
    effect = f"from step {int(curve.steps[at])} on the engine's probabilities drift from the trainer's"
    effect = effect if grows else "the engine's probabilities are others than the trainer's: all along they differ"
    effect += f": mean ratio {fmt(1 + after)} in the end" + (f", {fmt(1 + before)} before" if grows else "")
    effect += f", KL (k3) {fmt(k3)} nats per token{context.in_rank(since & (excess > limits['ratio']))}"
    where, tokens = _where(context, context.clearest(since, excess)[:_SAMPLE])
    # a setting is another from the first step on
    effect += where + (_unsynced(level[at:]) if grows else _temperature(context, since))
    severity = None if grows or after >= limits["alarm"] else "note"
    shown = context.clearest(since & (excess > np.nanmedian(excess[since])), excess)
    return Found.since(context, at, effect, "ratio", after, strength, shown, tokens=tokens, severity=severity)


def _unsynced(level: Float64Array) -> str:
    """What a distance looks like that goes on to grow, (k,) since it began."""
    third = -(-len(level) // 3)
    grows_on = len(level) >= 2 * _LEAST_ROWS and np.nanmean(level[-third:]) >= _GROWN * np.nanmean(level[:third])
    return "; it goes on to grow, as where the engine stays at older weights that are not synced any more" if grows_on else ""


def _temperature(context: Context, since: NDArray[np.bool_]) -> str:
    """What the trainer's logprobs look divided by, where in most rollouts they are much more, or less, widely spread in a line."""
    scale, agreement = (context.number(name)[since] for name in ("engine_scale", "engine_agreement"))
    scale = scale[(agreement > _IN_LINE) & np.isfinite(scale)]
    if len(scale) < _LEAST_ROWS or not max(np.median(scale), 1 / np.median(scale)) >= _SCALED:
        return ""
    if np.mean((scale > 1) == (np.median(scale) > 1)) < _MOST_ALIKE:
        return ""
    return (
        f"; the trainer's are spread {fmt(float(np.median(scale)))} times as widely, as if its logits were divided by a temperature of about "
        f"{fmt(1 / float(np.median(scale)), 2)}"
    )


def _where(context: Context, keys: NDArray[np.int64]) -> tuple[str, list[tuple[int, int]]]:
    """What the improbable ones of some rollouts' tokens that count hold of the difference, and (key, position) of the largest of each."""
    sums = np.zeros((2, 2))
    found: list[tuple[float, int, int]] = []
    for key in keys.tolist():
        logprobs, engine, mask = (context.run.numbers_of(key, name) for name in ("logprobs", "rollout_logprobs", "loss_mask"))
        if logprobs is None or engine is None:
            continue
        trained = before_update(logprobs, context.run.numbers_of(key, "old_logprobs"))
        gap = np.abs(np.asarray(trained, np.float64) - engine)
        known = np.isfinite(gap) & (np.isfinite(gap) if mask is None else mask != 0)
        rare = known & (engine < np.log(_IMPROBABLE))
        sums += [[gap[known].sum(), gap[rare].sum()], [known.sum(), rare.sum()]]
        if known.any():
            position = int(np.where(known, gap, -1).argmax())
            found.append((float(gap[position]), int(key), position))
    places = [one[1:] for one in sorted(found, key=lambda one: -one[0])[:_TOKENS]]
    if not sums[:, 0].all():
        return "", places
    held, are = 100 * sums[:, 1] / sums[:, 0]
    return (
        f"; tokens of probability below {_IMPROBABLE} are {fmt(float(are))} % of them and hold {fmt(float(held))} % of it",
        places,
    )


KL_CONCENTRATED: Final = declared("kl_concentrated", _look_for_few)
TRAIN_INFERENCE_MISMATCH: Final = declared("train_inference_mismatch", _look_for_drift)
