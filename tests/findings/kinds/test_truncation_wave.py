"""Responses cut off at a limit: said by the trainer, or told by their tokens."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from looked_at import asked, one, silent
from spreading_rows import ONSET, check_kind, prose, rows

from board.findings.contract import CannotTell
from board.findings.kinds.showing import TRUNCATION_WAVE as KIND

LIMIT = 60


def _tokens(dice: np.random.Generator, cut: bool) -> dict[str, Any]:
    length = LIMIT if cut else int(dice.integers(10, LIMIT - 5))
    return {"response_tokens": [" a"] * (length - 1) + [" b" if cut else "<|im_end|>"], "response": prose(dice)}


def _said(dice: np.random.Generator, cut: bool) -> dict[str, Any]:
    return {"response": prose(dice), "finish_reason": "length" if cut else "stop"}


@pytest.mark.parametrize("make", [_tokens, _said])
def test_a_wave_is_found(tmp_path: Path, make: Any) -> None:
    """By the reason that is said, or by the greatest length without an end token."""
    check_kind(KIND, tmp_path, lambda dice, _: make(dice, False), lambda dice, _: make(dice, True))


@pytest.mark.parametrize(("share", "severity"), [(0.1, None), (0.4, "note"), (0.97, "warning")])
def test_a_share_that_stays_is_told_where_it_is_large(tmp_path: Path, share: float, severity: str | None) -> None:
    """A tenth of the responses is silence, four of ten are told, as the cause of nothing; nearly all of them are a warning."""
    answer = asked(
        KIND, tmp_path, rows(lambda dice, _: _said(dice, False), lambda dice, _: _said(dice, True), share, before=share)
    )
    if severity is None:
        assert silent(answer)
        return
    found = one(answer)
    assert (found.severity, found.explains, found.crossed) == (severity, (), "level")
    assert found.effect.startswith(f"from the first step on {'9' if share > 0.9 else '4'}")


def test_another_data_source_is_not_blamed(tmp_path: Path) -> None:
    """A source of long tasks that comes later, while the other stays as it is."""
    mixed = rows(lambda dice, _: _said(dice, False), lambda dice, _: _said(dice, True), 0.0)
    for at, row in enumerate(mixed):
        row["data_source"] = "long" if at % 2 and (row["step"] >= ONSET or at % 8 == 1) else "short"
        row["finish_reason"] = "length" if row["data_source"] == "long" and at % 3 else "stop"
    assert silent(asked(KIND, tmp_path, mixed))


def test_without_reasons_and_tokens_nothing_is_told(tmp_path: Path) -> None:
    """Texts alone."""
    assert isinstance(asked(KIND, tmp_path, rows(lambda dice, _: {"response": prose(dice)}, lambda dice, _: {}, 0.0)), CannotTell)


def test_effect(tmp_path: Path) -> None:
    """The sentence has both shares."""
    found = one(asked(KIND, tmp_path, rows(lambda dice, _: _said(dice, False), lambda dice, _: _said(dice, True), 1.0)))
    assert found.effect == f"from step {ONSET} on 100 % of the responses are cut off at the limit of length, before 0 %"
