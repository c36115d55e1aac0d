"""Tests that messages written as JSON text, as columns of tables hold them, are read as messages in every container."""

import csv
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from board import open_run
from board.errors import NothingRead
from board.formats.mapping import FILE
from board.runs.run import Run

Rows = list[dict[str, Any]]


def said(at: int) -> list[dict[str, Any]]:
    """What was asked and answered."""
    return [{"role": "user", "content": f"{at} and {at}?"}, {"role": "assistant", "content": f"It is {2 * at}."}]


def as_csv(path: Path, rows: Rows) -> None:
    """A header and a line a row."""
    with path.open("w", newline="") as file:
        table = csv.DictWriter(file, rows[0])
        table.writeheader()
        table.writerows(rows)


CONTAINERS: dict[str, Callable[[Path, Rows], object]] = {
    "rows.jsonl": lambda path, rows: path.write_text("".join(json.dumps(row) + "\n" for row in rows)),
    "rows.json": lambda path, rows: path.write_text(json.dumps(rows)),
    "rows.parquet": lambda path, rows: pq.write_table(pa.Table.from_pylist(rows), path),
    "rows.csv": as_csv,
    "object.json": lambda path, rows: path.write_text(json.dumps({"made": "today", "rows": rows})),
}


def opened(folder: Path) -> Run:
    """The run in a folder, by the suggested mapping where it does not open by itself."""
    try:
        return open_run(folder)
    except NothingRead as error:
        (folder / FILE).write_text(error.suggested_mapping or "")
        return open_run(folder)


LAYOUTS: dict[str, Callable[[int, Callable[[Any], str]], dict[str, Any]]] = {
    "a conversation": lambda at, dump: {"id": f"q{at}", "conversation": dump(said(at)), "correct": bool(at % 2)},
    "our names": lambda at, dump: {
        "step": 0,
        "prompt": dump(said(at)[:1]),
        "response": dump(said(at)[1:]),
        "reward": at % 2,
    },
}


@pytest.mark.parametrize("indent", [None, 1], ids=["on one line", "on many"])
@pytest.mark.parametrize("layout", LAYOUTS.values(), ids=LAYOUTS)
@pytest.mark.parametrize("name", CONTAINERS)
def test_messages_as_text(
    tmp_path: Path, name: str, layout: Callable[[int, Callable[[Any], str]], dict[str, Any]], indent: int | None
) -> None:
    """The prompt is what was asked, the response what was answered, and the verdict beside it the reward."""
    CONTAINERS[name](tmp_path / name, [layout(at, lambda value: json.dumps(value, indent=indent)) for at in range(4)])

    run = opened(tmp_path)

    rollouts = [run.rollout(at) for at in map(int, run.frame.index)]
    assert [one["prompt"] for one in rollouts] == [f"user:\n{at} and {at}?" for at in range(4)]
    assert [one["response"] for one in rollouts] == [f"It is {2 * at}." for at in range(4)]
    assert list(run.frame["reward"]) == [0, 1, 0, 1]
