"""A verifier that contradicts itself, and rewards that differ for a reason."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from looked_at import asked, one, silent

from board.findings.contract import CannotTell
from board.findings.kinds.unsound import VERIFIER_NOISE as KIND
from board.findings.kinds.unsound import is_verdict, twins

STEPS, ONSET = 10, 4


def _run(noisy: float, text: str = "{way} The answer is {answer}.", lengthy: bool = False) -> list[dict[str, Any]]:
    """Groups of six responses with an answer of two; from ONSET on a share of the rewards is turned over."""
    dice = np.random.default_rng(5)
    rows = []
    for step in range(STEPS):
        for prompt in range(5):
            for _ in range(6):
                answer, way = int(dice.integers(2)), "word " * int(dice.integers(1, 40))
                reward = float(answer)
                if step >= ONSET and dice.random() < noisy:
                    reward = 1 - reward
                rows.append(
                    {
                        "step": step,
                        "prompt": f"{step} {prompt}",
                        "response": text.format(way=way, answer=answer),
                        "reward": len(way) / 100 if lengthy else reward,
                    }
                )
    return rows


@pytest.mark.parametrize(
    "text", ["{answer}", "{way} so \\boxed{{{answer}}}", "{way} The answer is {answer}.", "{way}所以答案是{answer}。"]
)
def test_equals_that_are_paid_differently_are_found(tmp_path: Path, text: str) -> None:
    """Equal texts, and equal final answers in the ways that these are marked; evidence is what was turned over, or its opposite."""
    rows, sound = _run(0.15, text), _run(0.0, text)
    found = one(asked(KIND, tmp_path, rows))
    assert found.first_step in (ONSET, ONSET + 1)
    turned = [rows[key]["reward"] != sound[key]["reward"] for key in found.rollouts]
    assert np.mean(turned) > 0.7
    assert all(rows[key]["step"] >= ONSET for key in found.rollouts)


@pytest.mark.parametrize(
    "rows",
    [_run(0.0), _run(0.0, "{answer}"), _run(0.0, lengthy=True), [row | {"reward": 1.0} for row in _run(0.2)]],
    ids=["no noise", "equal texts", "longer is better", "always 1"],
)
def test_rewards_that_differ_for_a_reason_are_silence(tmp_path: Path, rows: list[dict[str, Any]]) -> None:
    """Answers that are right or wrong, and a reward for length."""
    assert silent(asked(KIND, tmp_path, rows))


@pytest.mark.parametrize(("sets", "expected"), [(2, False), (10, True)], ids=["two sets of equals", "ten"])
def test_equals_are_one_case(tmp_path: Path, sets: int, expected: bool) -> None:
    """One of sixteen equals is paid otherwise and contradicts them all: that of two sets is two cases, and no thirty-two."""
    late = [
        {
            "step": STEPS + at,
            "prompt": f"late {at}",
            "response": f"{'word ' * member} The answer is 1.",
            "reward": float(member != 7),
        }
        for at in range(sets)
        for member in range(16)
    ]
    # no two texts are equal
    rows = [row | {"response": f"{at} {row['response']}"} for at, row in enumerate(_run(0.0) + late)]
    answer = asked(KIND, tmp_path, rows)

    assert one(answer).first_step == STEPS if expected else silent(answer)


@pytest.mark.parametrize(
    ("rewards", "verdicts"),
    [
        (np.array([0.0, 1.0] * 50), True),
        (np.tile([0.0, 0.2, 1.0, 1.2], 25), True),
        (np.repeat([0.0, 1.0], 50) + np.linspace(0, 0.2, 100), True),
        (np.linspace(0, 1, 100), False),
        (np.random.default_rng(3).normal(size=300), False),
        (np.ones(9), False),
    ],
    ids=["right or wrong", "with a part for form", "with something added", "evenly spread", "a reward model", "all one"],
)
def test_verdicts_have_two_ends(rewards: np.ndarray, verdicts: bool) -> None:
    """Equal answers may well differ by degrees, which a reward model gives."""
    low, high = np.quantile(rewards, (0.02, 0.98))

    assert is_verdict(rewards, float(low), float(high - low)) == verdicts


def test_without_equals_nothing_is_told(tmp_path: Path) -> None:
    """Every response another one."""
    assert isinstance(asked(KIND, tmp_path, [row | {"response": str(at)} for at, row in enumerate(_run(0.3))]), CannotTell)


_ROWS = st.lists(
    st.tuples(st.integers(0, 2), st.sampled_from([1.0, 2.0, np.nan]), st.sampled_from([0.0, 0.4, 1.0, np.nan])), max_size=14
)


@given(_ROWS)
def test_twins_are_those_of_a_slow_search(rows: list[tuple[int, float, float]]) -> None:
    """Every pair compared."""
    groups = np.array([group for group, _, _ in rows], np.int64)
    digests, rewards = (np.array([row[at] for row in rows], float) for at in (1, 2))
    found = twins(groups, digests, rewards, 0.5)
    for at, (group, digest, reward) in enumerate(rows):
        equals = [r for g, d, r in rows if g == group and d == digest and np.isfinite(r)] if np.isfinite(reward) else []
        assert found.has[at] == (len(equals) > 1)
        assert found.contradicted[at] == (len(equals) > 1 and max(equals) - min(equals) > 0.5)
        assert found.off[at] == pytest.approx(abs(reward - np.median(equals)) if equals else 0)
