"""What a run is like before anything goes wrong: its sizes, fields, reward and honest changes, all drawn from its kind and seed."""

from dataclasses import dataclass
from random import Random
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from benchmarks.findings.reported.texts import POOLS

Curves = dict[str, NDArray[np.float64]]
"""What the policy is like, by name, at each logged step. Shape (steps,)."""

ARRAYS: Final = ("logprobs", "ref_logprobs", "entropies", "rollout_logprobs", "advantages", "loss_mask")
FIELDS: Final = ((), ("logprobs", "ref_logprobs"), ARRAYS, ("logprobs",), ("logprobs", "rollout_logprobs", "advantages"), ())
"""Token arrays that a run has; none and no tokens at all take turns."""
CRITIC: Final = ("values", "returns", "token_rewards")
VALIDATION: Final = ("held_out_a", "held_out_b")
BYTES: Final = 900_000
"""About what a run may take, since some grow."""


@dataclass(frozen=True)
class Run:
    """One run's configuration."""

    kind: str
    seed: int
    steps: tuple[int, ...]
    """Their numbers."""
    prompts: int
    """Of a step."""
    group: int
    """Rollouts of a prompt."""
    arrays: tuple[str, ...]
    tokens: bool
    traits: frozenset[str]
    pay: str
    scale: float
    shift: float
    weights: dict[str, float]
    """Of the parts of a reward, by name; empty where there is a total alone."""
    longer_pays: float
    """What a response as long as the limit is paid for it; below 0 where shorter ones are paid more."""
    sources: int
    fillers: float
    """Sentences beside the solution's own, expected in the first step."""
    limit: int
    """Tokens at which a response is cut."""
    ends: tuple[str, ...]
    rule: str
    trend: str
    growth: float
    """By which the number of sentences changes over the run."""
    pool: int
    """Prompts of the data set."""


