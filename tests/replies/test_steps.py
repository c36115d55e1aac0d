"""Steps as rows: the usual metrics, those asked for, and those there are not."""

from pathlib import Path

import pytest
from asked import asked_run, empty_run, plain_run

from board.cli.replies.steps import steps
from board.errors import ArgumentRefused
from board.runs.opening import open_run


def test_means_by_step(tmp_path: Path) -> None:
    """The mean of what is there, inside its interval; what each metric means is told once."""
    told = steps(open_run(asked_run(tmp_path)), "run", ["reward/mean", "counts/rollouts"])

    assert [one.step for one in told.steps] == [0, 1]
    assert [one.values for one in told.steps] == [
        {"reward/mean": 0.5, "counts/rollouts": 4.0},
        {"reward/mean": 2.0, "counts/rollouts": 4.0},
    ]
    for one in told.steps:
        assert (one.reward_low or 0.0) <= (one.values["reward/mean"] or 0.0) <= (one.reward_high or 0.0)
        assert one.reward_low is not None
    assert [*told.metrics] == ["reward/mean", "counts/rollouts"]


def test_the_usual_ones(tmp_path: Path) -> None:
    """Unasked it tells what the page Steps shows."""
    told = steps(open_run(asked_run(tmp_path)), "run")

    assert {"counts/rollouts", "reward/mean"} <= {*told.steps[0].values}


@pytest.mark.parametrize("made", [empty_run, plain_run], ids=["empty", "plain"])
def test_runs_with_little(made: object, tmp_path: Path) -> None:
    """No rollouts are no steps; no reward has no interval."""
    run = open_run(made(tmp_path))  # type: ignore[operator]

    told = steps(run, "run")

    assert [one.step for one in told.steps] == run.steps.tolist()


def test_a_metric_there_is_not(tmp_path: Path) -> None:
    """Is refused by name, and the ones there are are named."""
    with pytest.raises(ArgumentRefused, match=r"'reward/meen'.*reward/mean"):
        steps(open_run(asked_run(tmp_path)), "run", ["reward/meen"])
