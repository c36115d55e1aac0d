"""Tests of what a guess makes of whole folders, opened as it was suggested."""

import json
from pathlib import Path
from typing import Any

import pytest
from layout import opened_as_guessed, suggestion

from board import open_run
from board.errors import BoardError


def written(folder: Path, files: dict[str, Any]) -> Path:
    """A run of these files: rows as lines, anything else as one value."""
    for name, value in files.items():
        path = folder / "run" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        lines = map(json.dumps, value if name.endswith(".jsonl") else [value])
        path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return folder / "run"


def rows_of(folder: Path, value: Any) -> list[tuple[int, str, float, str]]:
    """Step, response, reward and split of every rollout in a file that opens by itself."""
    run = open_run(written(folder, {"table.json": value}))
    splits = run.frame.get("split", [""] * len(run.frame))
    return [
        (one.step, one["response"], one.reward, split)
        for one, split in zip(map(run.rollout, range(len(splits))), splits, strict=True)
    ]


def said(**others: Any) -> dict[str, Any]:
    """A row of an unknown format."""
    return {"query": "Q?", "completion": "It is 4.", **others}


STEPS: dict[str, tuple[dict[str, Any], list[int]]] = {
    "checkpoints": ({"checkpoint-5/out.jsonl": [said()], "checkpoint-10/out.jsonl": [said()]}, [5, 10]),
    "texts": ({"out.jsonl": [said(ckpt="step_3"), said(ckpt="runs/checkpoint-4")]}, [3, 4]),
    "a file per row": ({"task/0.json": said(), "task/1.json": said()}, [0, 0]),
    "a file per step": ({"0.jsonl": [said()], "1.jsonl": [said()]}, [0, 1]),
    "a file per row of a step": ({"step_5/0.json": said(), "step_5/1.json": said()}, [5, 5]),
    "dates": ({"20260131/out.jsonl": [said()], "20260201/out.jsonl": [said()]}, [0, 0]),
}


@pytest.mark.parametrize(("files", "steps"), STEPS.values(), ids=STEPS)
def test_steps(tmp_path: Path, files: dict[str, Any], steps: list[int]) -> None:
    """A number is a step where it can be one; where none is, the guess says that rollouts of several files may be one group."""
    run = written(tmp_path, files)
    text = suggestion(run)

    assert sorted(opened_as_guessed(run).frame["step"]) == steps
    assert ("whichever files they are in" in text) == (steps == [0, 0])


def test_a_table_by_columns(tmp_path: Path) -> None:
    """As pandas writes it by default each row is a rollout, and none a column."""
    table = {
        "step": {"0": 1, "1": 2},
        "query": {"0": "Q?", "1": "R?"},
        "completion": {"0": "4", "1": "5"},
        "score": {"0": 0.5, "1": 1},
    }

    assert rows_of(tmp_path, table) == [(1, "4", 0.5, ""), (2, "5", 1.0, "")]


def test_a_list_for_each_split(tmp_path: Path) -> None:
    """All of them are read, and their keys are the splits."""
    lists = {"train": [said(step=1, score=0.5)], "test": [said(step=1, score=1), said(step=1, score=0)]}

    assert rows_of(tmp_path, lists) == [
        (1, "It is 4.", 0.5, "train"),
        (1, "It is 4.", 1.0, "evaluation"),
        (1, "It is 4.", 0.0, "evaluation"),
    ]


def test_lists_that_are_not_read(tmp_path: Path) -> None:
    """Of lists whose keys say nothing the longest is mapped, and the guess names the others."""
    text = suggestion(written(tmp_path, {"lists.json": {"mine": [said(), said()], "yours": [said()]}}))

    assert 'the rows at "yours"' in text


REASONS: dict[str, tuple[str, bytes, str]] = {
    "nothing like a response": ("a.jsonl", b'{"label": "x", "task": "y"}\n', "a mapping (rollouts.toml) says which key is what"),
    "a list of rewards": ("a.jsonl", b'{"task": "y", "reward": [0, 1]}\n', "its keys are: task, reward. "),
    "messages without a key": ("a.jsonl", b'[{"role": "user", "content": "x"}]\n', 'write {"messages": [...]} on each line'),
    "lists of texts": ("a.json", b'[["x", "y"]]', "a.json is a list without objects"),
    "packed JSON": ("a.json.gz", b"\x1f\x8b", "a.json.gz is packed"),
    "tabs": ("a.tsv", b"step\tresponse\n", "a.tsv is separated by tabs"),
    "semicolons": ("a.csv", b"step;response;reward\n1;x;0,5\n", "it is separated by semicolons"),
    "UTF-16": ("a.jsonl", '{"step": 1, "response": "x"}\n'.encode("utf-16"), "it is UTF-16, and must be UTF-8"),
    "a log": ("a.jsonl", b'{"current_steps": 1, "loss": 0.5, "elapsed_time": "0:00:05"}\n', "holds metrics and no rollouts"),
}


@pytest.mark.parametrize(("name", "data", "reason"), REASONS.values(), ids=REASONS)
def test_why_a_file_is_not_read(tmp_path: Path, name: str, data: bytes, reason: str) -> None:
    """What is wrong with the file, or what helps."""
    (tmp_path / name).write_bytes(data)

    with pytest.raises(BoardError) as error:
        open_run(tmp_path)

    assert reason in str(error.value)
