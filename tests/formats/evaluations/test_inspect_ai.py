"""Tests of the logs of inspect_ai."""

from pathlib import Path
from typing import Any

import pytest
from golden_runs import GOLDEN

from board import formats, open_run
from board.errors import RowRefused
from board.formats.contract import Head, Place
from board.formats.evaluations import inspect_ai

LOGS = GOLDEN / "inspect_ai" / "logs"
AT = Place("a.json", 1)


def log(**sample: Any) -> dict[str, Any]:
    """A log of one sample."""
    asked = {"id": "a", "epoch": 1, "input": "2+2?", "target": ["4"], "output": {"completion": "4"}}
    return {"version": 2, "status": "success", "eval": {"task": "t"}, "samples": [{**asked, **sample}]}


def test_both_kinds_of_log_open_by_themselves() -> None:
    """Four samples of two epochs out of the archive and two out of the JSON: an evaluation, grades as numbers, messages as turns."""
    run = open_run(LOGS)

    by_file = {name: rows.sort_values(["prompt_id", "sample_id"]) for name, rows in run.frame.groupby("shard", observed=True)}
    archive, plain = by_file["grades.eval"], by_file["grades.json"]
    assert run.splits == ("evaluation",)
    assert list(archive["prompt_id"].astype(str)) == [
        f"sums/{name}" for name in ("capital", "empty", "sum", "who") for _ in range(2)
    ]
    assert list(archive["reward"]) == [1.0, 1.0, 0.0, 0.0, 0.5, 0.5, 0.0, 0.0]
    assert sorted(plain["reward"]) == [0.5, 1.0]
    assert run.report.problems == []
    said = {str(name): run.rollout(int(key)) for key, name in zip(plain.index, plain["prompt_id"], strict=True)}
    assert said["sums/capital"]["response"] == "It is Paris."
    assert said["sums/capital"]["prompt"].endswith("assistant:\nMadrid.\n\nuser:\nCapital of France?")
    called = 'assistant:\ntool call for tool add\n→ add({"x": 2, "y": 3})\n\ntool:\n5\n\nassistant:\nThe answer is 5.'
    assert said["sums/sum"]["response"] == called
    assert said["sums/sum"]["ground_truth"] == "5"


SCORES: dict[str, tuple[Any, dict[str, float]]] = {
    "a grade": ({"m": {"value": "P"}}, {"reward": 0.5}),
    "no answer": ({"m": {"value": "N"}}, {"reward": 0.0}),
    "a number": ({"m": {"value": 0.25}}, {"reward": 0.25}),
    "a verdict": ({"m": {"value": True}}, {"reward": 1.0}),
    "a number as text": ({"m": {"value": "0.75"}}, {"reward": 0.75}),
    "several scorers": ({"m": {"value": "C"}, "n": {"value": 0.5}}, {"reward": 1.0, "reward.m": 1.0, "reward.n": 0.5}),
    "several values": ({"m": {"value": {"a": "C", "b": "I"}}}, {"reward.m.a": 1.0, "reward.m.b": 0.0}),
    "one value by name": ({"m": {"value": {"a": "C"}}}, {"reward": 1.0, "reward.m.a": 1.0}),
    "none": ({}, {}),
    "not scored": (None, {}),
}


@pytest.mark.parametrize(("scores", "numbers"), SCORES.values(), ids=SCORES)
def test_scores(scores: Any, numbers: dict[str, float]) -> None:
    """The first scorer's value is the reward; of several, and of several values, each is a part."""
    (row,) = formats.read(log(scores=scores), inspect_ai, AT)

    assert {name: value for name, value in row.numbers.items() if name.startswith("reward")} == numbers


def test_a_sample_that_failed_is_there() -> None:
    """Its error is told, and it has no reward."""
    (row,) = formats.read(
        log(error={"message": "timeout", "traceback": "..."}, output={}, messages=[], scores=None), inspect_ai, AT
    )

    assert (row.texts["error"], row.texts["response"], "reward" in row.numbers) == ("timeout", "", False)


def test_one_bad_sample_is_refused_alone() -> None:
    """The others load."""
    record = log()
    record["samples"].append({"id": "b", "messages": "x"})
    refused: list[str] = []

    assert len(formats.read(record, inspect_ai, AT, refuse=refused.append)) == 1
    assert refused == ['sample 2: `messages` is "x", not a list of messages with roles']
    with pytest.raises(RowRefused, match="`samples` is 5, not a list"):
        inspect_ai.rollouts({**record, "samples": 5}, AT)


def test_attachments_are_put_in_their_places() -> None:
    """What a message refers to is what it says; a reference to nothing, and what would be too much, stays a reference."""
    messages = [{"role": "user", "content": "attachment://x"}, {"role": "assistant", "content": "attachment://y"}]

    (row,) = formats.read(log(messages=messages, attachments={"x": "long"}), inspect_ai, AT)
    many = [{"role": "user", "content": "attachment://x"}] * 10
    (bounded,) = formats.read(log(messages=many, attachments={"x": "l" * 10_000_000}), inspect_ai, AT)
    assert (row.texts["prompt"], row.texts["response"]) == ("user:\nlong", "attachment://y")
    assert len(bounded.texts["prompt"]) < 65_000_000


def test_whose_it_is() -> None:
    """A record with an evaluation's task is a log, finished or not; an evaluation of something else is none."""
    assert inspect_ai.recognise(Head("a.json", ({"eval": {"task": "t"}, "plan": {}},)))
    assert not inspect_ai.recognise(Head("a.json", ({"eval": {"loss": 1.0}, "status": "x"},)))
    assert "The reward is the first scorer's" in inspect_ai.note(Head("a.json", (log(),)))


def test_a_small_log_is_found_beside_nothing(tmp_path: Path) -> None:
    """A `.json` log is known by how it begins, however short."""
    (tmp_path / "a.json").write_text('{"version": 2, "status": "success", "eval": {"task": "t"}, "samples": []}')
    assert open_run(tmp_path).report.shards == 1
