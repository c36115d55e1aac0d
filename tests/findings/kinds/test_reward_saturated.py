"""Rewards that are all the same good one, and rewards that are all alike for other reasons."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from looked_at import asked, one, silent

from board.findings.contract import CannotTell
from board.findings.kinds.earned import REWARD_SATURATED as KIND

STEPS, ONSET = 15, 8

Dice = np.random.Generator


def _run(reward: Callable[[Dice, int], float], steps: int = STEPS) -> list[dict[str, Any]]:
    dice = np.random.default_rng(2)
    return [
        {"step": step, "prompt": f"p{at}", "response": "ok", "reward": reward(dice, step)}
        for step in range(steps)
        for at in range(20)
    ]


@pytest.mark.parametrize(
    "reward",
    [
        lambda dice, step: float(step >= ONSET or dice.random() < 0.4),
        lambda dice, step: 3.0 if step >= ONSET else float(dice.normal(0, 1.5)),
    ],
    ids=["pass or fail", "a model's"],
)
def test_a_reward_that_is_always_the_best_is_found(tmp_path: Path, reward: Callable[[Dice, int], float]) -> None:
    """From a step on, with rollouts of then."""
    found = one(asked(KIND, tmp_path, _run(reward)))
    assert found.first_step == ONSET
    assert (found.rollouts >= 20 * ONSET).all()


def test_a_part_that_is_not_earned_is_named(tmp_path: Path) -> None:
    """A reward that is all format by now is worse than one that is earned."""
    rows = _run(lambda dice, step: float(step >= ONSET or dice.random() < 0.4))
    rows = [row | {"format_reward": row["reward"], "acc_reward": float(at % 50 == 0)} for at, row in enumerate(rows)]
    found = one(asked(KIND, tmp_path, rows))
    assert found.severity == "warning"
    assert "not earned by all of its parts: `acc_reward` stays at 0.0" in found.effect


@pytest.mark.parametrize(
    "reward",
    [
        lambda dice, step: float(dice.random() < 0.9),
        lambda dice, step: float(step < ONSET and dice.random() < 0.4),
        lambda dice, step: 1.0,
        lambda dice, step: float(dice.normal(step, 1)),
        lambda dice, step: float("nan"),
        lambda dice, step: 100.0 if dice.random() < 0.02 else float(dice.random() < 0.55),
    ],
    ids=["nearly", "always the worst", "never another", "still rising", "none", "a few are far off"],
)
def test_other_rewards_are_silence(tmp_path: Path, reward: Callable[[Dice, int], float]) -> None:
    """All alike and bad, or good and still different."""
    answer = asked(KIND, tmp_path, _run(reward))
    assert silent(answer) or isinstance(answer, CannotTell)


def test_few_steps_tell_nothing(tmp_path: Path) -> None:
    """A beginning and an end are needed."""
    assert isinstance(asked(KIND, tmp_path, _run(lambda dice, step: float(step > 1), steps=4)), CannotTell)
