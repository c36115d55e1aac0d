"""The engine's logprobs drift from the trainer's: what is trained is another policy than what sampled."""

from typing import Final

import numpy as np
from numpy.typing import NDArray

from board.findings.contract import Answer, CannotTell, Found, Limits
from board.findings.declared import declared
from board.findings.departures import dated
from board.findings.dossier import Dossier
from board.metrics.formulas import Float64Array, before_update
from board.text.format_number import fmt

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
_MOST: Final = 0.8
_LEAST_ROWS: Final = 8
_LEAST: Final = 1e-6
"""Excess of the ratio below which arrays are as good as equal."""


def _look(dossier: Dossier, limits: Limits) -> Answer:
    excess = dossier.number("engine_ratio") - 1
    if not np.isfinite(excess).any():
        return CannotTell("no rollout has logprobs of the trainer and of the engine")
    curve = dossier.curve_of(dossier.like_for_like(np.log(np.maximum(excess, _LEAST))))
    level = dossier.curve_of(excess).mean
    turn = curve.turn()
    if turn is not None and turn.z >= limits["z"] and turn.change > np.log(_GROWN):
        after = float(np.nanmean(level[max(turn.at, len(level) - max(3, len(level) // 5)) :]))
        before, at, strength = float(np.nanmean(level[: turn.at])), turn.at if turn.is_jump else dated(curve, turn), turn.z
        grows = True
    else:
        after, before, at, grows = float(np.nanmean(level)), np.nan, 0, False
        strength = after / limits["ratio"]  # it is there from the start: nothing to tell it from
    if not after >= limits["ratio"]:
        return None
    since = dossier.since(at) & np.isfinite(excess)
    k3 = float(np.nanmean(dossier.run.moment("mismatch_k3/mean", dossier.keys[since])))
    told = f"from step {int(curve.steps[at])} on the engine's probabilities drift from the trainer's"
    told = told if grows else "the engine's probabilities are others than the trainer's: all along they differ"
    told += f": mean ratio {fmt(1 + after)} in the end" + (f", {fmt(1 + before)} before" if grows else "")
    told += f", KL (k3) {fmt(k3)} nats per token{dossier.ranks_told(since & (excess > limits['ratio']))}"
    where, tokens = _where(dossier, dossier.clearest(since, excess)[:_SAMPLE])
    # a setting is another from the first step on
    told += where + (_unsynced(level[at:]) if grows else _temperature(dossier, since))
    severity = None if grows or after >= limits["alarm"] else "note"
    shown = dossier.clearest(since & (excess > np.nanmedian(excess[since])), excess)
    return Found.since(dossier, at, told, "ratio", after, strength, shown, tokens=tokens, severity=severity)


def _unsynced(level: Float64Array) -> str:
    """What a distance looks like that goes on to grow, (k,) since it began."""
    third = -(-len(level) // 3)
    grows_on = len(level) >= 2 * _LEAST_ROWS and np.nanmean(level[-third:]) >= _GROWN * np.nanmean(level[:third])
    return "; it goes on to grow, as where the engine stays at older weights that are not synced any more" if grows_on else ""


def _temperature(dossier: Dossier, since: NDArray[np.bool_]) -> str:
    """What the trainer's logprobs look divided by, where in most rollouts they are much more, or less, widely spread in a line."""
    scale, agreement = (dossier.number(name)[since] for name in ("engine_scale", "engine_agreement"))
    scale = scale[(agreement > _IN_LINE) & np.isfinite(scale)]
    if len(scale) < _LEAST_ROWS or not max(np.median(scale), 1 / np.median(scale)) >= _SCALED:
        return ""
    if np.mean((scale > 1) == (np.median(scale) > 1)) < _MOST:
        return ""
    return (
        f"; the trainer's are spread {fmt(float(np.median(scale)))} times as widely, as if its logits were divided by a temperature of about "
        f"{fmt(1 / float(np.median(scale)), 2)}"
    )


def _where(dossier: Dossier, keys: NDArray[np.int64]) -> tuple[str, list[tuple[int, int]]]:
    """What the improbable ones of some rollouts' tokens that count hold of the difference, and (key, position) of the largest of each."""
    sums = np.zeros((2, 2))
    found: list[tuple[float, int, int]] = []
    for key in keys.tolist():
        logprobs, engine, mask = (dossier.run.numbers_of(key, name) for name in ("logprobs", "rollout_logprobs", "loss_mask"))
        if logprobs is None or engine is None:
            continue
        trained = before_update(logprobs, dossier.run.numbers_of(key, "old_logprobs"))
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


KIND: Final = declared("train_inference_mismatch", _look)