def run_of(kind: str, seed: int, **wanted: Any) -> Run:
    """Draw a run; `wanted` holds what a fault must have: fields of Run, `traits`, `calm`, `least` steps, `bytes`."""
    dice = Random(f"{kind}/{seed}/run")
    pay = wanted.get("pay", POOLS["pays"][kind][seed % 3])
    group = wanted.get(
        "group",
        1 if kind == "chat" and seed % 2 else dice.choice((1, 4) if kind == "evaluation" else (2, 4, 4, 8, 8, 16, 32, 64)),
    )
    arrays = wanted.get("arrays", FIELDS[seed % len(FIELDS)])
    tokens = wanted.get("tokens", bool(arrays) or seed % 12 == 5)
    if group == 1 and arrays and kind == "chat" and "calm" not in wanted:
        arrays += CRITIC
    traits = {
        trait
        for trait in POOLS["traits"]
        if dice.random() < (0.2 if trait == "async" else 0.4) and not (wanted.get("calm") and trait in POOLS["distracting"])
    }
    traits |= set(wanted.get("traits", ()))
    traits -= {"curriculum"} if "source" not in traits else set()
    traits -= {"validation", "dynamic", "resumed", "async", "version"} if kind == "evaluation" else set()
    base, sentence = POOLS["tokens"][kind]
    growth = wanted.get(
        "growth", (1.2, -0.35, 0.0)[seed % 3] if kind in ("reasoning", "code", "agents") else (-0.2, 0.1, 0.0)[seed % 3]
    )
    fillers = wanted.get("fillers", dice.uniform(0.4, 2.0 if group < 32 else 0.6) + 0.6 * (kind in ("chat", "chinese")))
    length = base + sentence * fillers * (1 + growth / 2)
    size = 220 + length * (5.2 + (9 if tokens else 0) + 8.3 * len(arrays))
    least, room = wanted.get("least", 5), wanted.get("bytes", BYTES * (0.7 if "validation" in traits else 1))
    count = max(least, dice.choice((80, 60, 40, 40, 30, 24, 16, 10, 5)) if kind != "evaluation" else dice.choice((5, 8, 12)))
    rollouts = dice.choice((16, 32, 48, 64, 128, 200)) if kind != "evaluation" else dice.choice((48, 96, 200))
    least_prompts = -(-wanted.get("rollouts", 16) // group)
    prompts = max(least_prompts, min(rollouts, int(room / size / count)) // group)
    count = max(least, min(count, int(room / size / prompts / group)))
    first, stride = dice.choice((0, 0, 1)), dice.choice((1, 1, 1, 5)) if kind != "evaluation" else 50
    steps = tuple(range(first, first + count * stride, stride))
    if pay == "parts":
        weights = {"accuracy_reward": 1.0, "format_reward": dice.choice((0.2, 0.5))} | (
            {"bonus_reward": 0.5} if "rare_part" in traits else {}
        )
    return Run(
        kind=kind,
        seed=seed,
        steps=steps,
        prompts=prompts,
        group=group,
        arrays=arrays,
        tokens=tokens or bool(arrays),
        traits=frozenset(traits),
        pay=pay,
        scale={"signed": 2.0, "scaled": 3.0, "model": dice.choice((0.5, 1.0, 2.0))}.get(pay, 1.0),
        shift={"signed": -1.0, "scaled": 5.0, "model": dice.choice((-4.0, -1.0, 0.0, 1.0))}.get(pay, 0.0),
        weights=wanted.get("weights", weights if pay == "parts" else {}),
        longer_pays=wanted.get("longer_pays", 0.0),
        sources=wanted.get("sources", dice.choice((2, 3))),
        fillers=fillers,
        limit=int((base + sentence * (fillers * (1 + max(0.0, growth)) + 3)) * 1.15) // 8 * 8 + 8,
        ends=wanted.get("ends", (dice.choice(POOLS["ends"]),)),
        rule=dice.choice(("grpo", "grpo", "dr_grpo", "rloo")),
        trend=wanted.get("trend", ("slow", "saturating", "flat", "noisy", "jump")[seed % 5] if kind != "evaluation" else "slow"),
        growth=growth,
        pool=int(prompts * count / dice.uniform(2, 6)) + prompts if "revisited" in traits else 10**9,
    )


def curves_of(run: Run) -> Curves:
    """What the policy is like at each step of an honest run: slow changes and noise."""
    dice = np.random.default_rng([run.seed, 1, len(run.kind)])
    count = len(run.steps)
    time = np.linspace(0, 1, count)
    if "warm_up" in run.traits:
        time = np.clip((time - 0.12) / 0.88, 0, 1)
    low, gain = dice.uniform(-1.0, -0.2), dice.uniform(0.8, 1.8)
    rise = {
        "slow": time,
        "saturating": 1 - np.exp(-5 * time),
        "flat": 0.1 * time,
        "noisy": time + dice.normal(0, 0.15, count),
        "jump": 0.6 * np.minimum(np.arange(count) / 3, 1) + 0.4 * time,
    }[run.trend]
    skill = low + gain * rise + dice.normal(0, 0.05, count)
    if "noisy_step" in run.traits:
        skill[int(dice.integers(1, max(2, count - 1)))] -= 0.7
    lag = dice.integers(0, int(dice.choice([1, 2, 4])) + 1, count).astype(np.float64)
    return {
        "skill": skill,
        "form": (0.75 if dice.random() < 0.5 else 0.93) + 0.06 * time,
        "rare": np.full(count, 0.03),
        "fillers": np.maximum(run.fillers * (1 + run.growth * time) * np.exp(dice.normal(0, 0.04, count)), 0),
        "cut": np.full(count, dice.choice([0.0, 0.02, 0.05, 0.1])),
        "entropy": dice.uniform(0.3, 0.7) * (1 - dice.uniform(0.05, 0.35) * time) * np.exp(dice.normal(0, 0.02, count)),
        "kl": (0.0003 + dice.uniform(0.004, 0.03) * time**1.2) * np.exp(dice.normal(0, 0.08, count)),
        "mismatch": dice.uniform(0.005, 0.03) * (1 + 0.3 * lag),
        "lag": np.minimum(lag, np.arange(count)),
        "harder": (time > 0.55).astype(np.float64) if "curriculum" in run.traits else np.zeros(count),
        "accuracy": skill.copy(),
        **{f"source_{at}": np.full(count, float(dice.normal(0, 0.4))) for at in range(run.sources)},
        **{name: skill + dice.normal(0, 0.3) for name in VALIDATION},
    }
