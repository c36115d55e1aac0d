"""Tests of what a glance tells of a run: the same as all of it where it is small or kept, an honest estimate where it is not."""

import json
import math
import random
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path
from typing import Any

import pytest
from rows import row, write_run

from board.runs.opening import open_run
from board.runs.summaries import run_summary
from board.runs.summaries.run_summary import POINTS, from_written, summarise


def rising(steps: int, rows: int = 4, **fields: object) -> list[dict[str, object]]:
    """Rows whose reward is their step."""
    return [row(step, reward=float(step), **fields) for step in range(steps) for _ in range(rows)]


def test_of_a_small_run_everything_is_known(tmp_path: Path) -> None:
    """Steps, rollouts, problems, and each number's mean by step."""
    run = write_run(tmp_path / "run", {"a.jsonl": [*rising(3), b"{broken"]})
    told = summarise(run, tmp_path)
    assert (told.first_step, told.last_step, told.rollouts, told.sampled, told.problems) == (0, 2, 12, False, 1)
    assert told.curves["reward"] == (0.0, 1.0, 2.0)
    assert told.last["reward"] == 2.0
    assert told.trainers == ("native",)
    assert from_written(asdict(told)) == told


def test_a_mapping_one_folder_above_counts_as_for_the_run(tmp_path: Path) -> None:
    """What the list tells of a run that only a mapping makes readable is what the run tells, the run being the root, too."""
    run = write_run(tmp_path / "root" / "run", {"a.jsonl": [{"said": "x", "points": 0.5}, {"said": "y", "points": 1.5}]})
    (tmp_path / "root" / "rollouts.toml").write_text('[fields]\nstep = { constant = 0 }\nresponse = "said"\nreward = "points"\n')

    for root in (tmp_path / "root", run):
        told = summarise(run, root).last["reward"]
        assert told == open_run(run).frame["reward"].mean() == open_run(run, within=root).frame["reward"].mean() == 1.0


