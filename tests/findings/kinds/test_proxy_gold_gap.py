"""Reward and validation reward that part, and that go together."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from looked_at import asked, one, silent

from board.findings.contract import CannotTell
from board.findings.kinds.earned import PROXY_GOLD_GAP as KIND

STEPS, ROWS, ONSET = 24, 16, 10

Mean = Callable[[int], float]


def _run(reward: Mean, valid: Mean, scale: float = 1.0, steps: int = STEPS) -> list[dict[str, Any]]:
    """Each rollout has a quality of its own that both rewards see, and each its own noise."""
    dice = np.random.default_rng(3)
    rows = []
    for step in range(steps):
        for at in range(ROWS):
            quality = float(dice.normal())
            rows.append(
                {
                    "step": step,
                    "prompt": f"{step} {at}",
                    "response": "ok",
                    "reward": scale * (quality + reward(step) + 0.3 * float(dice.normal())),
                    "valid_reward": quality + valid(step) + 0.3 * float(dice.normal()),
                }
            )
    return rows


def _late(by: float) -> Mean:
    return lambda step: by * max(0, step - ONSET + 1) / (STEPS - ONSET)


@pytest.mark.parametrize(
    ("valid", "scale", "told"),
    [(_late(-1.0), 1.0, "falls by"), (_late(0.0), 1.0, "stands"), (_late(-1.0), 100.0, "falls by")],
    ids=["falls", "stands", "another scale"],
)
def test_rewards_that_part_are_found(tmp_path: Path, valid: Mean, scale: float, told: str) -> None:
    """From where they part; evidence are late rollouts that the one pays and the other does not."""
    rows = _run(_late(2.0), valid, scale)
    found = one(asked(KIND, tmp_path, rows))
    assert abs(found.first_step - ONSET) <= 3
    assert told in found.effect or "rises by" in found.effect
    assert all(rows[key]["step"] >= found.first_step for key in found.rollouts)
    assert np.mean([rows[key]["reward"] / scale - rows[key]["valid_reward"] for key in found.rollouts]) > 1


@pytest.mark.parametrize(
    ("reward", "valid"),
    [(_late(2.0), _late(2.0)), (_late(0.0), _late(0.0)), (_late(0.0), _late(-2.0)), (_late(-1.0), _late(-2.0))],
    ids=["both rise", "both stand", "the validation reward alone falls", "both fall"],
)
def test_a_reward_that_does_not_rise_alone_is_silence(tmp_path: Path, reward: Mean, valid: Mean) -> None:
    """What is not exploited."""
    assert silent(asked(KIND, tmp_path, _run(reward, valid)))


def test_the_same_number_twice_has_no_gap(tmp_path: Path) -> None:
    """A trainer that logs its reward as the validation reward, too."""
    rows = [row | {"valid_reward": row["reward"]} for row in _run(_late(2.0), _late(0.0))]
    assert silent(asked(KIND, tmp_path, rows))


def test_few_steps_tell_nothing(tmp_path: Path) -> None:
    """Three of them."""
    assert isinstance(asked(KIND, tmp_path, _run(_late(2.0), _late(-1.0), steps=3)), CannotTell)
