"""Scripts that are mixed inside sentences, and what only looks like it."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from looked_at import asked, one, silent
from spreading_rows import check_kind, prose, rows

from board.findings.kinds.showing import LANGUAGE_MIXING as KIND

CHINESE = "我们把这个数加起来，然后看它有多大。所以答案应该是这样的，再检查一次。"


def _mixed(dice: np.random.Generator, foreign: str) -> str:
    words = prose(dice).split()
    for at in range(0, len(words), 5):
        words[at] = foreign
    return " ".join(words)


@pytest.mark.parametrize("foreign", ["因为", "потому"])
def test_mixing_is_found(tmp_path: Path, foreign: str) -> None:
    """Foreign words inside English sentences."""
    check_kind(KIND, tmp_path, lambda dice, _: {"response": prose(dice)}, lambda dice, _: {"response": _mixed(dice, foreign)})


@pytest.mark.parametrize("foreign", [True, False])
def test_sentences_of_another_language_are_found(tmp_path: Path, foreign: bool) -> None:
    """Whole sentences between others, from the second step on: nothing is mixed within one."""
    said = f"Done.{CHINESE}" if foreign else "Done. Once more, and nothing else counts."
    made = rows(
        lambda dice, _: {"response": prose(dice)},
        lambda dice, _: {"response": prose(dice) + said + prose(dice)},
        0.95,
        before=0.95,
    )
    made = [row | ({"response": "Nothing at all."} if row["step"] == 0 else {}) for row in made]
    answer = asked(KIND, tmp_path, made)

    assert one(answer).first_step == 1 if foreign else silent(answer)
    assert not foreign or "letters that are foreign to the prompt go from 0 %" in one(answer).effect, (
        "and not of switches, of which are none"
    )


def test_english_in_chinese_is_found(tmp_path: Path) -> None:
    """The other way round."""

    def mixed(dice: np.random.Generator, _: int) -> dict[str, Any]:
        return {"response": (CHINESE * 3).replace("然后", " and then we ").replace("所以", " so ")}

    check_kind(KIND, tmp_path, lambda dice, _: {"response": CHINESE * int(dice.integers(2, 6))}, mixed)


@pytest.mark.parametrize(
    "other",
    [
        CHINESE * 3,
        f"{CHINESE}用 PyTorch 的 `for x in rows` 计算 $\\alpha + x$，见 API。",
        "これは日本語の文章です。カタカナも漢字もあります。",
    ],
)
def test_one_language_is_silence(tmp_path: Path, other: str) -> None:
    """A change to another language as a whole, names, code and formulas in it included."""
    assert silent(
        asked(KIND, tmp_path, rows(lambda dice, _: {"response": prose(dice)}, lambda dice, _: {"response": other}, 0.5))
    )
