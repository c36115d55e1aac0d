"""Shifted logprobs: runs in which they are, in one rank or from a step on, and runs whose policies merely differ."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from looked_at import asked, one, silent

from board.findings.contract import CannotTell
from board.findings.kinds.unsound import LOGPROB_MISALIGNMENT as KIND

STEPS, RANKS, TOKENS, ONSET = 10, 4, 24, 4

Row = dict[str, Any]


def _run(drift: float = 0.05, second: str = "ref_logprobs") -> list[Row]:
    dice = np.random.default_rng(4)
    rows = []
    for step in range(STEPS):
        for at in range(16):
            logprobs = -dice.gamma(0.5, 2, TOKENS)
            row = {"step": step, "prompt": f"{step} {at}", "response": "a" * TOKENS, "rank": at % RANKS}
            row |= {"response_tokens": ["a"] * TOKENS, "logprobs": logprobs.tolist()}
            row[second] = np.minimum(0, logprobs + dice.normal(0, drift, TOKENS)).tolist()
            rows.append(row)
    return rows


def _shifted(rows: list[Row], by: int, rank: int | None = None) -> list[Row]:
    return [
        row
        | ({"logprobs": np.roll(row["logprobs"], by).tolist()} if row["step"] >= ONSET and rank in (None, row["rank"]) else {})
        for row in rows
    ]


@pytest.mark.parametrize("second", ["ref_logprobs", "rollout_logprobs", "old_logprobs"])
@pytest.mark.parametrize(("by", "told"), [(1, "a token early"), (-1, "a token late")])
def test_shifted_arrays_are_found_from_their_step_on(tmp_path: Path, by: int, told: str, second: str) -> None:
    """Whichever the second array is, in either direction."""
    found = one(asked(KIND, tmp_path, _shifted(_run(second=second), by)))
    assert found.first_step == ONSET
    assert told in found.effect
    assert len(found.rollouts) == 16 * (STEPS - ONSET)
    assert {key for key, _ in found.tokens} <= set(found.rollouts.tolist())


def test_one_rank_is_named(tmp_path: Path) -> None:
    """Only its rollouts are the evidence."""
    rows = _shifted(_run(), 1, rank=2)
    found = one(asked(KIND, tmp_path, rows))
    assert "in rank 2" in found.effect
    assert {rows[key]["rank"] for key in found.rollouts} == {2}


@pytest.mark.parametrize("rows", [_run(0.0), _run(0.05), _run(2.0)], ids=["equal", "near", "far apart"])
def test_policies_that_differ_are_silence(tmp_path: Path, rows: list[Row]) -> None:
    """However far they are apart."""
    assert silent(asked(KIND, tmp_path, rows))


def test_without_two_arrays_nothing_is_told(tmp_path: Path) -> None:
    """One array of logprobs agrees with itself."""
    rows = [{name: value for name, value in row.items() if name != "ref_logprobs"} for row in _run()]
    assert isinstance(asked(KIND, tmp_path, rows), CannotTell)
