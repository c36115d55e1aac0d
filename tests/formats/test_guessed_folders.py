"""Tests of what a guess makes of whole folders, opened as it was suggested."""

import json
from pathlib import Path
from typing import Any

import pytest
from layout import opened_as_guessed, suggestion


def written(folder: Path, files: dict[str, Any]) -> Path:
    """A run of these files: rows as lines, anything else as one value."""
    for name, value in files.items():
        path = folder / "run" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        lines = map(json.dumps, value if name.endswith(".jsonl") else [value])
        path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return folder / "run"


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
