"""Rollouts of old weights: small runs that say which version sampled them."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from looked_at import asked, one, silent

from board.findings.contract import CannotTell
from board.findings.kinds.turning import STALENESS as KIND

STEPS, PER_STEP, ONSET = 20, 6, 11


def _rows(lag: Callable[[int, int], int], field: str = "policy_version", every: int = 1) -> list[dict[str, Any]]:
    """Rollouts that were sampled so many steps ago."""
    return [
        {"step": step * every, "prompt": f"{step} {at}", "response": "a", field: step * every - lag(step, at)}
        for step in range(STEPS)
        for at in range(PER_STEP)
    ]


@pytest.mark.parametrize("every", [1, 5])
@pytest.mark.parametrize("field", ["policy_version", "weight_version", "rollout_step"])
def test_lag_that_grows(tmp_path: Path, field: str, every: int) -> None:
    """It is found at its step, with the rollouts that are old."""
    rows = _rows(lambda step, at: 5 + at % 2 if step >= ONSET else at % 2, field, every)

    found = one(asked(KIND, tmp_path, rows))

    assert found.first_step == ONSET * every
    assert found.measured == pytest.approx(5)
    assert min(found.rollouts) >= ONSET * PER_STEP


def test_a_version_that_is_a_text(tmp_path: Path) -> None:
    """As "step-17": the number at its end."""
    rows = [row | {"weight_version": f"step-{row['policy_version']}"} for row in _rows(lambda step, at: 5 * (step >= ONSET))]
    for row in rows:
        del row["policy_version"]
    assert one(asked(KIND, tmp_path, rows)).first_step == ONSET


def test_weights_that_are_sent_no_more(tmp_path: Path) -> None:
    """The version stays where it was, and rollouts become older by a step each."""
    assert abs(one(asked(KIND, tmp_path, _rows(lambda step, at: max(0, step - 8)))).first_step - 9) <= 2


def test_lag_that_is_logged_itself(tmp_path: Path) -> None:
    """A number called staleness needs no version."""
    rows = [row | {"staleness": 6 * (row["step"] >= ONSET)} for row in _rows(lambda step, at: 0, "other")]

    assert one(asked(KIND, tmp_path, rows)).first_step == ONSET


def test_lag_from_the_first_step_on(tmp_path: Path) -> None:
    """Nothing turns, and it is too much."""
    rows = [row | {"staleness": 12} for row in _rows(lambda step, at: 0, "other")]

    assert one(asked(KIND, tmp_path, rows)).first_step == 0


@pytest.mark.parametrize("lag", [lambda step, at: 0, lambda step, at: at % 3, lambda step, at: 2 * (step == 9)])
def test_lags_of_every_asynchronous_run(tmp_path: Path, lag: Callable[[int, int], int]) -> None:
    """Fresh, up to two steps old, or late once."""
    assert silent(asked(KIND, tmp_path, _rows(lag)))


@pytest.mark.parametrize(
    "version", [lambda step: 3, lambda step: 1000 * step, lambda step: -step], ids=["fixed", "samples", "falling"]
)
def test_versions_of_something_else(tmp_path: Path, version: Callable[[int], int]) -> None:
    """What does not go up by about one a step does not count steps, and that is said."""
    rows = [{"step": step, "response": "a", "model_version": version(step)} for step in np.repeat(range(STEPS), 3).tolist()]

    assert isinstance(asked(KIND, tmp_path, rows), CannotTell)
