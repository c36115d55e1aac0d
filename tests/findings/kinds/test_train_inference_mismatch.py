"""Engine and trainer apart: growing, all along, or as near as kernels are."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from looked_at import asked, one, silent

from board.findings.contract import CannotTell
from board.findings.kinds.apart import TRAIN_INFERENCE_MISMATCH as KIND

STEPS, ROWS, TOKENS, ONSET = 20, 8, 40, 10


def _run(noise: Callable[[int], float], engine: bool = True) -> list[dict[str, Any]]:
    """The noise is ten times as large on tokens of a probability below 0.1."""
    dice = np.random.default_rng(9)
    rows = []
    for step in range(STEPS):
        for at in range(ROWS):
            sampled = -dice.gamma(0.5, 1.5, TOKENS)
            spread = noise(step) * np.where(sampled < np.log(0.1), 10, 1)
            row = {"step": step, "prompt": f"{step} {at}", "response": "a" * TOKENS, "response_tokens": ["a"] * TOKENS}
            row["logprobs"] = np.minimum(0, sampled + dice.normal(0, 1, TOKENS) * spread).tolist()
            rows.append(row | ({"rollout_logprobs": sampled.tolist()} if engine else {}))
    return rows


def test_a_drift_is_found_with_the_tokens_that_hold_it(tmp_path: Path) -> None:
    """From its step on; the largest differences are on improbable tokens."""
    rows = _run(lambda step: 0.01 + (0.05 if step >= ONSET else 0))
    found = one(asked(KIND, tmp_path, rows))
    assert found.first_step == ONSET
    assert found.severity is None
    assert all(rows[key]["step"] >= ONSET for key in found.rollouts)
    assert np.mean([rows[key]["rollout_logprobs"][position] < np.log(0.1) for key, position in found.tokens]) > 0.9
    assert "below 0.1" in found.effect
    assert "synced" not in found.effect


def test_what_grows_slowly_is_dated_where_it_can_be_seen(tmp_path: Path) -> None:
    """A line from a step on."""
    found = one(asked(KIND, tmp_path, _run(lambda step: 0.01 + 0.01 * max(0, step - ONSET + 1))))
    assert abs(found.first_step - ONSET) <= 2
    slow = _run(lambda step: 0.01 + 0.01 * max(0, step - 4))
    long = one(asked(KIND, tmp_path / "long", [row | {"step": 2 * row["step"] + at % 2} for at, row in enumerate(slow)]))
    assert "weights that are not synced any more" in long.effect


def test_what_is_there_all_along_is_a_note(tmp_path: Path) -> None:
    """Engine and trainer never were one policy."""
    assert one(asked(KIND, tmp_path, _run(lambda step: 0.05))).severity == "note"


@pytest.mark.parametrize("noise", [lambda step: 0.0, lambda step: 0.01, lambda step: 0.001 * (1 + step / 20)])
def test_what_kernels_differ_by_is_silence(tmp_path: Path, noise: Callable[[int], float]) -> None:
    """Nothing, a hundredth of a nat, and a thousandth that doubles."""
    assert silent(asked(KIND, tmp_path, _run(noise)))


def test_without_the_engine_nothing_is_told(tmp_path: Path) -> None:
    """One array has nothing to differ from."""
    assert isinstance(asked(KIND, tmp_path, _run(lambda step: 1.0, engine=False)), CannotTell)


@pytest.mark.parametrize("temperature", [0.7, 1.0])
def test_logits_divided_by_a_temperature_are_told(tmp_path: Path, temperature: float) -> None:
    """The trainer's logprobs are those of softmax(logits / T), the engine's those of T = 1: told from the first step on, with about that T.

    The twin, with T = 1, is silent.
    """
    dice = np.random.default_rng(4)
    rows = []
    for step in range(STEPS):
        for at in range(ROWS):
            logits = dice.normal(0, 2, (TOKENS, 50))
            chosen = (logits + dice.gumbel(0, 1, logits.shape)).argmax(axis=1)
            engine, trainer = (
                (one - np.log(np.exp(one).sum(axis=1, keepdims=True)))[np.arange(TOKENS), chosen]
                for one in (logits, logits / temperature)
            )
            trainer = np.minimum(0, trainer + dice.normal(0, 0.004, TOKENS))
            row = {"step": step, "prompt": f"{step} {at}", "response": "a" * TOKENS, "response_tokens": ["a"] * TOKENS}
            rows.append(row | {"logprobs": trainer.tolist(), "rollout_logprobs": engine.tolist()})
    answer = asked(KIND, tmp_path, rows)

    if temperature == 1:
        assert silent(answer)
        return
    found = one(answer)
    both = (np.concatenate([row[name] for row in rows]) for name in ("logprobs", "rollout_logprobs"))
    assert found.measured == pytest.approx(float(np.exp(np.abs(np.subtract(*both))).mean()) - 1, rel=0.02)
    assert (found.first_step, found.last_step, found.severity) == (0, STEPS - 1, None)
    assert "divided by a temperature of about 0.7" in found.effect
