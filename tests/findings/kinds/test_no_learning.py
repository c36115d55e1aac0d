"""A reward that does not move, and rewards that do."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from looked_at import asked, one, silent

from board.findings.contract import CannotTell
from board.findings.kinds.earned import NO_LEARNING as KIND

STEPS = 30


def _run(mean: Callable[[int], float], noise: float = 1.0, steps: int = STEPS) -> list[dict[str, Any]]:
    dice = np.random.default_rng(6)
    return [
        {"step": step, "prompt": f"{step} {at // 4}", "response": "ok", "reward": mean(step) + noise * float(dice.normal())}
        for step in range(steps)
        for at in range(32)
    ]


def test_a_reward_that_stands_is_found(tmp_path: Path) -> None:
    """Over the whole run."""
    found = one(asked(KIND, tmp_path, _run(lambda step: 0.0)))
    assert (found.first_step, found.last_step) == (0, STEPS - 1)
    assert abs(found.measured) < 0.25


@pytest.mark.parametrize(
    "rows",
    [_run(lambda step: step / STEPS), _run(lambda step: -step / STEPS), _run(lambda step: float(step in range(10, 20)))],
    ids=["rises", "falls", "comes and goes"],
)
def test_what_moves_is_silence(tmp_path: Path, rows: list[dict[str, Any]]) -> None:
    """Up, down, or up and down."""
    assert silent(asked(KIND, tmp_path, rows))


def test_equal_rewards_tell_nothing(tmp_path: Path) -> None:
    """There is nothing to learn from: that is not the same as learning."""
    assert isinstance(asked(KIND, tmp_path, _run(lambda step: 1.0, 0.0)), CannotTell)


def test_a_short_run_tells_nothing(tmp_path: Path) -> None:
    """Learning takes time."""
    assert isinstance(asked(KIND, tmp_path, _run(lambda step: 0.0, steps=10)), CannotTell)
