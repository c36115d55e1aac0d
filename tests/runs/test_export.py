"""Tests of the rollouts of a frame as one file: every format read back against the run, and opened as a run again."""

import csv
import io
import json
import math
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import orjson
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from click.testing import CliRunner
from hypothesis import given, settings
from hypothesis import strategies as st
from rows import row, token_row, write_run

from board import open_run
from board.cli.main import main
from board.runs import export
from board.runs.export import FORMATS, Format, about_bytes, pieces
from board.runs.run import Run

Rows = list[dict[str, Any]]

HOSTILE = '=1+1\r\n"quoted",\ttab\0NUL\u2028<b>é\U0001f600'


def run_of(folder: Path) -> Run:
    """Two shards whose steps alternate, with every kind of field, some missing, some twice under one name."""
    others = [[["a", -1.0], ["<b>", None]], None]
    shards: dict[str, Rows] = {
        "rank_0.jsonl": [
            token_row(0, group_id="=g", sample_id=3, ground_truth=["4"], top_logprobs=others),
            token_row(2, score={"a": 1}, big=2**60, loss_mask=[1, 0], extra=[0.5, None]),
            token_row(2, reward=None, logprobs=[math.nan, -math.inf], response_tokens=["威", "<0xE5>"], extra=7),
        ],
        "rank_1.jsonl": [
            row(1, response="", reward=0.1, score=-1.5e-300),
            row(2, response=HOSTILE, reward=-0.0, prompt="\ud83d"),
            row(3, response="-2", reward=math.inf, extra="@text"),
        ],
    }
    return open_run(write_run(folder, shards))


def whole(run: Run, form: Format, *, arrays: bool) -> bytes:
    """The file."""
    return b"".join(piece.data for piece in pieces(run, form, arrays))


def expected(run: Run, *, arrays: bool) -> Rows:
    """What a file must hold, out of the run's whole frame: a dict a row, None where something is missing."""
    frame = run.to_pandas()
    left_out = (
        set() if arrays else {"response_tokens", "top_logprobs", "extra (tokens)", *run.token_metrics} - set(run.frame.columns)
    )
    found = []
    for record in frame.drop(columns=[name for name in frame if name in left_out]).to_dict("records"):
        found.append({str(name): plain(value) for name, value in record.items()})
    return found


def plain(value: Any) -> Any:
    """A cell as Python's own types, None for NaN; numbers of an array are those of four bytes."""
    if isinstance(value, np.ndarray):
        return [plain(one) for one in value.tolist()]
    if isinstance(value, list):
        return [plain(one) for one in value]
    if isinstance(value, dict):
        return {name: plain(one) for name, one in value.items()}
    if isinstance(value, tuple):
        return {"token": value[0], "logprob": plain(value[1])}
    return None if isinstance(value, float) and math.isnan(value) else value


def read_parquet(data: bytes) -> Rows:
    """Rows of a Parquet file; NaN within a list is a missing number."""
    rows: Rows = pq.read_table(pa.BufferReader(data)).to_pylist()
    return [{name: plain(value) for name, value in one.items()} for one in rows]


def read_jsonl(data: bytes) -> Rows:
    """Rows of JSON lines, read with the 4 bytes that a number of an array has."""
    return [{name: as_float32(value) for name, value in orjson.loads(line).items()} for line in data.splitlines()]


def as_float32(value: Any) -> Any:
    """A value whose fractions have four bytes where they stand in a list."""
    if isinstance(value, list):
        return [
            as_float32(one) if isinstance(one, list) else float(np.float32(one)) if isinstance(one, float) else one
            for one in value
        ]
    return value


def finite(value: Any) -> Any:
    """A value as JSON can hold it: an infinity is missing."""
    if isinstance(value, list):
        return [finite(one) for one in value]
    if isinstance(value, dict):
        return {name: finite(one) for name, one in value.items()}
    return None if isinstance(value, float) and math.isinf(value) else value


def cell(value: Any) -> str:
    """A value as CSV has it."""
    if value is None:
        return ""
    return json.dumps(finite(value)) if isinstance(value, list) else str(value)


def same_cell(found: str, wanted: Any) -> bool:
    """Whether a cell of CSV reads as the value."""
    if isinstance(wanted, list):
        return bool(as_float32(json.loads(found)) == as_float32(finite(wanted)))
    return float(found) == wanted if isinstance(wanted, float) else found == cell(wanted)


