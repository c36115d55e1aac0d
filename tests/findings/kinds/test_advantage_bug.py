"""Advantages that break the rule of the others: small runs of groups, and of a critic."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from looked_at import asked, one, silent

from board.findings.contract import CannotTell
from board.findings.kinds.advantage_bug import KIND, line_by_step
from board.metrics.step_sums import Steps

STEPS, GROUPS, MEMBERS, ONSET = 12, 4, 4, 6

Row = dict[str, Any]


def _groups(
    broken: Callable[[Row], bool] = lambda row: False, change: Callable[[float], float] = lambda value: -value
) -> list[Row]:
    """GRPO, where the advantages of some rows are changed."""
    dice = np.random.default_rng(1)
    rows: list[Row] = []
    for step in range(STEPS):
        for group in range(GROUPS):
            rewards = (dice.random(MEMBERS) < 0.5).astype(float)
            advantages = (rewards - rewards.mean()) / (rewards.std() + 1e-6)
            for member in range(MEMBERS):
                row: Row = {"step": step, "prompt": f"{step} {group}", "group_id": group, "response": "ok", "rank": group % 4}
                row |= {"reward": rewards[member], "advantage": advantages[member], "member": member}
                if broken(row):
                    row["advantage"] = change(row["advantage"])
                rows.append(row)
    return rows


def _critic(flipped: bool) -> list[Row]:
    """Advantages that are return − value, whitened in each step."""
    dice = np.random.default_rng(2)
    rows: list[Row] = []
    for step in range(STEPS):
        values, returns = dice.normal(size=(2, 20))
        white = (returns - values - (returns - values).mean()) / (returns - values).std()
        for at in range(20):
            sign = -1 if flipped and step >= ONSET and at < 6 else 1
            arrays = {"values": [values[at]] * 2, "returns": [returns[at]] * 2, "advantages": [sign * white[at]] * 2}
            rows.append({"step": step, "prompt": f"{step} {at}", "response": "a b", "response_tokens": ["a", " b"], **arrays})
    return rows


def test_the_opposite_sign_from_the_first_step_on(tmp_path: Path) -> None:
    """Where all advantages are turned round, none is the rule that others break."""
    found = one(asked(KIND, tmp_path, _groups(lambda row: True)))

    assert (found.first_step, found.last_step, found.measured) == (0, STEPS - 1, 1)
    assert "better responses are punished" in found.effect


@pytest.mark.parametrize(
    ("broken", "change", "first", "told"),
    [
        (lambda row: row["step"] >= ONSET and row["member"] == 0, lambda value: -value, ONSET, "have the opposite sign"),
        (lambda row: row["step"] >= ONSET and row["group_id"] == 2, lambda value: value + 0.7, ONSET, "are not what"),
        (lambda row: row["step"] >= 3, lambda value: -value, 3, "have the opposite sign"),
        (lambda row: row["rank"] == 1, lambda value: value * 0.5, 0, "in rank 1"),
    ],
    ids=["signs", "a baseline", "all from a step on", "one rank"],
)
def test_rollouts_that_break_the_rule_are_the_evidence(
    tmp_path: Path, broken: Callable[[Row], bool], change: Callable[[float], float], first: int, told: str
) -> None:
    """From their first step on, and nothing else."""
    rows, sound = _groups(broken, change), _groups()
    found = one(asked(KIND, tmp_path, rows))
    assert found.first_step in (first, first + 1)
    assert told in found.effect
    changed = {
        key for key, (row, other) in enumerate(zip(rows, sound, strict=True)) if abs(row["advantage"] - other["advantage"]) > 0.01
    }
    assert set(found.rollouts.tolist()) == changed


def test_whitened_advantages_of_a_critic_have_a_rule_too(tmp_path: Path) -> None:
    """Return − value on a line of each step; flipped ones leave it."""
    assert silent(asked(KIND, tmp_path / "sound", _critic(flipped=False)))
    found = one(asked(KIND, tmp_path / "flipped", _critic(flipped=True)))
    assert found.first_step == ONSET
    assert {(key // 20 >= ONSET, key % 20 < 6) for key in found.rollouts.tolist()} == {(True, True)}


@pytest.mark.parametrize(
    "rows",
    [
        _groups(),
        _groups()[:-2],
        _groups(lambda row: True, lambda value: value * 1.004),
        [row | {"advantage": round(row["advantage"], 1)} for row in _groups()],
        [row | {"reward": 1.0, "advantage": 0.0} for row in _groups()],
    ],
    ids=["sound", "a step on its way", "scaled a little", "rounded", "nothing to learn"],
)
def test_advantages_by_the_rule_are_silence(tmp_path: Path, rows: list[Row]) -> None:
    """Rounding, an unfinished group and equal rewards break nothing."""
    answer = asked(KIND, tmp_path, rows)
    assert silent(answer) or isinstance(answer, CannotTell)


def test_advantages_of_no_known_rule_tell_nothing(tmp_path: Path) -> None:
    """Random numbers are no rule that anyone could break, and without any there is nothing to ask."""
    dice = np.random.default_rng(0)
    assert isinstance(asked(KIND, tmp_path / "a", [row | {"advantage": dice.normal()} for row in _groups()]), CannotTell)
    assert isinstance(asked(KIND, tmp_path / "b", [{"step": 0, "response": "ok", "reward": 1.0}]), CannotTell)


@given(st.floats(-3, 3), st.floats(-3, 3), st.sets(st.integers(0, 19), max_size=6))
def test_the_line_is_that_of_the_most(slope: float, level: float, turned: set[int]) -> None:
    """Of twenty points on a line a few are turned over, and the line stays."""
    x = np.random.default_rng(0).normal(size=20)
    y = slope * x + level
    y[list(turned)] *= -1
    np.testing.assert_allclose(line_by_step(Steps(np.zeros(20, int)), x, y), slope * x + level, atol=1e-6)
