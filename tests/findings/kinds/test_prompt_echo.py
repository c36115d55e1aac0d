"""Responses that copy a stretch of their prompt."""

from pathlib import Path
from typing import Any

import numpy as np
from looked_at import asked, silent
from spreading_rows import check_kind, prose, rows

from board.findings.contract import Found
from board.findings.kinds.showing import PROMPT_ECHO as KIND

PROMPT = (
    "There are {} apples and {} pears in the basket of the farmer's youngest daughter, who eats one of each. How many are left?"
)


def _row(dice: np.random.Generator, echo: bool) -> dict[str, Any]:
    prompt = PROMPT.format(*dice.integers(2, 99, 2))
    return {"prompt": prompt, "response": (prompt + " " if echo else "") + prose(dice, 20)}


def test_echoes_are_found(tmp_path: Path) -> None:
    """The whole question before the answer."""
    check_kind(KIND, tmp_path, lambda dice, _: _row(dice, False), lambda dice, _: _row(dice, True))


def test_a_task_of_copying_is_a_note(tmp_path: Path) -> None:
    """Every response is mostly its prompt, from the first step on; where it is a small part of them, there is nothing to say."""
    found = asked(KIND, tmp_path / "most", rows(lambda dice, _: _row(dice, True), lambda dice, _: {}, 0.0))

    def long(dice: np.random.Generator) -> dict[str, Any]:
        whole = _row(dice, False)
        return {**whole, "response": f"{whole['prompt'][:50]} {prose(dice, 80)}"}

    assert isinstance(found, Found)
    assert (found.crossed, found.severity, found.first_step) == ("always", "note", 0)
    assert silent(asked(KIND, tmp_path / "part", rows(lambda dice, _: long(dice), lambda dice, _: {}, 0.0)))
