"""An entropy that collapses: small runs of groups whose samples become one text."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from looked_at import asked, one, silent

from board.findings.contract import CannotTell
from board.findings.kinds.departing import KINDS
from board.findings.kinds.turning import has_twin

KIND = next(kind for kind in KINDS if kind.name == "entropy_collapse")
STEPS, GROUPS, MEMBERS, ONSET = 16, 3, 4, 8


def _rows(
    entropy: Callable[[int], float], same: Callable[[int], float] = lambda step: 0.0, field: str = "entropies"
) -> list[dict[str, Any]]:
    """Groups whose entropy is a curve, and of whose members a share says the same."""
    dice = np.random.default_rng(5)
    rows = []
    for step in range(STEPS):
        for group in range(GROUPS):
            for member in range(MEMBERS):
                text = f"{step} {group}" if dice.random() < same(step) else f"{step} {group} {member}"
                numbers = entropy(step) * np.exp(dice.normal(0, 0.1, 6))
                row = {"step": step, "group_id": group, "prompt": str(group), "response": text, "response_tokens": list("abcdef")}
                rows.append(row | {field: (-numbers if field == "logprobs" else numbers).tolist()})
    return rows


def _halves(before: float, after: float) -> Callable[[int], float]:
    return lambda step: after if step >= ONSET else before


@pytest.mark.parametrize(
    ("after", "same", "severity"),
    [(0.2, 0.0, "warning"), (0.4, 0.0, "note"), (0.6, 0.9, "warning")],
    ids=["steep", "by a half", "one text"],
)
def test_entropy_that_falls(tmp_path: Path, after: float, same: float, severity: str) -> None:
    """A fall is found at its step; by how much, and whether texts become one, says how bad it is."""
    found = one(asked(KIND, tmp_path, _rows(_halves(1.0, after), _halves(0.0, same))))

    assert (found.first_step, found.severity) == (ONSET, severity)
    assert found.effect.startswith(f"from step {ONSET} on the entropy falls from 1")
    assert min(found.rollouts) >= ONSET * GROUPS * MEMBERS
    assert ("equal in their group" in found.effect) == (same > 0)


def test_a_slow_fall_is_dated_where_it_begins(tmp_path: Path) -> None:
    """It loses a tenth of what is left at every step."""
    assert abs(one(asked(KIND, tmp_path, _rows(lambda step: 0.8 ** max(0, step - 4)))).first_step - 5) <= 2


@pytest.mark.parametrize(
    "entropy", [lambda step: 1.0, lambda step: 1.0 - 0.02 * step, _halves(1.0, 2.0)], ids=["level", "slow", "rise"]
)
def test_honest_entropy(tmp_path: Path, entropy: Callable[[int], float]) -> None:
    """What stays, falls slowly or rises is no collapse."""
    assert silent(asked(KIND, tmp_path, _rows(entropy)))


def test_surprisal_stands_in_for_entropy(tmp_path: Path) -> None:
    """Where entropies are not logged the mean logprob tells, and is called a proxy."""
    assert "proxy" in one(asked(KIND, tmp_path, _rows(_halves(1.0, 0.1), field="logprobs"))).effect


def test_nothing_to_tell_from(tmp_path: Path) -> None:
    """A run of texts and rewards alone cannot tell, and says so."""
    assert isinstance(asked(KIND, tmp_path, [{"step": step, "response": "a"} for step in range(9)]), CannotTell)


@given(st.lists(st.tuples(st.integers(-1, 3), st.one_of(st.none(), st.integers(0, 2))), max_size=20))
def test_twins_against_every_pair(rows: list[tuple[int, int | None]]) -> None:
    """As comparing each with each would say."""
    groups = np.array([group for group, _ in rows], np.int64)
    digests = np.array([np.nan if digest is None else digest for _, digest in rows], np.float64)

    for at, found in enumerate(has_twin(groups, digests).tolist()):
        mates = [
            other for other in range(len(rows)) if other != at and groups[other] == groups[at] and np.isfinite(digests[other])
        ]
        if groups[at] < 0 or np.isnan(digests[at]) or not mates:
            assert np.isnan(found)
        else:
            assert found == any(digests[other] == digests[at] for other in mates)
