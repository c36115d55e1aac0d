"""Prompts that give the answer away."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from looked_at import asked, silent
from spreading_rows import check_kind, prose, rows

from board.findings.contract import CannotTell, Found
from board.findings.kinds.showing import ANSWER_LEAK as KIND


def _row(dice: np.random.Generator, leak: str) -> dict[str, Any]:
    first, second = (int(number) for number in dice.integers(100, 900, 2))
    return {
        "prompt": f"What is {first} + {second}? " + leak.format(first + second),
        "ground_truth": str(first + second),
        "response": prose(dice),
    }


@pytest.mark.parametrize("leak", ["(The answer is {}.)", "{}"])
def test_leaks_are_found(tmp_path: Path, leak: str) -> None:
    """With words that say so, and without."""
    check_kind(KIND, tmp_path, lambda dice, _: _row(dice, ""), lambda dice, _: _row(dice, leak))


def test_a_choice_is_no_leak(tmp_path: Path) -> None:
    """Letters that every prompt offers; but what a prompt says of them is one."""

    def choice(dice: np.random.Generator, hint: str = "") -> dict[str, Any]:
        truth = str(dice.choice(list("ABCD")))
        return {
            "prompt": f"Which of {dice.random()}? A) one B) two C) three D) four {hint.format(truth)}",
            "ground_truth": truth,
            "response": prose(dice),
        }

    assert silent(asked(KIND, tmp_path / "sound", rows(lambda dice, _: choice(dice), lambda dice, _: {}, 0.0)))
    check_kind(KIND, tmp_path, lambda dice, _: choice(dice), lambda dice, _: choice(dice, "The answer is {}."))


def test_a_leak_from_the_first_step_on(tmp_path: Path) -> None:
    """Nothing rises: what stands out is that prompts tell their own answer and not another's."""
    leaky = rows(lambda dice, _: _row(dice, "(The answer is {}.)" if dice.random() < 0.3 else ""), lambda dice, _: {}, 0.0)
    found = asked(KIND, tmp_path / "leaky", leaky)

    assert isinstance(found, Found)
    assert (found.crossed, found.first_step) == ("always", 0)
    assert found.measured == pytest.approx(0.3, abs=0.1)


def test_choices_that_every_prompt_names(tmp_path: Path) -> None:
    """What is said to be the possible answers is told of each, and of every other prompt's."""

    def asks(dice: np.random.Generator) -> dict[str, Any]:
        prompt = f"Is {dice.random()} large? The answer is: yes or no. The correct solution: no or yes?"
        return {"prompt": prompt, "ground_truth": str(dice.choice(["yes", "no"])), "response": prose(dice)}

    assert silent(asked(KIND, tmp_path, rows(lambda dice, _: asks(dice), lambda dice, _: {}, 0.0)))


def test_a_ground_truth_that_is_a_text(tmp_path: Path) -> None:
    """Too long to look for."""
    long = rows(lambda dice, _: {"ground_truth": prose(dice), "response": "x"}, lambda dice, _: {}, 0.0)
    assert isinstance(asked(KIND, tmp_path, long), CannotTell)
