"""A critic that stops predicting: small PPO runs, and the sums of squares against a slow reference."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from looked_at import asked, one, silent

from board.findings.contract import CannotTell
from board.findings.kinds.turning import CRITIC_COLLAPSE as KIND
from board.findings.kinds.turning import squares
from board.metrics.step_sums import Steps

STEPS, ONSET, PER_STEP = 14, 8, 12

Row = dict[str, Any]


def _rows(noise: float, later: float, onset: int = ONSET) -> list[Row]:
    """Returns that values miss by so much, and by another amount from the onset on."""
    dice = np.random.default_rng(3)
    rows: list[Row] = []
    for step in range(STEPS):
        for at in range(PER_STEP):
            returns = dice.normal() + dice.normal(0, 0.1, 4)
            values = returns + dice.normal() * (later if step >= onset else noise)
            arrays = {"values": values.tolist(), "returns": returns.tolist()}
            rows.append({"step": step, "prompt": f"{step} {at}", "response": "abcd", "response_tokens": list("abcd"), **arrays})
    return rows


def test_values_that_lose_their_returns(tmp_path: Path) -> None:
    """The explained variance before and after is told, with the rollouts that are farthest off."""
    found = one(asked(KIND, tmp_path, _rows(0.5, 3.0)))

    assert abs(found.first_step - ONSET) <= 1
    assert "explained variance falls from 0.7" in found.effect
    assert found.measured < 0
    assert set(found.rollouts.tolist()) <= set(range(found.first_step * PER_STEP, STEPS * PER_STEP))


def test_values_that_leave_their_rewards(tmp_path: Path) -> None:
    """Without returns mean values are held against the rewards of their responses: an error that explodes is dated where it begins."""

    def rows(growth: float) -> list[Row]:
        dice, made = np.random.default_rng(4), list[Row]()
        for step in range(STEPS):
            for at in range(PER_STEP):
                reward = dice.normal()
                value = reward + dice.normal(0, 0.3) + dice.normal() * (growth ** max(0, step - ONSET + 1) - 1)
                row = {"step": step, "prompt": f"{step} {at}", "response": "ab", "response_tokens": ["a", "b"]}
                made.append({**row, "reward": reward, "values": [value, value]})
        return made

    assert abs(one(asked(KIND, tmp_path / "off", rows(3.0))).first_step - ONSET) <= 1
    assert silent(asked(KIND, tmp_path / "sound", rows(1.0)))


@pytest.mark.parametrize(("noise", "later"), [(0.5, 0.5), (0.5, 0.8), (3.0, 0.5)])
def test_critics_that_are_better_than_a_constant(tmp_path: Path, noise: float, later: float) -> None:
    """One that predicts, one that gets a little worse, and one that begins untrained and learns are no finding."""
    assert silent(asked(KIND, tmp_path, _rows(noise, later)))


def test_critic_that_never_predicted(tmp_path: Path) -> None:
    """Where nothing turns, all but the beginning is said to be below zero."""
    found = one(asked(KIND, tmp_path, _rows(3.0, 3.0)))

    assert (found.first_step, found.last_step) == (3, STEPS - 1)
    assert "from step 3 on" in found.effect


def test_returns_that_do_not_vary_cannot_be_predicted(tmp_path: Path) -> None:
    """There is no variance to explain, and that is said."""
    rows = [{**row, "returns": [1.0, 1.0, 1.0, 1.0 + 1e-4 * (row["step"] % 2)]} for row in _rows(0.5, 0.5)]

    assert isinstance(asked(KIND, tmp_path, rows), CannotTell)


def test_short_runs_cannot_tell(tmp_path: Path) -> None:
    """Five steps, or some dozen rollouts, are no critic's course."""
    rows = _rows(3.0, 3.0)

    assert isinstance(asked(KIND, tmp_path / "steps", rows[: 5 * PER_STEP]), CannotTell)
    assert isinstance(asked(KIND, tmp_path / "rows", rows[:: PER_STEP // 2]), CannotTell)


def test_values_without_anything_to_predict(tmp_path: Path) -> None:
    """Neither returns nor token rewards: nothing can be told."""
    rows = [{name: value for name, value in row.items() if name != "returns"} for row in _rows(0.5, 0.5)]

    assert isinstance(asked(KIND, tmp_path, rows), CannotTell)


def test_squares_are_around_the_mean_of_the_step() -> None:
    """As numpy would sum them token by token."""
    dice = np.random.default_rng(1)
    tokens = [dice.normal(size=int(size)) for size in dice.integers(1, 6, 12)]
    of = np.repeat([0, 1, 2], 4)

    found = squares(
        Steps(of),
        np.array([len(one) for one in tokens], np.float64),
        np.array([one.mean() for one in tokens]),
        np.array([np.square(one - one.mean()).sum() for one in tokens]),
    )

    means = [np.concatenate([one for one, at in zip(tokens, of, strict=True) if at == step]).mean() for step in range(3)]
    assert found == pytest.approx([np.square(one - means[at]).sum() for one, at in zip(tokens, of, strict=True)])
