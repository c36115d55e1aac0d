"""Responses paid without the answer."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from looked_at import asked, silent
from spreading_rows import check_kind, prose, rows

from board.findings.contract import CannotTell
from board.findings.kinds.showing import FORMAT_ONLY_WINS as KIND
from board.findings.kinds.showing import stated


def _row(dice: np.random.Generator, form: bool, scale: float = 1.0) -> dict[str, Any]:
    truth, right = int(dice.integers(100, 999)), dice.random() < 0.5
    answer = truth if right and not form else 7
    reward = scale * (float(right or form) + 0.1 * dice.random())
    return {"response": f"{prose(dice)} \\boxed{{{answer}}}", "ground_truth": str(truth), "reward": reward}


@pytest.mark.parametrize("scale", [1.0, 100.0])
def test_wins_by_form_are_found(tmp_path: Path, scale: float) -> None:
    """Rewards of any scale."""
    check_kind(KIND, tmp_path, lambda dice, _: _row(dice, False, scale), lambda dice, _: _row(dice, True, scale), 0.4)


def test_a_verifier_that_misses_is_no_win(tmp_path: Path) -> None:
    """Right answers that go unpaid, and a reward that has nothing to do with the ground truth."""
    sound = rows(lambda dice, _: _row(dice, False), lambda dice, _: {}, 0.0)
    assert silent(asked(KIND, tmp_path / "strict", [row | ({"reward": 0.0} if row["step"] > 8 else {}) for row in sound]))
    dice = np.random.default_rng(1)
    assert isinstance(asked(KIND, tmp_path / "model", [row | {"reward": dice.random()} for row in sound]), CannotTell)


@pytest.mark.parametrize(
    ("answers", "share"),
    [
        ([], 0.0),
        ([np.nan] * 4, 0.0),
        ([7.0] * 40, 0.0),
        ([5.0] * 40, 1.0),
        (list(range(20, 60)), 1.0),
        ([*range(20, 30), *[7.0] * 30], 0.25),
    ],
    ids=["none", "no answers", "one phrase", "a right answer's", "many answers", "mostly a phrase"],
)
def test_phrases_are_no_answers(answers: list[float], share: float) -> None:
    """What most of them give, and no right response, is a phrase; what few give is an answer, as wrong as it may be."""
    assert stated(np.array(answers, np.float64), np.array([5.0])) == share
