"""Rows of which more and more show something, for tests of the kinds of findings that look for it."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from looked_at import asked, one, silent

from board.findings.contract import Kind

STEPS, ONSET, PROMPTS, SAMPLES = 16, 8, 4, 4

MakeRow = Callable[[np.random.Generator, int], dict[str, Any]]
"""From dice and the number of a prompt to the fields of a row, but for step and prompt where it names none."""

TEXT = "the a so we take this number and add that other one which makes it more than before then we see how large it is"
WORDS = TEXT.split()


def prose(dice: np.random.Generator, words: int = 40) -> str:
    """Words in any order, sentence by sentence."""
    return " ".join(f"{WORDS[at]}{'.' if at % 7 == 0 else ''}" for at in dice.integers(0, len(WORDS), words))


def rows(
    plain: MakeRow, showing: MakeRow, share: float, before: float = 0.0, onset: int = ONSET, seed: int = 3
) -> list[dict[str, Any]]:
    """STEPS steps of PROMPTS groups of SAMPLES; `before` of the rows show it at first, `share` from `onset` on. Who shows it has `shows` 1."""
    dice = np.random.default_rng(seed)
    found = []
    for step in range(STEPS):
        for prompt in range(PROMPTS):
            for _ in range(SAMPLES):
                shows = bool(dice.random() < (share if step >= onset else before))
                fields = (showing if shows else plain)(dice, prompt)
                found.append(
                    {"step": step, "prompt": f"Question {prompt} of {step}: how many are there?", **fields, "shows": int(shows)}
                )
    return found


def check_kind(kind: Kind, folder: Path, plain: MakeRow, showing: MakeRow, share: float = 0.5) -> None:
    """The kind is found from ONSET on by rows that show it; it is silent without, where few do, and where as many did before."""
    spreading = rows(plain, showing, share)
    found = one(asked(kind, folder / "spreading", spreading))
    assert abs(found.first_step - ONSET) <= 2
    assert len(found.rollouts) >= 10
    assert all(spreading[key]["shows"] for key in found.rollouts)
    assert silent(asked(kind, folder / "never", rows(plain, showing, 0.0)))
    assert silent(asked(kind, folder / "rarely", rows(plain, showing, 0.02, before=0.02)))
