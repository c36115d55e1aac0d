"""Tests of runs with more fields than a run has columns for: bounded, the same however they are cut, and nothing lost."""

import csv
import json
import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from indexed import assert_same, indexed
from rows import row, write_run

from board import open_run
from board.runs.parsing import column_room, parsed_shard, part_builder
from board.runs.run import Run
from board.schema import MOST_COLUMNS, MOST_OWN_METRICS, OTHER_FIELDS

OWN: dict[str, Callable[[int], dict[str, Any]]] = {
    "numbers": lambda at: {f"own_{at}": at},
    "texts": lambda at: {f"own_{at}": "x"},
    "lists": lambda at: {"response_tokens": ["a", "b"], f"own_{at}": [0.5, 0.25]},
    "objects": lambda at: {"info": {f"own_{at}": at, "deep": {f"own_{at}": 1}}},
    "all of them": lambda at: {f"n_{at}": math.inf, f"t_{at}": "x", "response_tokens": ["a"], f"l_{at}": [at]},
    "a field of all behind many of each": lambda at: {f"own_{at}_{one}": one for one in range(3)} | {"common": at, "said": "y"},
}


def own_names(run: Run) -> list[str]:
    """The columns, texts and token metrics that nobody declared."""
    return [
        name for name in (*run.frame.columns, *run.text_columns, *run.token_metrics) if name.startswith(("own", "n_", "t_", "l_"))
    ]


def fields_of(run: Run, line: int) -> dict[str, Any]:
    """What a rollout has in columns and in the text of what is left over."""
    key = run.key_of(f"a.jsonl:{line}")
    assert key is not None
    numbers = {name: value for name, value in run.frame.loc[key].items() if isinstance(value, float) and not math.isnan(value)}
    rollout = run.rollout(key)
    texts = {name: text for name, text in rollout.texts.items() if name != OTHER_FIELDS}
    arrays = {name: array.tolist() for name, array in rollout.arrays.items()}
    return json.loads(rollout.texts.get(OTHER_FIELDS, "{}")) | numbers | texts | arrays


@pytest.fixture
def few(monkeypatch: pytest.MonkeyPatch) -> None:
    """A run has columns for ten numbers, ten texts, three lists."""
    monkeypatch.setattr(column_room, "_MOST", {"numbers": 10, "texts": 10, "arrays": 3})


@pytest.mark.usefixtures("few")
@pytest.mark.parametrize(("kind", "cut"), [*((kind, 300) for kind in OWN), ("all of them", 1_500)])
def test_the_same_however_it_is_cut(kind: str, cut: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Which fields have columns, and what is in them, does not depend on parts and byte ranges; every field of a row is somewhere."""
    rows = [row(at // 4, **OWN[kind](at)) for at in range(60)]
    whole = open_run(write_run(tmp_path / "whole", {"a.jsonl": rows}))
    monkeypatch.setattr(part_builder, "BYTES_PER_PART", cut)
    monkeypatch.setattr(parsed_shard, "RANGE_BYTES", 2 * cut)
    parts = open_run(write_run(tmp_path / "parts", {"a.jsonl": rows}))

    assert len(parts.parts) > len(whole.parts)
    found, expected = (one.to_pandas().drop(columns="nonfinite_tokens", errors="ignore") for one in (parts, whole))
    pd.testing.assert_frame_equal(found.sort_index(axis="columns"), expected.sort_index(axis="columns"))
    assert parts.report.problems == whole.report.problems
    assert len(own_names(whole)) <= 10 + 10 + 3 + 3
    for line in (1, 15, 60):
        missing = set(OWN[kind](line - 1)) - {"response_tokens"} - fields_of(parts, line).keys()
        assert not missing
    infinite = [f"{name} is {value}" for at in range(60) for name, value in OWN[kind](at).items() if value == math.inf]
    reasons = [one.reason.split(":")[0] for one in parts.report.problems]
    assert sorted(reasons) == sorted(["the run has more fields than columns", *infinite])


@pytest.mark.usefixtures("few")
@pytest.mark.parametrize(("kind", "table"), [("numbers", "scalars"), ("texts", "texts")])
def test_columns_that_a_part_has_no_value_of_take_memory_once(
    kind: str, table: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where each row has a field of its own, a part holds one empty column for all fields of other parts."""
    monkeypatch.setattr(part_builder, "BYTES_PER_PART", 1_000)
    run = open_run(write_run(tmp_path, {"a.jsonl": [row(at, **OWN[kind](at)) for at in range(60)]}))

    last = getattr(run.parts[-1], table)
    empty = [last.column(name).chunk(0) for name in own_names(run)]
    assert len(run.parts) > 2
    assert len(empty) == 10
    assert len({[*filter(None, column.buffers())][-1].address for column in empty}) == 1


@pytest.mark.usefixtures("few")
def test_a_column_stays_when_the_run_grows(tmp_path: Path) -> None:
    """What is written behind takes no column away, whatever fields it has."""
    rows = [row(at, **OWN["numbers"](at)) for at in range(40)]
    before = open_run(write_run(tmp_path / "run", {"a.jsonl": rows[:12]}))
    after = open_run(write_run(tmp_path / "run", {"a.jsonl": rows}))
    assert own_names(before) == own_names(after) == [f"own_{at}" for at in range(10)]


@pytest.mark.usefixtures("few")
@pytest.mark.parametrize("kind", ["objects", "all of them", "a field of all behind many of each"])
def test_an_index_has_the_same_columns(kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The run is the one in memory, its one problem included."""
    monkeypatch.setattr(part_builder, "BYTES_PER_PART", 500)
    run = open_run(write_run(tmp_path / "run", {"a.jsonl": [row(at // 4, **OWN[kind](at)) for at in range(60)]}))
    indexed(run.location, tmp_path / "index")

    found = open_run(tmp_path / "index")
    assert_same(found, run)
    assert [str(one) for one in found.report.problems] == [str(one) for one in run.report.problems]
    assert fields_of(found, 60) == fields_of(run, 60)


def as_csv(path: Path, fields: dict[str, Any]) -> None:
    """A header and a row."""
    with path.with_suffix(".csv").open("w", newline="") as stream:
        csv.writer(stream).writerows([fields.keys(), fields.values()])


WIDE: dict[str, Callable[[Path, dict[str, Any]], object]] = {
    "jsonl": lambda path, fields: path.with_suffix(".jsonl").write_text(json.dumps(fields) + "\n"),
    "csv": as_csv,
    "parquet": lambda path, fields: pq.write_table(pa.Table.from_pylist([fields]), path.with_suffix(".parquet")),
}


@pytest.mark.parametrize("container", WIDE)
def test_one_wide_row(container: str, tmp_path: Path) -> None:
    """A row of four times as many fields has as many columns as a run may have; the others are in one text."""
    (tmp_path / "run").mkdir()
    WIDE[container](tmp_path / "run" / "a", row(0, reward=1.0, **{f"own_{at}": at for at in range(4 * MOST_COLUMNS)}))
    run = open_run(tmp_path / "run")
    assert len(own_names(run)) == MOST_COLUMNS // 2
    left = json.loads(run.rollout(run.frame.index[0]).texts[OTHER_FIELDS])
    assert (len(left), left["own_7999"]) == (4 * MOST_COLUMNS - MOST_COLUMNS // 2, 7_999)
    assert MOST_OWN_METRICS < MOST_COLUMNS
