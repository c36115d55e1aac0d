"""Metrics as rows, against the steps they are of."""

import json
import math
from pathlib import Path

import pytest
from asked import asked_run, empty_run

from board.cli.replies.contract import document
from board.cli.replies.messages import metrics_as_text
from board.cli.replies.metric_rows import metrics
from board.cli.replies.steps import steps
from board.errors import ArgumentRefused
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


def test_what_trackers_logged_stands_apart(tmp_path: Path) -> None:
    """Scalars of trackers are told beside the metrics of the rollouts, with their own course, texts, and what is not shown."""
    folder = asked_run(tmp_path)
    alone = metrics(open_run(folder), "run")
    rows = [{"step": step, "critic/score/mean": 0.5 * step, "odd": math.nan, "dev": "cuda:0", "t": [1]} for step in (1, 3)]
    (folder / "metrics.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")

    told = metrics(open_run(folder), "run")

    assert (alone.logged, told.metrics) == (None, alone.metrics)
    assert told.logged is not None
    score, odd = told.logged.scalars
    assert (score.name, score.key, score.tracker, score.source) == ("critic/score/mean", "reward/mean", "jsonl", "metrics.jsonl")
    assert (score.first, score.last, score.lowest_step, score.highest_step, score.curve) == (0.5, 1.5, 1, 3, [])
    assert (odd.key, odd.steps, odd.lowest_step) == ("odd", 2, None)
    assert (told.logged.texts, told.logged.not_shown, told.logged.problems) == ({"dev": "cuda:0"}, ["t"], [])
    assert document(told)["logged"]["scalars"][1]["first"] is None
    assert "logged by the trainer, 2 scalars:" in metrics_as_text(told)


def test_a_curve_that_was_logged(tmp_path: Path) -> None:
    """A logged name is asked for like a key; a key that both have gives both curves, and a damaged source is told."""
    folder = asked_run(tmp_path)
    (folder / "metrics.jsonl").write_text('{"step": 1, "critic/score/mean": 2, "mine": 3}\n', encoding="utf-8")
    (folder / "logging.jsonl").write_text("no JSON\n", encoding="utf-8")
    run = open_run(folder)

    mine, both = metrics(run, "run", ["mine"]), metrics(run, "run", ["reward/mean"])

    assert mine.logged is not None
    assert both.logged is not None
    assert (mine.metrics, [(one.name, one.curve) for one in mine.logged.scalars]) == ([], [("mine", [(1, 3.0)])])
    assert ([one.key for one in both.metrics], [one.name for one in both.logged.scalars]) == (
        ["reward/mean"],
        ["critic/score/mean"],
    )
    assert "logging.jsonl, line 1" in both.logged.problems[0]
    assert "reward/mean critic/score/mean (jsonl)" in metrics_as_text(both)