@pytest.mark.parametrize("arrays", [False, True])
def test_parquet_holds_what_the_frame_holds(tmp_path: Path, arrays: bool) -> None:
    """Every cell of every column, in the frame's order, with the frame's types; token arrays are lists of float32."""
    run = run_of(tmp_path / "run")

    data = whole(run, "parquet", arrays=arrays)

    assert read_parquet(data) == expected(run, arrays=arrays)
    schema = pq.read_schema(pa.BufferReader(data))
    assert (schema.field("step").type, schema.field("reward").type) == (pa.int64(), pa.float64())
    if arrays:
        assert schema.field("logprobs").type.value_type == pa.float32()


@pytest.mark.parametrize("arrays", [False, True])
def test_json_lines_hold_what_the_frame_holds(tmp_path: Path, arrays: bool) -> None:
    """As Parquet, but that JSON has no infinity: null stands for it."""
    run = run_of(tmp_path / "run")

    rows = read_jsonl(whole(run, "jsonl", arrays=arrays))

    assert rows == [finite(one) for one in expected(run, arrays=arrays)]


@pytest.mark.parametrize("arrays", [False, True])
def test_csv_holds_what_the_frame_holds(tmp_path: Path, arrays: bool) -> None:
    """Line ends, quotes, commas, zero characters and formulas are text within quotes; a missing cell is no empty text."""
    run = run_of(tmp_path / "run")

    data = whole(run, "csv", arrays=arrays)

    header, *rows = csv.reader(io.StringIO(data.decode(), newline=""))
    wanted = expected(run, arrays=arrays)
    assert sorted(header) == sorted(wanted[0])
    for cells, one in zip(rows, wanted, strict=True):
        for name, found in zip(header, cells, strict=True):
            assert same_cell(found, one[name]) if one[name] is not None else found == "", name
    assert b'"",' in data


def test_infinity_of_a_number_is_kept_where_the_format_has_it(tmp_path: Path) -> None:
    """CSV says inf, Parquet holds it."""
    run = run_of(tmp_path / "run")
    assert b",inf," in whole(run, "csv", arrays=False)
    assert [one["reward"] for one in read_parquet(whole(run, "parquet", arrays=False))][-1] == math.inf


def test_names_that_collide_are_told_apart(tmp_path: Path) -> None:
    """A field that is number, text and array at once becomes three columns, whatever else bears their names."""
    fields = {"response_tokens": ["a", "b"], "x (text)": 1.0}
    folder = write_run(tmp_path, {"r.jsonl": [row(0, x=1.0, **fields), row(0, x="t", **fields), row(0, x=[0.5, 1.0], **fields)]})
    run = open_run(folder)

    names = export.columns(run, arrays=True)

    assert [(name, names[name].kind) for name in names if name.startswith("x") and "mean" not in name] == [
        ("x", "number"),
        ("x (text)", "number"),
        ("x (text 2)", "text"),
        ("x (tokens)", "tokens"),
    ]
    rows = read_jsonl(whole(run, "jsonl", arrays=True))
    assert [(one["x"], one["x (text 2)"], one["x (tokens)"]) for one in rows] == [
        (1.0, None, None),
        (None, "t", None),
        (None, None, [0.5, 1.0]),
    ]


@pytest.mark.parametrize("form", FORMATS)
def test_only_what_the_filter_leaves(tmp_path: Path, form: Format) -> None:
    """The rows of the frame are written, in its order, and no others; with none the file says what columns there would be."""
    run = run_of(tmp_path / "run")
    chosen = np.array([False, True, False, True, True, False])

    some, none = run.of_rows(chosen, "some"), run.of_rows(np.zeros(6, bool), "none")

    assert sum(piece.rows for piece in pieces(some, form)) == 3
    assert read_parquet(whole(some, "parquet", arrays=True)) == [
        one for one, wanted in zip(expected(run, arrays=True), chosen, strict=True) if wanted
    ]
    assert [piece.rows for piece in pieces(none, form, arrays=True)] in ([0], [0, 0], [])
    assert about_bytes(none, form, arrays=True) == 0
    if form == "parquet":
        assert read_parquet(whole(none, form, arrays=True)) == []


@pytest.mark.parametrize("form", FORMATS)
def test_batches_change_nothing(tmp_path: Path, form: Format, monkeypatch: pytest.MonkeyPatch) -> None:
    """A rollout a batch gives the same rows as all at once: large ones are held one at a time."""
    run = run_of(tmp_path / "run")
    at_once = whole(run, form, arrays=True)
    monkeypatch.setattr(export, "BATCH_BYTES", 1)

    one_by_one = [piece for piece in pieces(run, form, arrays=True) if piece.rows]

    assert [piece.rows for piece in one_by_one] == [1] * 6
    if form == "parquet":
        assert read_parquet(whole(run, form, arrays=True)) == read_parquet(at_once)
    else:
        assert whole(run, form, arrays=True) == at_once


