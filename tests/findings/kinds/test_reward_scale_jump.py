"""Rewards on another scale: small runs in which they are, and runs in which they change for other reasons."""

import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hacked import TURN, hacked_rows
from looked_at import asked, one, silent

from board.findings.contract import CannotTell
from board.findings.kinds.reward_scale_jump import KIND

STEPS, ONSET = 20, 9

Dice = np.random.Generator
Reward = Callable[[Dice, int, str], float]


def _run(reward: Reward, sources: tuple[str | None, ...] = ("math", "code")) -> list[dict[str, Any]]:
    dice = np.random.default_rng(3)
    return [
        {
            "step": step,
            "prompt": f"{source} {at}",
            "response": "ok",
            "reward": reward(dice, step, source or ""),
            **({"data_source": source} if source else {}),
        }
        for step in range(STEPS)
        for source in sources
        for at in range(8)
    ]


def _pass(dice: Dice, step: int) -> float:
    return float(dice.random() < 0.3 + 0.02 * step)


def _model(dice: Dice, step: int) -> float:
    return float(dice.normal(0.02 * step, 1))


def _tripled(dice: Dice, step: int, source: str) -> float:
    return _pass(dice, step) * (3 if step >= ONSET and source == "math" else 1)


def _shifted(dice: Dice, step: int, source: str) -> float:
    return _pass(dice, step) + (1 if step >= ONSET else 0)


def _wider(dice: Dice, step: int, source: str) -> float:
    return _model(dice, step) * (4 if step >= ONSET and source == "math" else 1)


def _higher(dice: Dice, step: int, source: str) -> float:
    return _model(dice, step) + (3 if step >= ONSET else 0)


@pytest.mark.parametrize(
    ("reward", "sources", "told"),
    [
        (_tripled, ("math", "code"), "of data source math are multiplied by 3"),
        (_shifted, ("math", "code"), "of all rollouts are shifted by 1"),
        (_shifted, (None,), "of all rollouts are shifted by 1"),
        (_wider, ("math", "code"), "of data source math are multiplied by"),
        (_higher, (None,), "of all rollouts are shifted by"),
    ],
    ids=["0 and 1 tripled", "0 and 1 shifted", "without sources", "multiplied", "shifted"],
)
def test_it_says_whose_rewards_are_on_another_scale_and_since_when(
    tmp_path: Path, reward: Reward, sources: tuple[str | None, ...], told: str
) -> None:
    """The step, the source, the factor or the shift; and rollouts since then whose rewards moved."""
    found = one(asked(KIND, tmp_path, _run(reward, sources)))
    assert found.first_step in range(ONSET - 1, ONSET + 2)
    assert told in found.effect
    assert found.strength > 4.5
    steps = found.rollouts // (8 * len(sources))
    assert (steps >= ONSET - 1).mean() > 0.9


def test_a_rollout_whose_reward_stayed_is_no_evidence(tmp_path: Path) -> None:
    """Of rewards tripled, the zeros are as they were."""
    rows = _run(_tripled)
    found = one(asked(KIND, tmp_path, rows))
    assert all(rows[key]["reward"] == 3 for key in found.rollouts)


def _learning(dice: Dice, step: int, source: str) -> float:
    return float(dice.random() < (0.1 if step < ONSET else 0.8))


def _fast(dice: Dice, step: int, source: str) -> float:
    return float(dice.normal(3 / (1 + np.exp((ONSET - step) / 2)), 1))


def _bonus(dice: Dice, step: int, source: str) -> float:
    return _pass(dice, step) + (0.5 if step >= ONSET and dice.random() < 0.5 else 0)


def _curriculum(dice: Dice, step: int, source: str) -> float:
    return _pass(dice, step) * (5 if source == "math" else 1)


