"""Responses that ended by themselves, with and without an end token."""

from pathlib import Path
from typing import Any

import numpy as np
from looked_at import asked, one, silent
from spreading_rows import check_kind, prose, rows

from board.findings.contract import CannotTell
from board.findings.kinds.eos_missing import KIND


def _row(dice: np.random.Generator, last: list[str], reason: str = "stop") -> dict[str, Any]:
    words = [" a"] * int(dice.integers(5, 30))
    return {"response_tokens": [*words, *last], "response": prose(dice), "finish_reason": reason}


def test_missing_end_tokens_are_found(tmp_path: Path) -> None:
    """From a step on."""
    check_kind(KIND, tmp_path, lambda dice, _: _row(dice, ["</s>"]), lambda dice, _: _row(dice, []))


def test_a_share_that_is_always_there_is_found(tmp_path: Path) -> None:
    """From the first step on, if it is large."""
    found = one(
        asked(KIND, tmp_path, rows(lambda dice, _: _row(dice, ["</s>"]), lambda dice, _: _row(dice, []), 0.5, before=0.5))
    )
    assert found.first_step == 0
    assert found.crossed == "share"


def test_a_cut_response_needs_no_end_token(tmp_path: Path) -> None:
    """More are cut off: another finding."""
    cut = rows(lambda dice, _: _row(dice, ["</s>"]), lambda dice, _: _row(dice, [], "length"), 0.5)
    assert silent(asked(KIND, tmp_path, cut))


def test_a_trainer_that_leaves_them_out(tmp_path: Path) -> None:
    """No response has one: that cannot be told from none being sampled."""
    assert isinstance(asked(KIND, tmp_path, rows(lambda dice, _: _row(dice, []), lambda dice, _: {}, 0.0)), CannotTell)
