"""Tests of W&B's tables of rollouts, whoever logged them."""

import json
import shutil
from pathlib import Path
from typing import Any

import pytest
from golden_runs import GOLDEN

from board import formats, open_run
from board.errors import RowRefused
from board.formats.contract import Head, Place
from board.formats.trainers import wandb_rows

FOLDER = GOLDEN / "wandb_rows"
FILE = "media/table/samples_7_0a1b2c3d.table.json"


def table(columns: list[str], *rows: list[Any]) -> dict[str, Any]:
    """A table as W&B writes it."""
    return {"columns": columns, "data": [*rows]}


def test_a_run_of_tables_opens() -> None:
    """Two texts with scores, two rows by other names with their own step, and two rollouts of NeMo Gym; a histogram is left out."""
    run = open_run(FOLDER)
    by_table = {str(name).rpartition("/")[2].partition("_")[0]: rows for name, rows in run.frame.groupby("shard", observed=True)}

    assert {name: [*rows["reward"]] for name, rows in by_table.items()} == {
        **{"rollouts": [1.0, 0.0], "samples": [0.5, -1.0], "Rollouts": [1.0, 0.0]}
    }
    assert set(by_table["samples"]["step"]) == {7}
    assert [one for one in run.report.skipped if "histogram" in one]
    assert run.report.problems == []
    said = run.rollout(int(by_table["Rollouts"].index[0]))
    assert said["response"].endswith("assistant:\n4 ✓")
    named = run.rollout(int(by_table["samples"].index[0]))
    assert (named["prompt"], named["response"], named["ground_truth"]) == ("2+2?", "4", "4")


KNOWN: dict[str, tuple[list[str], bool]] = {
    "a text with a score": (["text", "score"], True),
    "a verdict": (["response", "correct"], True),
    "names with blanks and a path": (["Input", "val/Model Output"], True),
    "a text alone": (["id", "text"], False),
    "no response": (["step", "prompt", "loss"], False),
    "TRL's": (["step", "prompt", "completion", "reward"], False),
}


@pytest.mark.parametrize(("columns", "known"), KNOWN.values(), ids=KNOWN)
def test_recognised_by_columns(columns: list[str], known: bool) -> None:
    """A column that is called as a response is, with a prompt, a reward or a step beside it, and not TRL's table."""
    assert wandb_rows.recognise(Head(FILE, (table(columns, [""] * len(columns)),))) is known


def test_a_row_without_a_response_is_refused_alone() -> None:
    """The others load, at the step in the file's name; a reward that is a text is a number, and a path says an evaluation."""
    refused: list[str] = []
    record = table(["prompt", "response", "reward"], ["2+2?", "4", "true"], ["3+3?", None, 0.0])

    rows = formats.read(record, wandb_rows, Place(f"eval/{FILE}", 1), refuse=refused.append)

    assert [(row.step, row.numbers["reward"], row.ids["split"]) for row in rows] == [(7, 1.0, "evaluation")]
    assert refused == ["row 2 of the table has no response"]


def test_what_is_no_table_is_refused() -> None:
    """By what it lacks."""
    with pytest.raises(RowRefused, match="without data"):
        formats.read({"columns": ["text"]}, wandb_rows, Place(FILE, 1))


def test_beside_a_trainers_own_files_tables_are_left_out(tmp_path: Path) -> None:
    """They hold samples of what the trainer's files hold."""
    run = tmp_path / "run"
    shutil.copytree(FOLDER, run)
    (run / "0.jsonl").write_text(json.dumps({"step": 1, "prompt": "2+2?", "response": "4", "reward": 1.0}) + "\n")

    opened = open_run(run)

    assert len(opened.frame) == 1
    assert sum("repeats the rollouts" in reason for reason in opened.report.skipped.values()) == 3