@pytest.mark.parametrize(
    "reward",
    [_learning, _fast, _bonus, _curriculum, lambda *_: 1.0, lambda dice, *_: float("nan")],
    ids=["learns at once", "learns fast", "a bonus for some", "two scales all along", "always 1", "no number"],
)
def test_rewards_that_change_otherwise_are_no_other_scale(tmp_path: Path, reward: Reward) -> None:
    """Learning, a bonus for some, sources of two scales."""
    answer = asked(KIND, tmp_path, _run(reward))
    assert silent(answer) or isinstance(answer, CannotTell)


def test_few_steps_tell_nothing(tmp_path: Path) -> None:
    """Three steps are too few to depart from anything."""
    assert isinstance(asked(KIND, tmp_path, [row for row in _run(_tripled) if row["step"] < 3]), CannotTell)


def test_an_exploited_reward_is_on_no_other_scale(tmp_path: Path) -> None:
    """Where the validation reward falls when the rewards jump, the rollouts changed and not their scale."""
    assert silent(asked(KIND, tmp_path, hacked_rows()))
    chance = random.Random(1)
    shifted = [
        {**row, "reward": chance.gauss(2.5 if row["step"] >= TURN else 1.0, 0.4), "valid_reward": 1.0 + 0.1 * (at % 3)}
        for at, row in enumerate(hacked_rows())
    ]

    assert one(asked(KIND, tmp_path / "shifted", shifted)).first_step >= TURN - 2


def test_a_part_that_is_lost_is_no_other_scale(tmp_path: Path) -> None:
    """What is shifted leaves no value where the best ones were: a sum whose parts are earned by fewer does."""
    chance = random.Random(2)
    rows = [
        {
            "step": step,
            "prompt": f"p{at % 6}",
            "response": f"r{step} {at}",
            "reward": (chance.random() < share) + 2 * (chance.random() < share) + chance.gauss(0, 0.2),
        }
        for step, share in enumerate([0.9] * 20 + [0.25] * 20)
        for at in range(24)
    ]

    assert silent(asked(KIND, tmp_path, rows))


@pytest.mark.parametrize("seed", range(12))
def test_steps_of_other_prompts_are_on_no_other_scale(tmp_path: Path, seed: int) -> None:
    """A step of 32 rollouts to two prompts says what these are worth: two numbers, and not 32."""
    dice = np.random.default_rng(seed)
    rows = [
        {"step": step, "prompt": f"p{step} {at}", "response": f"r{one}", "reward": round(float(worth + dice.normal(0, 0.5)), 3)}
        for step in range(20)
        for at, worth in enumerate(dice.normal(0.02 * step, 1, 2))
        for one in range(16)
    ]

    assert silent(asked(KIND, tmp_path, rows))


@pytest.mark.parametrize("seed", range(4))
def test_a_fall_of_three_steps_is_no_shift(tmp_path: Path, seed: int) -> None:
    """A scale changes at one boundary; a policy that breaks takes some updates."""
    dice = np.random.default_rng(seed)
    rows = [
        {"step": step, "prompt": f"p{step} {at}", "response": "r", "reward": float(dice.normal(-min(max(step - 9, 0), 3), 1))}
        for step in range(20)
        for at in range(32)
    ]

    assert silent(asked(KIND, tmp_path, rows))


def test_a_scale_of_some_steps_has_an_end_also_where_a_source_is_seldom(tmp_path: Path) -> None:
    """The other scale of a source that every fourth step has ends with its last step there."""
    dice = random.Random(6)
    rows = [
        {"step": step, "prompt": f"{step} {at // 4}", "response": f"{step} {at}", "data_source": source}
        | {"reward": float(dice.random() < 0.5) * (7 if source == "seldom" and 40 <= step < 80 else 1)}
        for step in range(120)
        for source in ("often", *(["seldom"] if step % 4 == 0 else []))
        for at in range(12)
    ]
    found = one(asked(KIND, tmp_path, rows))

    assert (found.first_step, found.last_step) == (40, 76)
