"""Responses that end in a loop, and texts that merely repeat themselves."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from looked_at import asked, silent
from spreading_rows import check_kind, prose, rows

from board.findings.kinds.showing import REPETITION_LOOP as KIND


@pytest.mark.parametrize("piece", [" ha", "\nAnd so we go on.", "等等，", "\n"])
def test_loops_are_found(tmp_path: Path, piece: str) -> None:
    """Of a word, a sentence, Chinese, white space."""
    check_kind(
        KIND, tmp_path, lambda dice, _: {"response": prose(dice)}, lambda dice, _: {"response": prose(dice) + piece * 40}, 0.3
    )


def test_a_table_is_no_loop(tmp_path: Path) -> None:
    """Lines of one form with different numbers."""

    def table(dice: np.random.Generator, _: int) -> dict[str, Any]:
        return {"response": "\n".join(f"| {at} | {dice.integers(1000)} |" for at in range(12)) + "\n\n------------\n"}

    assert silent(asked(KIND, tmp_path, rows(lambda dice, _: {"response": prose(dice)}, table, 0.5)))
