"""Faults of the numbers of tokens: KL, entropy, the engine's log-probabilities, masks, advantages, and numbers that are none."""

from typing import Final

import numpy as np

from benchmarks.findings.reported.configuration import Curves
from benchmarks.findings.reported.fault import Hooks, OnCurves, OnSamples, Sample, Spot


def raised(name: str, to: float, steps: int = 1) -> OnCurves:
    """A curve that rises to a value."""

    def act(curves: Curves, spot: Spot) -> None:
        ramp = spot.ramp(steps)
        curves[name] = curves[name] * (1 - ramp) + np.maximum(curves[name], to * spot.force) * ramp

    return act


def _entropy(factor: float) -> OnCurves:
    def act(curves: Curves, spot: Spot) -> None:
        curves["entropy"] = curves["entropy"] * (1 + (factor - 1) * spot.force * spot.ramp(4))

    return act


def _lagging(curves: Curves, spot: Spot) -> None:
    at = np.arange(len(curves["lag"]))
    curves["lag"] = np.maximum(
        curves["lag"], np.minimum(at, np.clip(at - spot.first + 3, 0, 20 * spot.force) * (spot.ramp() > 0))
    )
    curves["mismatch"] = curves["mismatch"] + 0.15 * spot.force * spot.ramp(6)


def _one_token(samples: list[Sample], spot: Spot) -> None:
    one = spot.dice.choice(samples)
    place = spot.dice.randrange(len(one.tokens))
    one.arrays["ref_logprobs"][place] = np.round(one.arrays["logprobs"][place] - 8 - 30 * spot.force, 4)


def _tempered(samples: list[Sample], spot: Spot) -> None:
    for one in samples:
        engine = one.arrays["rollout_logprobs"]
        odds = engine - np.log1p(-np.exp(np.minimum(engine, -1e-5)))
        one.arrays["logprobs"] = np.round(-np.log1p(np.exp(-odds * (1 + 0.6 * spot.force))), 4).astype(np.float64)


def _zeros(samples: list[Sample], spot: Spot) -> None:
    for one in samples:
        if spot.some(0.3 * spot.force):
            place = int(np.argmin(one.arrays["logprobs"]))
            one.arrays["logprobs"][place] = min(one.arrays["logprobs"][place], -6.5)
            one.arrays["rollout_logprobs"][place] = 0.0


def _unlearned(samples: list[Sample], spot: Spot) -> None:
    """Values that say less of the returns than their mean does."""
    returns = np.concatenate([one.arrays["returns"] for one in samples])
    for one in samples:
        off = spot.dice.choice((-1.0, 1.0)) * (1 + 2 * spot.force) * (float(returns.std()) + 0.1)
        one.arrays["values"] = np.round(float(returns.mean()) + off - 0.5 * (one.arrays["returns"] - returns.mean()), 6)


def _upside_down(samples: list[Sample], spot: Spot) -> None:
    for one in samples:
        one.arrays["loss_mask"] = 1.0 - one.arrays["loss_mask"]


def _nothing_trained(samples: list[Sample], spot: Spot) -> None:
    for one in samples:
        one.arrays["loss_mask"] = one.arrays["loss_mask"] * 0.0


def _end_masked(samples: list[Sample], spot: Spot) -> None:
    for one in samples:
        if one.tokens[-1] in spot.run.ends:
            one.arrays["loss_mask"][-1] = 0.0


def _nan(name: str, share: float) -> OnSamples:
    def act(samples: list[Sample], spot: Spot) -> None:
        for one in samples:
            if spot.some(share):
                one.arrays[name] = np.full(len(one.tokens), np.nan)

    return act


def _nan_part(samples: list[Sample], spot: Spot) -> None:
    for one in samples:
        if spot.some(0.5 * spot.force):
            one.parts["format_reward"] = float("nan")


def _off_centre(samples: list[Sample], spot: Spot) -> None:
    for one in samples:
        one.arrays["advantages"] = np.round(one.arrays["advantages"] + 1.2 * spot.force, 4)


def _sign(samples: list[Sample], spot: Spot) -> None:
    for one in samples:
        one.arrays["advantages"] = -one.arrays["advantages"]


NUMBER_HOOKS: Final = {
    "kl_jump": Hooks(curves=raised("kl", 0.6)),
    "kl_one_token": Hooks(numbers=_one_token),
    "kl_rises": Hooks(curves=raised("kl", 0.6, 4)),
    "entropy_collapses": Hooks(curves=_entropy(0.03)),
    "entropy_collapses_for_a_while": Hooks(curves=_entropy(0.03)),
    "entropy_explodes": Hooks(curves=_entropy(6)),
    "mismatch_jumps": Hooks(curves=raised("mismatch", 1.0)),
    "mismatch_temperature": Hooks(numbers=_tempered),
    "mismatch_zeros": Hooks(numbers=_zeros),
    "mask_inverted": Hooks(numbers=_upside_down),
    "mask_all_zero": Hooks(numbers=_nothing_trained),
    "end_token_masked": Hooks(numbers=_end_masked),
    "advantages_nan": Hooks(numbers=_nan("advantages", 0.6)),
    "reference_nan": Hooks(numbers=_nan("ref_logprobs", 1.0)),
    "part_nan": Hooks(pays=_nan_part),
    "advantages_not_centred": Hooks(numbers=_off_centre),
    "advantages_sign": Hooks(numbers=_sign),
    "staleness_grows": Hooks(curves=_lagging),
    "staleness_for_a_while": Hooks(curves=_lagging),
    "critic_collapses_for_a_while": Hooks(numbers=_unlearned),
}
