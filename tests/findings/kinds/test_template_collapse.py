"""Responses that come to be one text for all prompts, and those that merely become short."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from looked_at import asked, one, silent
from spreading_rows import ONSET, STEPS, TEXT

from board.findings.contract import CannotTell
from board.findings.kinds.turning import TEMPLATE_COLLAPSE as KIND

_LETTERS = "abcdefghijklmnopqrstuvwxyz"


def _rows(late: str, prompts: int = 6, samples: int = 4) -> list[dict[str, Any]]:
    """Responses with words of their prompt's own among common ones; from ONSET on the text `late` with the answer's word."""
    dice = np.random.default_rng(2)
    rows = []
    for step in range(STEPS):
        for _ in range(prompts):
            own = ["".join(dice.choice(list(_LETTERS), 6)) for _ in range(4)]
            for _ in range(samples):
                words = [*dice.permutation(TEXT.split())[:14], *own]
                text = " ".join(words) if step < ONSET else late.format(" ".join(words))
                rows.append({"step": step, "prompt": f"Say {' and '.join(own)}.", "response": text, "reward": 1.0})
    return rows


@pytest.mark.parametrize(("prompts", "samples"), [(6, 4), (2, 4), (24, 1)])
def test_one_template_is_found(tmp_path: Path, prompts: int, samples: int) -> None:
    """In large steps, steps of 8, and groups of one."""
    found = one(
        asked(
            KIND,
            tmp_path,
            _rows("Certainly, here is what was asked for, with every detail that one could wish.", prompts, samples),
        )
    )
    assert abs(found.first_step - ONSET) <= 3
    assert len(found.rollouts)


def test_a_third_that_is_a_template_is_found_among_responses_that_are_alike_anyway(tmp_path: Path) -> None:
    """A long frame that all share makes responses alike from the start: those that lost their prompt are more alike still."""
    frame = f"{TEXT} {TEXT} "
    rows = _rows("{}", prompts=8)
    for at, row in enumerate(rows):
        lost = row["step"] >= ONSET and at % 3 == 0
        row["response"] = frame + ("As asked, the result is given with care and in full." if lost else row["response"])
    found = one(asked(KIND, tmp_path, rows))
    assert abs(found.first_step - ONSET) <= 2
    assert all(key % 3 == 0 for key in found.rollouts[:20])


def test_dependent_responses_are_silence(tmp_path: Path) -> None:
    """The same as before, with a frame around it that all share."""
    assert silent(asked(KIND, tmp_path / "same", _rows("{}")))
    assert silent(asked(KIND, tmp_path / "frame", _rows("<answer>{}</answer>")))


def test_one_prompt_tells_nothing(tmp_path: Path) -> None:
    """Nothing to compare with."""
    assert isinstance(asked(KIND, tmp_path, [row | {"prompt": "p"} for row in _rows("{}")]), CannotTell)
