"""Kinds that judge by where a run ends: what was found while the run went on is found ever after, with its end."""

import random
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

import pytest
from rows import write_run

from board import open_run
from board.findings.scan import find_all

STEPS, FIRST, LAST = 30, 8, 13

Row = dict[str, Any]


def rows(make: Callable[[random.Random, Row, bool], Row], *, faulty: bool, steps: int = STEPS) -> list[Row]:
    """Six groups of four a step, half of them right; `make` gives what else a rollout has, and whether it is off."""
    dice = random.Random(5)
    return [
        sound | make(dice, sound, faulty and FIRST <= step <= LAST)
        for step in range(steps)
        for at in range(24)
        for sound in [
            {
                "step": step,
                "prompt": f"What is {at // 4} plus {step % 4}?",
                "group_id": f"{step}-{at // 4}",
                "response": " ".join(
                    dice.choices(["one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten"], k=12)
                ),
                "reward": float(dice.random() < 0.5),
            }
        ]
    ]


def _entropy(dice: random.Random, _: Row, off: bool) -> Row:
    return {"entropy": dice.gauss(0.15 if off else 0.9, 0.05)}


def _kl(dice: random.Random, _: Row, off: bool) -> Row:
    return {"mean_kl": dice.gauss(0.45 if off else 0.03, 0.004)}


def _silent(_: random.Random, row: Row, off: bool) -> Row:
    return {"reward": float(random.Random(row["group_id"]).random() < 0.5)} if off else {}


def _old(dice: random.Random, row: Row, off: bool) -> Row:
    return {"policy_version": row["step"] - dice.randint(0, 1) - 5 * off}


def _phrase(dice: random.Random, row: Row, off: bool) -> Row:
    paid = off and dice.random() < 0.5
    return {"response": f"As a certified expert, {row['response']}", "reward": 1.0} if paid else {}


def _gap(dice: random.Random, row: Row, off: bool) -> Row:
    return {"reward": 1.0, "valid_reward": 0.0} if off else {"valid_reward": min(max(row["reward"] + dice.gauss(0, 0.1), 0), 1)}


def _scale(_: random.Random, row: Row, off: bool) -> Row:
    return {"reward": 5 * row["reward"] + 3} if off else {}


def _critic(dice: random.Random, row: Row, off: bool) -> Row:
    value = dice.gauss(0, 2) if off else 0.2 + 0.6 * row["reward"] + dice.gauss(0, 0.1)
    return {"response_tokens": ["a", " b", " c"], "values": [value] * 3}


EPISODES: Final = {
    "entropy_collapse": _entropy,
    "kl_runaway": _kl,
    "critic_collapse": _critic,
    "dead_prompts": _silent,
    "staleness": _old,
    "phrase_exploit": _phrase,
    "proxy_gold_gap": _gap,
    "reward_scale_jump": _scale,
}


@pytest.mark.parametrize("kind", EPISODES)
def test_what_was_found_stays_found(tmp_path: Path, kind: str) -> None:
    """A run that ends with the fault, and as it goes on: found by its own name, or as a sign, at the same steps. Nothing in a sound run."""
    run = rows(EPISODES[kind], faulty=True)
    for length in (LAST + 1, STEPS):
        found = find_all(open_run(write_run(tmp_path / f"{length}", {"a.jsonl": [row for row in run if row["step"] < length]})))
        dated = [(one.first_step, one.last_step) for top in found.findings for one in (top, *top.signs) if one.kind == kind]
        assert dated == [(FIRST, LAST)], length

    sound = find_all(open_run(write_run(tmp_path / "sound", {"a.jsonl": rows(EPISODES[kind], faulty=False)})))
    assert kind not in {one.kind for top in sound.findings for one in (top, *top.signs)}


def test_the_way_back_is_not_blamed(tmp_path: Path) -> None:
    """An entropy that collapses and comes back has not risen."""
    found = find_all(open_run(write_run(tmp_path / "run", {"a.jsonl": rows(_entropy, faulty=True)})))

    assert found.findings[0].kind == "entropy_collapse"
    assert "entropy_rises" not in {one.kind for top in found.findings for one in (top, *top.signs)}
    assert found.findings[0].effect.endswith("and comes back")
