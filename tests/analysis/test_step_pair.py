"""Two steps of a run against each other by one number."""

from pathlib import Path

import numpy as np
import pytest
from rows import row, write_run

from board import open_run
from board.analysis.steps.step_shift import compare, typical
from board.errors import FieldMissing

LINES = [
    *(row(2, prompt="p", reward=one) for one in (0.0, 1.0, 0.4)),
    row(2, prompt="q", reward=None),
    row(2, reward=7.0),
    *(row(5, prompt="p", reward=one) for one in (2.0, 3.0)),
    row(5, prompt="r", reward=4.0),
    row(9, prompt="p"),
]


def test_both_steps_by_a_number(tmp_path: Path) -> None:
    """Rollouts without the number are left out; prompts of both steps are listed, and which rollout is like their mean."""
    run = open_run(write_run(tmp_path / "run", {"a.jsonl": LINES}))

    found = compare(run, "reward", 2, 5)

    assert (found.a.step, found.a.values.tolist()) == (2, [0.0, 1.0, 0.4, 7.0])
    assert (found.b.step, found.b.values.tolist()) == (5, [2.0, 3.0, 4.0])
    assert (found.test.whole_prompts, found.test.units) == (True, (2, 2))
    assert found.moved[["rollouts_a", "rollouts_b", "mean_b"]].to_numpy().tolist() == [[3, 2, 2.5]]
    prompt = int(found.moved["prompt"][0])
    assert [run.frame["reward"].loc[typical(side, prompt)] for side in (found.a, found.b)] == [0.4, 2.0]


def test_a_step_without_the_number_is_empty(tmp_path: Path) -> None:
    """It is no zero, and there is no test; a number that the run lacks is an error fit for the screen."""
    run = open_run(write_run(tmp_path / "run", {"a.jsonl": LINES}))

    found = compare(run, "reward", 2, 9)

    assert found.b.values.size == 0
    assert np.isnan(found.test.p)
    assert found.moved.empty
    with pytest.raises(FieldMissing, match="needs entropy"):
        compare(run, "entropy", 2, 5)
