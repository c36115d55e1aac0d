"""Tests of W&B's tables of completions. The golden run is what TRL's RLOO trainer logged in three steps of a tiny model."""

import json
import shutil
from pathlib import Path

import pytest
from golden_runs import GOLDEN, flat, golden, golden_head, read_one

from board import open_run
from board.errors import RowRefused
from board.formats.contract import Head
from board.formats.trainers import wandb_table

RUN = GOLDEN / "wandb_table"
TABLES = sorted(path.relative_to(RUN).as_posix() for path in RUN.rglob("*.table.json"))
FIRST = next(name for name in TABLES if "/completions_10_" in name)

TABLE = {"columns": ["step", "prompt", "completion", "digits", "advantage"], "data": [[7, "p", "c", 0.5, -1.0]]}


def test_a_row_of_a_table() -> None:
    """Every column, the total made from the reward functions' columns; what a function did not score has no number."""
    rows = golden(wandb_table, FIRST)
    first, last = flat(rows[0]), flat(rows[3])

    assert [row.step for row in rows] == [1, 1, 1, 1]
    assert (first["prompt"], first["digits"], first["starts_with_digit"]) == ("Say a number:", pytest.approx(4 / 9), 0.0)
    assert first["reward"] == pytest.approx(4 / 9)
    assert first["advantage"] == pytest.approx(0.0791, abs=1e-4)
    assert last.get("starts_with_digit") is None
    assert last["reward"] == last["digits"]


def test_a_run_of_w_and_b_opens(tmp_path: Path) -> None:
    """The run's folder opens: each table's rows once, the one that was logged again left out and named."""
    shutil.copytree(RUN, tmp_path / "run")
    opened = open_run(tmp_path / "run")
    written = {path.name.split("_")[2]: json.loads(path.read_text()) for path in RUN.rglob("*.table.json")}

    assert len(written) == len(TABLES) - 1
    assert len(opened.frame) == sum(len(table["data"]) for table in written.values())
    assert sorted(opened.frame["step"].unique().tolist()) == [1, 2, 3]
    assert opened.report.refused == 0
    ((again, reason),) = opened.report.skipped.items()
    assert again.endswith("completions_74_aeccf4404ca56e5a8dfd.table.json")
    assert reason.endswith("completions_72_aeccf4404ca56e5a8dfd.table.json")


def test_trls_own_files_come_before_its_tables(tmp_path: Path) -> None:
    """GRPO writes its completions itself as well: they are read from its files alone."""
    shutil.copytree(RUN, tmp_path / "run" / "wandb")
    shutil.copytree(GOLDEN / "trl" / "completions", tmp_path / "run" / "completions")
    opened = open_run(tmp_path / "run")

    assert {name.partition("/")[0] for name in opened.frame["shard"].unique()} == {"completions"}


OTHERS = {
    "another table": {"columns": ["a", "b"], "data": [[1, 2]]},
    "no rows": {"columns": ["step", "prompt", "completion"]},
    "columns that are none": {"columns": 3, "data": []},
    "a row of TRL": {"step": 1, "prompt": "p", "completion": "c", "advantage": 1.0},
}


@pytest.mark.parametrize("record", OTHERS.values(), ids=OTHERS)
def test_what_is_no_table_of_completions(record: dict[str, object]) -> None:
    """Other tables and other records are not this format's."""
    assert not wandb_table.recognise(Head("completions_1_aa.table.json", (record,)))


def test_the_table_is_recognised_with_its_note() -> None:
    """The reward is a sum, and evaluations stand among the training."""
    head = golden_head(wandb_table, FIRST)

    assert wandb_table.recognise(head)
    assert "unweighted sum of digits, starts_with_digit" in wandb_table.note(head)
    assert "does not tell an evaluation's completions" in wandb_table.note(head)


@pytest.mark.parametrize("row", [[7, "p"], [7, "p", "c", 0.5, -1.0, 1], "row", None], ids=["short", "long", "text", "null"])
def test_a_row_that_does_not_fit_its_columns(row: object) -> None:
    """Which value belongs to which column cannot be told: the row is named."""
    with pytest.raises(RowRefused, match="row 1 of the table has not 5 values"):
        read_one(wandb_table, TABLE | {"data": [row]})


@pytest.mark.parametrize("name", ["columns", "data"])
@pytest.mark.parametrize("value", [None, "absent"])
def test_a_table_that_lost_a_part(name: str, value: str | None) -> None:
    """Among sound tables one without its columns or its rows is told: it is not taken for a table of no rollouts."""
    record = {key: part for key, part in TABLE.items() if key != name} | ({} if value else {name: None})
    with pytest.raises(RowRefused, match=f"without {name}"):
        read_one(wandb_table, record)
