"""Prompts that teach nothing any more, and groups whose rewards are equal for other reasons."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from looked_at import asked, one, silent

from board.findings.contract import CannotTell
from board.findings.kinds.departing import KINDS

KIND = next(kind for kind in KINDS if kind.name == "dead_prompts")
STEPS, PROMPTS, MEMBERS, ONSET = 20, 10, 6, 10

Row = dict[str, Any]


def _run(chance: Callable[[int, int], float], members: int = MEMBERS) -> list[Row]:
    """Chances by step and prompt."""
    dice = np.random.default_rng(8)
    return [
        {"step": step, "prompt": f"p{prompt}", "response": "ok", "reward": float(dice.random() < chance(step, prompt))}
        for step in range(STEPS)
        for prompt in range(PROMPTS)
        for _ in range(members)
    ]


def _dying(step: int, prompt: int) -> float:
    return (prompt % 2 if prompt < 6 else 0.5) if step >= ONSET else 0.5


def test_prompts_that_die_are_found_and_are_the_evidence(tmp_path: Path) -> None:
    """Six of ten prompts are solved always, or never, from a step on."""
    rows = _run(_dying)
    found = one(asked(KIND, tmp_path, rows))
    assert abs(found.first_step - ONSET) <= 1
    assert found.severity == "warning"
    assert found.measured * np.std([*[1] * 60, *[0] * 140]) == pytest.approx(0.6, abs=0.1)
    shown = found.rollouts[:50]
    assert all(rows[key]["step"] >= ONSET for key in shown)
    assert np.mean([int(rows[key]["prompt"][1:]) < 6 for key in shown]) > 0.95


@pytest.mark.parametrize("groups", [1, 12])
def test_a_share_of_few_groups_is_chance(tmp_path: Path, groups: int) -> None:
    """Of one group a step 1 of 19 and then 2 of 5 are equal; of twelve as large a share is no chance."""
    rows = [
        {"step": step, "prompt": f"{step} {prompt}", "response": "ok", "reward": float(member % 2 and step not in {5, 20, 22})}
        for step in range(24)
        for prompt in range(groups)
        for member in range(MEMBERS)
    ]
    answer = asked(KIND, tmp_path, rows)

    if groups == 1:
        assert silent(answer)
        return
    found = one(answer)
    assert (found.first_step, found.last_step, found.severity) == (5, 22, "note")
    assert found.effect.count("rises from 0 to 1, and comes back") == 3


def test_groups_that_are_equal_for_some_steps_are_an_episode(tmp_path: Path) -> None:
    """Six of ten groups are equal from step 5 to 9, long before the run ends; told with both ends."""
    found = one(asked(KIND, tmp_path, _run(lambda step, prompt: _dying(ONSET, prompt) if 5 <= step < 10 else 0.5)))
    assert (found.first_step, found.last_step, found.severity) == (5, 9, "warning")
    assert "and comes back" in found.effect


def test_prompts_that_are_learned_are_a_note(tmp_path: Path) -> None:
    """All of those that die are solved always."""
    found = one(asked(KIND, tmp_path, _run(lambda step, prompt: 1.0 if step >= ONSET and prompt < 6 else 0.5)))
    assert found.severity == "note"


def test_what_grows_by_learning_is_a_note(tmp_path: Path) -> None:
    """Two of ten prompts are solved never all along; those that come to it are solved always."""
    found = one(
        asked(
            KIND, tmp_path, _run(lambda step, prompt: 0.0 if prompt > 7 else float(prompt < 4 or 0.5) if step >= ONSET else 0.5)
        )
    )
    assert found.severity == "note"


@pytest.mark.parametrize(
    ("chance", "members"),
    [
        (lambda step, prompt: 0.5, MEMBERS),
        (lambda step, prompt: prompt / 9, MEMBERS),
        (lambda step, prompt: 0.2 + 0.02 * step, MEMBERS),
        (lambda step, prompt: 1 - _dying(step, prompt) if step < ONSET else 0.5, MEMBERS),
        (lambda step, prompt: 0.0, MEMBERS),
    ],
    ids=["all alive", "some dead all along", "learning", "fewer of them", "nothing is ever solved"],
)
def test_groups_that_teach_are_silence(tmp_path: Path, chance: Callable[[int, int], float], members: int) -> None:
    """Only growth over the run's own start counts."""
    assert silent(asked(KIND, tmp_path, _run(chance, members)))


def test_without_groups_nothing_is_told(tmp_path: Path) -> None:
    """One rollout of each prompt."""
    assert isinstance(asked(KIND, tmp_path, _run(_dying, members=1)), CannotTell)
