"""Metrics as rows, against the steps they are of."""

from pathlib import Path

import pytest
from asked import asked_run, empty_run

from board.errors import ArgumentRefused
from board.replies.metric_rows import metrics
from board.replies.steps import steps
from board.runs.opening import open_run


def test_rows_are_their_curves_in_short(tmp_path: Path) -> None:
    """First, last, lowest and highest of each metric are those of its values by step."""
    run = open_run(asked_run(tmp_path))
    told = metrics(run, "run").metrics
    keys = [one.key for one in told]

    by_step = {one.step: one.values for one in steps(run, "run", keys).steps}

    assert {"reward/mean", "kl/k3_mean"} <= {*keys}
    for one in told:
        curve = [(step, value) for step in sorted(by_step) if (value := by_step[step][one.key]) is not None and value == value]
        assert (one.steps, one.first, one.last) == (len(curve), curve[0][1], curve[-1][1])
        assert (one.lowest, one.highest) == (min(value for _, value in curve), max(value for _, value in curve))
        assert dict(curve)[one.lowest_step] == one.lowest
        assert dict(curve)[one.highest_step] == one.highest
        assert one.curve == []


def test_a_curve(tmp_path: Path) -> None:
    """Asked for, it is alone and whole; another is refused."""
    run = open_run(asked_run(tmp_path))

    (told,) = metrics(run, "run", ["reward/mean"]).metrics

    assert told.curve == [(0, 0.5), (1, 2.0)]
    with pytest.raises(ArgumentRefused, match="'no such'"):
        metrics(run, "run", ["no such"])


def test_nothing_to_draw(tmp_path: Path) -> None:
    """An empty run has no metrics."""
    assert metrics(open_run(empty_run(tmp_path)), "run").metrics == []
