"""A KL that runs away: small runs whose log-ratios have the size of a curve."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from looked_at import asked, one, silent

from board.findings.contract import CannotTell
from board.findings.kinds.turning import KL_RUNAWAY as KIND

STEPS, PER_STEP, TOKENS = 20, 8, 12


def _rows(kl: Callable[[int], float], steps: int = STEPS) -> list[dict[str, Any]]:
    """Rollouts whose log-ratios are those of samples at this KL, nats per token, by step."""
    dice = np.random.default_rng(4)
    rows = []
    for step in range(steps):
        for at in range(PER_STEP):
            spread = np.sqrt(2 * kl(step))
            logprobs = -dice.gamma(1.0, 1.0, TOKENS) - 3
            ratio = dice.normal(spread**2 / 2, spread, TOKENS)
            arrays = {"logprobs": logprobs.tolist(), "ref_logprobs": (logprobs - ratio).tolist()}
            rows.append({"step": step, "prompt": f"{step} {at}", "response_tokens": ["a"] * TOKENS, **arrays})
    return rows


@pytest.mark.parametrize(
    ("kl", "first"),
    [
        (lambda step: 0.01 if step < 10 else 0.5, 10),
        (lambda step: 0.01 * 1.6 ** max(0, step - 8), 14),
        (lambda step: 0.003 + 0.001 * step if step < 10 else 0.09 + 0.01 * (step - 10), 10),
    ],
    ids=["jump", "doubling", "a leap between growths"],
)
def test_kl_that_runs_away(tmp_path: Path, kl: Callable[[int], float], first: int) -> None:
    """A jump and a growth by a factor are found where they begin to matter, with rollouts of the steps since."""
    found = one(asked(KIND, tmp_path, _rows(kl)))

    assert abs(found.first_step - first) <= 3
    assert found.measured > 0.1
    assert min(found.rollouts) >= found.first_step * PER_STEP


@pytest.mark.parametrize(
    "kl",
    [
        lambda step: 0.001,
        lambda step: 0.0001 + 0.001 * step,
        lambda step: 0.01 if step < 10 else 0.05,
        lambda step: 0.3 * (1 - 0.6**step),
        lambda step: 0.15 * step / STEPS,
        lambda step: 6.0 if step in {7, STEPS - 2} else 0.01,
    ],
    ids=[
        "level",
        "slow growth",
        "small jump",
        "a beginning that slows down",
        "a line to where healthy runs come",
        "single steps",
    ],
)
def test_kl_that_stays_in_bounds(tmp_path: Path, kl: Callable[[int], float]) -> None:
    """Honest training goes away from its reference too, slowly or at first."""
    assert silent(asked(KIND, tmp_path, _rows(kl)))


def test_too_few_steps(tmp_path: Path) -> None:
    """Three steps have no course, and that is said."""
    assert isinstance(asked(KIND, tmp_path, _rows(lambda step: 0.5 * step, 3)), CannotTell)


def test_a_leap_is_dated_where_it_is(tmp_path: Path) -> None:
    """Growth before and after it would let a line begin steps earlier."""
    found = one(asked(KIND, tmp_path, _rows(lambda step: 0.003 + 0.001 * step if step < 14 else 0.08 + 0.02 * (step - 14), 24)))

    assert found.first_step == 14
