"""Faults of rewards, of their parts and sources, and of validation."""

from collections.abc import Callable
from typing import Final

import numpy as np

from benchmarks.findings.reported.configuration import VALIDATION, Curves
from benchmarks.findings.reported.fault import Hooks, OnCurves, Sample, Spot
from benchmarks.findings.reported.honest import settle


def falls(*names: str, by: float, steps: int = 1, rise: tuple[str, ...] = ()) -> OnCurves:
    """Curves that fall by so much, and others that rise."""

    def act(curves: Curves, spot: Spot) -> None:
        for name in names:
            curves[name] = curves[name] - by * spot.force * spot.ramp(steps)
        for name in rise:
            curves[name] = curves[name] + 0.5 * by * spot.force * spot.ramp(steps)
        curves["form"] = curves["form"].clip(0, 1)

    return act


def _dips(curves: Curves, spot: Spot) -> None:
    """Every fifth step and the one after it, each time as deep."""
    since = np.arange(len(curves["skill"])) - spot.first
    curves["skill"] = curves["skill"] - 4 * spot.force * spot.ramp() * (since % 5 < 2)


def _form_for_accuracy(curves: Curves, spot: Spot) -> None:
    curves["form"] = 0.3 + 0.69 * spot.force * spot.ramp(6)
    curves["skill"] = -0.4 - 4 * spot.force * spot.ramp(6)


def _zero(samples: list[Sample], spot: Spot) -> None:
    for one in samples:
        one.parts = dict.fromkeys(one.parts, 0.0)
        one.reward = 0.0


def _format_never(samples: list[Sample], spot: Spot) -> None:
    for one in samples:
        one.parts["format_reward"] = 0.0
        settle(spot.run, one)


def _whatever(samples: list[Sample], spot: Spot) -> None:
    for one in samples:
        if int(one.prompt.name[1:]) % 10 < 10 * 0.4 * spot.force:
            one.score, one.parts = 1.0, dict.fromkeys(one.parts, 1.0)
            settle(spot.run, one)


def _flat(samples: list[Sample], spot: Spot) -> None:
    kept: dict[str, Sample] = {}
    for one in samples:
        if one.group not in kept:
            kept[one.group] = one
            one.more["_flat"] = spot.some(spot.force)
        first = kept[one.group]
        if first.more["_flat"]:
            one.parts, one.reward = dict(first.parts), first.reward


def _scaled(factor: float) -> Callable[[list[Sample], Spot], None]:
    def act(samples: list[Sample], spot: Spot) -> None:
        for one in samples:
            one.reward = round(one.reward * (1 + (factor - 1) * spot.force), 4)

    return act


REWARD_HOOKS: Final = {
    "reward_zero": Hooks(pays=_zero),
    "part_constant": Hooks(pays=_format_never),
    "part_vanishes": Hooks(curves=_form_for_accuracy),
    "source_falls": Hooks(curves=falls("source_1", by=4, steps=3, rise=("source_0", "source_2"))),
    "reward_falls_graded": Hooks(curves=falls("skill", by=3.5, steps=3)),
    "reward_falls_binary": Hooks(curves=falls("skill", by=3.5, steps=3)),
    "reward_falls_model": Hooks(curves=falls("skill", by=3.5, steps=3)),
    "reward_falls_parts": Hooks(curves=falls("skill", "form", by=2.5)),
    "reward_dips": Hooks(curves=falls("skill", by=4)),
    "reward_dips_thrice": Hooks(curves=_dips),
    "flat_groups_for_a_while": Hooks(pays=_flat),
    "reward_scale": Hooks(pays=_scaled(10)),
    "prompts_paid": Hooks(pays=_whatever),
    "flat_groups": Hooks(pays=_flat),
    "validation_falls": Hooks(curves=falls(*VALIDATION, by=3.5, steps=3)),
    "one_validation_falls": Hooks(curves=falls(VALIDATION[1], by=4, steps=4)),
    "accuracy_falls": Hooks(curves=falls("accuracy", by=4, steps=4, rise=("skill",))),
}
