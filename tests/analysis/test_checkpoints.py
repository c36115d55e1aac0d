"""Runs of checkpoints, and training and evaluations of a run on one axis."""

from pathlib import Path
from typing import Any

import pytest
from looked_at import opened as run_of
from rows import row

from board.analysis.compare import run_overlay
from board.analysis.compare.checkpoints import is_of_checkpoints, training_and_evaluation
from board.analysis.compare.compared_run import of_split
from board.errors import FieldMissing


def visits(steps: list[int], prompts: int = 4, **fields: Any) -> list[dict[str, Any]]:
    """A rollout of each of the same prompts at each step."""
    return [row(step, prompt=f"p{at}", reward=float(at % 2), **fields) for step in steps for at in range(prompts)]


RUNS: dict[str, tuple[list[dict[str, Any]], bool]] = {
    "the same prompts every ten steps": (visits([0, 10, 20]), True),
    "evaluations alone": (visits([0, 1], split="evaluation"), True),
    "the same prompts at every step": (visits([0, 1, 2]), False),
    "other prompts every ten steps": ([*visits([0, 10]), *visits([20], 8)], False),
    "both splits": ([*visits([0, 10]), *visits([0, 10], split="evaluation")], False),
    "one step": (visits([10]), False),
    "no prompts": ([row(step, reward=1.0) for step in (0, 10)], False),
}


@pytest.mark.parametrize("name", RUNS)
def test_which_runs_are_of_checkpoints(tmp_path: Path, name: str) -> None:
    """Those that say so, and those whose steps lie apart and see the same prompts."""
    rows, expected = RUNS[name]

    assert is_of_checkpoints(run_of(tmp_path, rows)) == expected


def test_training_and_evaluations_of_one_run(tmp_path: Path) -> None:
    """Each split by itself, with the interval of its own prompts; discarded rollouts are of neither."""
    rows = [*visits([0, 1, 2], 6), *visits([0, 2], split="evaluation"), *visits([1], split="discarded")]
    run = run_of(tmp_path, rows)

    found = training_and_evaluation(run, "reward", of_checkpoints=False)

    assert (found.training["step"].tolist(), found.evaluation["step"].tolist()) == ([0, 1, 2], [0, 2])
    assert found.evaluation.equals(run_overlay.curve(of_split(run, "evaluation", "reward")))
    assert (found.evaluation["low"] < 0.5).all()
    with pytest.raises(FieldMissing, match="entropy"):
        training_and_evaluation(run, "entropy", of_checkpoints=False)


def test_a_run_of_checkpoints_has_points_alone(tmp_path: Path) -> None:
    """Where it is taken for one."""
    run = run_of(tmp_path, visits([0, 10]))

    points, line = (training_and_evaluation(run, "reward", of_checkpoints=one) for one in (True, False))

    assert (points.training.empty, points.evaluation["step"].tolist()) == (True, [0, 10])
    assert (line.evaluation.empty, line.training["step"].tolist()) == (True, [0, 10])
