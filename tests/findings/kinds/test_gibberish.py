"""Text that nobody writes, by logprobs, letters and characters."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from looked_at import asked, one, silent
from spreading_rows import check_kind, prose, rows

from board.findings.kinds.showing import GIBBERISH as KIND


def _letters(dice: np.random.Generator) -> str:
    return " ".join("".join(dice.choice(list("bcdfghjklmnpqrstvwxz"), 7)) for _ in range(30))


@pytest.mark.parametrize("make", [_letters, lambda dice: prose(dice) + "\ufffd\u0007" * 9])
def test_odd_text_is_found(tmp_path: Path, make: Any) -> None:
    """Letters that make no word, and broken characters."""
    check_kind(KIND, tmp_path, lambda dice, _: {"response": prose(dice)}, lambda dice, _: {"response": make(dice)}, 0.3)


def test_improbable_tokens_are_found(tmp_path: Path) -> None:
    """Logprobs far below an even draw."""

    def row(dice: np.random.Generator, rare: int) -> dict[str, Any]:
        logprobs = np.concatenate([-dice.random(40) * 5, np.full(rare, -17.0)])
        return {"response": prose(dice), "response_tokens": [" a"] * len(logprobs), "logprobs": logprobs.tolist()}

    check_kind(KIND, tmp_path, lambda dice, _: row(dice, 0), lambda dice, _: row(dice, 6), 0.3)
    found = one(asked(KIND, tmp_path / "first", rows(lambda dice, _: row(dice, 0), lambda dice, _: row(dice, 6), 0.3)))
    assert found.explains is None, "a KL that runs away, and scripts that mix, are its signs"


@pytest.mark.parametrize(
    "other", ["我们把这个数加起来。" * 9, "for (int i = 0; i < n; i++) { strncpy(dst, src, n); printf(fmt, i); }\n" * 4]
)
def test_code_and_chinese_are_silence(tmp_path: Path, other: str) -> None:
    """Another language, and code with names that nobody could say."""
    mixed = rows(lambda dice, _: {"response": prose(dice)}, lambda dice, _: {"response": other}, 0.5)
    assert silent(asked(KIND, tmp_path, mixed))


def test_broken_characters_from_the_first_step_on(tmp_path: Path) -> None:
    """A tokenizer that does not fit is wrong all along; words that nobody can say may be what a task is about."""
    broken = rows(
        lambda dice, _: {"response": prose(dice)}, lambda dice, _: {"response": prose(dice) + "\ufffd" * 20}, 0.8, before=0.8
    )
    found = one(asked(KIND, tmp_path / "broken", broken))
    assert found.crossed == "share"
    assert "from the first step on" in found.effect
    assert all("\ufffd" in broken[key]["response"] for key in found.rollouts[:50])
    odd = rows(lambda dice, _: {"response": prose(dice)}, lambda dice, _: {"response": _letters(dice)}, 0.8, before=0.8)
    assert silent(asked(KIND, tmp_path / "odd", odd))