@pytest.mark.parametrize("arrays", [False, True])
@pytest.mark.parametrize("form", FORMATS)
def test_size_is_estimated(tmp_path: Path, form: Format, arrays: bool) -> None:
    """Where rollouts are alike the estimate is near what is written; Parquet packs many rows better than few."""
    shards = {f"{step}.jsonl": [token_row(step, prompt=f"{step} {n} " * 50) for n in range(60)] for step in range(20)}
    run = open_run(write_run(tmp_path, shards))
    written = len(whole(run, form, arrays=arrays))
    assert written * 0.9 < about_bytes(run, form, arrays) < written * (3 if form == "parquet" else 1.1)


numbers = st.none() | st.floats(allow_nan=False, allow_infinity=False) | st.integers(-(2**53), 2**53)
texts = st.none() | st.text(st.characters(), max_size=8)
floats = st.none() | st.floats(width=32, allow_nan=False, allow_infinity=False)


@st.composite
def records(draw: st.DrawFn) -> dict[str, Any]:
    """A row of the board's own, with fields missing here and there."""
    length = draw(st.integers(0, 4))
    fields: dict[str, Any] = {
        "step": draw(st.integers(-(2**63), 2**63 - 1)),
        "response": draw(st.text(max_size=8)),
        "response_tokens": draw(st.lists(st.text(max_size=3), min_size=length, max_size=length)),
        "logprobs": draw(st.lists(floats, min_size=length, max_size=length)),
        "prompt": draw(texts),
        "reward": draw(numbers),
        "custom": draw(numbers),
        "note": draw(texts),
        "group_id": draw(texts),
    }
    return {name: value for name, value in fields.items() if name in ("step", "response") or draw(st.booleans())}


@settings(max_examples=15, deadline=None)
@given(st.lists(st.lists(records(), max_size=5), min_size=1, max_size=3))
def test_json_lines_open_as_the_same_run(shards: list[Rows]) -> None:
    """What was exported is the board's own rows: opened again, each of their columns is the same, and what the board derives is, too."""
    with TemporaryDirectory() as folder:
        run = open_run(write_run(Path(folder) / "run", {f"{n}.jsonl": [row(0), *rows] for n, rows in enumerate(shards)}))
        (Path(folder) / "out").mkdir()
        (Path(folder) / "out" / "all.jsonl").write_bytes(whole(run, "jsonl", arrays=True))

        again = open_run(Path(folder) / "out")

        assert (again.report.refused, len(again.frame)) == (0, len(run.frame))
        ours, theirs = (one.to_pandas().reset_index(drop=True) for one in (run, again))
        for name in ours.columns.difference(["shard", "line", "group"]):
            assert [plain(value) for value in theirs[name]] == [plain(value) for value in ours[name]], name


def test_command(tmp_path: Path) -> None:
    """The command writes one file, of the format that its name says, of the rollouts that were asked for; nothing is overwritten."""
    run = run_of(tmp_path / "run")
    ask = ["export", str(tmp_path / "run")]

    done = CliRunner().invoke(main, [*ask, str(tmp_path / "a" / "x.parquet"), "--where", "step > 1", "--arrays"])

    assert (done.exit_code, done.stdout) == (0, f"4 rollouts in {tmp_path / 'a' / 'x.parquet'}\n")
    assert read_parquet((tmp_path / "a" / "x.parquet").read_bytes()) == expected(run, arrays=True)[2:]
    assert sorted(one.name for one in (tmp_path / "run").iterdir()) == ["rank_0.jsonl", "rank_1.jsonl"]
    for arguments, said in REFUSED.items():
        refused = CliRunner().invoke(main, [*ask, *(one.replace("TMP", str(tmp_path)) for one in arguments)])
        assert refused.exit_code == 2, refused.output
        assert said in refused.stderr
    assert not (tmp_path / "b.csv").exists()


REFUSED = {
    ("TMP/a/x.parquet",): "is there already",
    ("TMP/run/x.csv",): "never written to",
    ("TMP/b.xlsx",): "does not say what to write",
    ("TMP/b.csv", "--where", "stepp > 1"): "stepp",
    ("TMP/b.csv", "--where", "step > 1) --"): "--where",
}
