"""Rollouts of an earlier step again, and responses that are merely written twice."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from looked_at import asked, one, silent

from board.findings.contract import CannotTell
from board.findings.kinds.unsound import STALE_ROWS as KIND
from board.findings.kinds.unsound import ages

STEPS, PROMPTS, MEMBERS, ONSET = 10, 4, 4, 5

Row = dict[str, Any]


def _run(arrays: bool = True, words: int = 30, kinds: int = 1000) -> list[Row]:
    dice = np.random.default_rng(7)
    rows = []
    for step in range(STEPS):
        for at in range(PROMPTS * MEMBERS):
            tokens = [f" w{one}" for one in dice.integers(kinds, size=words)]
            row = {"step": step, "prompt": f"p{at // MEMBERS}", "response": "".join(tokens)}
            if arrays:
                row |= {"response_tokens": tokens, "logprobs": (-dice.random(words)).tolist()}
            rows.append(row)
    return rows


def _stale(rows: list[Row], first: int = ONSET) -> list[Row]:
    """From a step on a quarter of the rollouts are those of two steps before."""
    size = PROMPTS * MEMBERS
    return [
        rows[at - 2 * size + 1] | {"step": row["step"]} if row["step"] >= first and at % MEMBERS == 0 else row
        for at, row in enumerate(rows)
    ]


@pytest.mark.parametrize("arrays", [True, False], ids=["with logprobs", "texts alone"])
def test_rollouts_that_come_again_are_found(tmp_path: Path, arrays: bool) -> None:
    """From their first step on, and they alone are the evidence."""
    found = one(asked(KIND, tmp_path, _stale(_run(arrays))))
    assert found.first_step == ONSET
    size = PROMPTS * MEMBERS
    assert set(found.rollouts.tolist()) == {at for at in range(ONSET * size, STEPS * size) if at % MEMBERS == 0}
    assert "2 steps before" in found.effect


def test_from_the_start_on_it_is_a_note(tmp_path: Path) -> None:
    """Several epochs over each batch are how some trainers work."""
    rows = _run()
    size = PROMPTS * MEMBERS
    epochs = [rows[at - size * (at // size % 2)] | {"step": at // size} for at in range(len(rows))]
    assert one(asked(KIND, tmp_path, epochs)).severity == "note"


@pytest.mark.parametrize(
    "rows",
    [
        _run(),
        _run(arrays=False),
        _run(words=4),
        _run(arrays=False, words=20, kinds=1),
        [row | {"prompt": str(at)} for at, row in enumerate(_run())],
    ],
    ids=["sound", "texts", "short", "always the same text", "prompts once each"],
)
def test_what_is_written_twice_is_silence(tmp_path: Path, rows: list[Row]) -> None:
    """Short answers, and a policy that says the same in every group."""
    answer = asked(KIND, tmp_path, rows)
    assert silent(answer) or isinstance(answer, CannotTell)


def test_an_evaluation_answers_the_same_again(tmp_path: Path) -> None:
    """Greedy answers to the same prompts; nothing is trained on them."""
    assert isinstance(asked(KIND, tmp_path, [row | {"split": "evaluation"} for row in _stale(_run())]), CannotTell)


@given(st.lists(st.tuples(st.integers(0, 3), st.integers(0, 1), st.sampled_from([1.0, 2.0, np.nan])), max_size=12))
def test_ages_are_those_of_a_slow_search(rows: list[tuple[int, int, float]]) -> None:
    """Every pair compared."""
    rows = sorted(rows, key=lambda row: row[0])
    step, prompts, digests = (np.array([row[at] for row in rows]) for at in range(3))
    found = ages(step.astype(np.int64), prompts.astype(np.int64), digests.astype(float))
    for at, (own, prompt, digest) in enumerate(rows):
        earlier = [s for s, p, d in rows if s < own and p == prompt and d == digest]
        assert found[at] == (own - max(earlier) if earlier else 0)