def test_of_a_large_run_its_ends_are_known_and_the_rest_is_estimated(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Few bytes are parsed, its last step is among them, and rollouts are near the truth; problems are not told."""
    monkeypatch.setattr(run_summary, "WHOLE_BYTES", 100_000)
    draw = random.Random(0)
    rows = [row(step, reward=float(step), response="x" * draw.randint(200, 2_000)) for step in range(400) for _ in range(16)]
    run = write_run(tmp_path / "run", {"a.jsonl": rows})
    told = summarise(run, tmp_path)
    assert (told.first_step, told.last_step, told.sampled, told.problems) == (0, 399, True, None)
    assert abs(told.rollouts - len(rows)) < 0.1 * len(rows)
    assert len(told.curves["reward"]) == POINTS
    assert told.last["reward"] == 399.0


def test_of_a_run_in_the_cache_everything_is_known_however_large(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What was parsed before is not estimated."""
    monkeypatch.setattr(run_summary, "WHOLE_BYTES", 0)
    run = write_run(tmp_path / "run", {"a.jsonl": rising(100)})
    assert summarise(run, tmp_path).sampled
    opened = open_run(run, within=tmp_path)
    told = summarise(run, tmp_path)
    assert (told.rollouts, told.sampled) == (len(opened.frame), False)


@pytest.mark.parametrize("name", ["a.jsonl.gz", "a.jsonl.zst"])
def test_a_packed_shard_is_read_whole_or_not_at_all(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    """It has no middle that could be read alone: where it is too large that is said, and nothing is told of the run."""
    run = write_run(tmp_path / "run", {name: rising(5)})
    assert summarise(run, tmp_path).rollouts == 20
    monkeypatch.setattr(run_summary, "PACKED_BYTES", 10)
    told = summarise(run, tmp_path)
    assert "too large" in told.trouble
    assert told.last_step is None


def test_of_many_shards_some_are_looked_at(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The first and the last among them, and the rollouts of all are estimated."""
    monkeypatch.setattr(run_summary, "MOST_SHARDS", 5)
    monkeypatch.setattr(run_summary, "WHOLE_BYTES", 0)
    shards = {f"step_{step}.jsonl": [row(step, reward=1.0) for _ in range(8)] for step in range(20)}
    told = summarise(write_run(tmp_path / "run", shards), tmp_path)
    assert (told.first_step, told.last_step, told.sampled) == (0, 19, True)
    assert abs(told.rollouts - 160) < 16


@pytest.mark.parametrize(("ending", "write"), [("jsonl", json.dumps), ("json", lambda one: json.dumps([one]))])
def test_a_small_run_of_many_shards_is_read_whole(tmp_path: Path, ending: str, write: Callable[[Any], str]) -> None:
    """A file a row is no large run: the list has the run's own mean, not that of the files that were looked at."""
    shards = {f"task_{at:03}.{ending}": f"{write(row(0, reward=float(at < 60)))}\n".encode() for at in range(120)}
    run = write_run(tmp_path / "run", shards)
    told = summarise(run, tmp_path)
    assert (told.rollouts, told.sampled, told.problems) == (120, False, 0)
    assert told.last["reward"] == 0.5


READ_BEFORE = {
    "by itself": {},
    "beside files of other things": {f"stats_{at}.jsonl": b'{"step": 1, "loss": 0.5}\n' for at in range(6)},
    "by a mapping": {"rollouts.toml": b'[fields]\nstep = "step"\nresponse = "response"\nreward = "reward"\n'},
}


@pytest.mark.parametrize("files", READ_BEFORE.values(), ids=READ_BEFORE)
def test_a_run_of_many_shards_has_its_own_numbers_once_it_was_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, files: dict[str, bytes]
) -> None:
    """They are of a part until the run was opened, and of all of it then, whatever lies beside its rollouts."""
    monkeypatch.setattr(run_summary, "MOST_SHARDS", 5)
    monkeypatch.setattr(run_summary, "WHOLE_BYTES", 0)
    run = write_run(tmp_path / "run", {f"{at}.jsonl": [row(0, reward=float(at == 7))] for at in range(20)})
    for name, text in files.items():
        (run / name).write_bytes(text)
    assert summarise(run, tmp_path).sampled
    open_run(run, within=tmp_path)
    told = summarise(run, tmp_path)
    assert (told.last["reward"], told.sampled) == (0.05, False)


UNREAD = [{"conversation": "hello", "points": 0.5, "env": "toy"}]
"""Rows of a layout that nobody knows."""

REFUSED = "has no `step` and no `response` or `response_tokens`; its keys are: conversation, points, env"


@pytest.mark.parametrize("name", ["a.jsonl", "a.jsonl.gz", "many"])
@pytest.mark.parametrize("whole_bytes", [2_000_000, 0], ids=["whole", "in part"])
def test_a_run_of_refused_rows_says_the_first_reason(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, whole_bytes: int
) -> None:
    """Read whole or in part, what is wrong with its rows is said, and not its size."""
    monkeypatch.setattr(run_summary, "WHOLE_BYTES", whole_bytes)
    names = [f"out_{at}.jsonl" for at in range(60)] if name == "many" else [name]
    told = summarise(write_run(tmp_path / "run", dict.fromkeys(names, UNREAD * 2)), tmp_path)
    assert told.trouble.endswith(f"the first reason: {names[0]}:1: {REFUSED}.")
    assert told.trouble.startswith("No rollout could be read") is (whole_bytes > 0 or name == "a.jsonl.gz")
    assert "\n" not in told.trouble


ODD: dict[str, list[dict[str, Any] | bytes]] = {
    "no number at all": [row(0)],
    "infinite and missing rewards": [row(0, reward=math.inf), row(1, reward=None), row(2, reward=math.nan)],
    "one rollout": [row(7, reward=1.0)],
    "numbers whose sum is no number": [row(0, reward=1.7e308), row(0, reward=1.7e308)],
    "whole numbers beyond any": [row(0, reward=10**400)],
    "nothing but damage": [b"{", b"[]"],
}


@pytest.mark.parametrize("name", ODD)
def test_odd_runs_are_told_of_without_a_number_that_is_none(tmp_path: Path, name: str) -> None:
    """What has no mean has no curve, or a gap in it."""
    told = summarise(write_run(tmp_path / "run", {"a.jsonl": ODD[name]}), tmp_path)
    numbers = [value for curve in told.curves.values() for value in curve if value is not None]
    assert all(math.isfinite(value) for value in [*numbers, *told.last.values()])


def test_evaluations_are_in_no_curve_of_training(tmp_path: Path) -> None:
    """Where a run has both, its curve is of training."""
    rows = [*rising(3), row(2, reward=100.0, split="evaluation")]
    assert summarise(write_run(tmp_path / "run", {"a.jsonl": rows}), tmp_path).last["reward"] == 2.0
