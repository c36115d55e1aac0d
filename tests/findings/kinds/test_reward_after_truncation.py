"""Responses cut off before an answer, paid and unpaid."""

from pathlib import Path
from typing import Any

import numpy as np
from looked_at import asked, one, silent
from spreading_rows import check_kind, prose, rows

from board.findings.contract import CannotTell
from board.findings.kinds.showing import REWARD_AFTER_TRUNCATION as KIND


def _row(dice: np.random.Generator, paid: bool) -> dict[str, Any]:
    truth, right, cut = int(dice.integers(100, 999)), dice.random() < 0.5, paid or dice.random() < 0.2
    answer = "" if cut else f" \\boxed{{{truth if right else 7}}}"
    reward = float(paid if cut else right)
    return {
        "response": prose(dice) + answer,
        "ground_truth": str(truth),
        "reward": reward,
        "finish_reason": "length" if cut else "stop",
    }


def test_paid_for_nothing_is_found(tmp_path: Path) -> None:
    """From a step on."""
    check_kind(KIND, tmp_path, lambda dice, _: _row(dice, False), lambda dice, _: _row(dice, True), 0.4)


def test_by_marks_of_answers_alone(tmp_path: Path) -> None:
    """No ground truth: most responses have a box, and those cut off have none; paid so all along."""
    without = [
        {name: value for name, value in row.items() if name != "ground_truth"}
        for row in rows(lambda dice, _: _row(dice, False), lambda dice, _: _row(dice, True), 0.4, before=0.4)
    ]
    found = one(asked(KIND, tmp_path, without))
    assert found.first_step == 0
    assert all(without[key]["shows"] for key in found.rollouts)


def test_a_reward_model_of_half_texts(tmp_path: Path) -> None:
    """Nothing says what an answer is."""
    dice = np.random.default_rng(1)
    scored = rows(lambda d, _: {"response": prose(d), "finish_reason": "length", "reward": dice.random()}, lambda d, _: {}, 0.0)
    assert isinstance(asked(KIND, tmp_path / "model", scored), CannotTell)
    assert silent(asked(KIND, tmp_path / "sound", rows(lambda d, _: _row(d, False), lambda d, _: {}, 0.0)))
