"""Thoughts that are closed and answered, or not."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from looked_at import asked, one, silent
from spreading_rows import check_kind, prose, rows

from board.findings.contract import CannotTell
from board.findings.kinds.showing import THINK_WITHOUT_ANSWER as KIND


def _row(dice: np.random.Generator, text: str, reason: str = "stop") -> dict[str, Any]:
    return {"response": text.format(prose(dice)), "finish_reason": reason}


@pytest.mark.parametrize("showing", ["<think>{}", "<think>{}</think>\n"])
def test_thoughts_without_answers_are_found(tmp_path: Path, showing: str) -> None:
    """Never closed, or closed with nothing behind."""
    check_kind(KIND, tmp_path, lambda dice, _: _row(dice, "<think>{}</think> 5"), lambda dice, _: _row(dice, showing))


@pytest.mark.parametrize(("reason", "explains"), [("length", ()), ("stop", None)])
def test_what_explains_what(tmp_path: Path, reason: str, explains: tuple[str, ...] | None) -> None:
    """Thoughts that are all cut off explain nothing; thoughts that end by themselves explain what is cut."""
    shown = rows(lambda dice, _: _row(dice, "<think>{}</think> 5"), lambda dice, _: _row(dice, "<think>{}", reason), 0.5)
    assert one(asked(KIND, tmp_path, shown)).explains == explains


def test_responses_that_do_not_think(tmp_path: Path) -> None:
    """No tags, nothing told; a thought opened by the prompt is one."""
    plain = rows(lambda dice, _: _row(dice, "{}"), lambda dice, _: {}, 0.0)
    assert isinstance(asked(KIND, tmp_path / "plain", plain), CannotTell)
    begun = [row | {"prompt": row["prompt"] + "<think>\n", "response": row["response"] + "</think> 5"} for row in plain]
    assert silent(asked(KIND, tmp_path / "begun", begun))
