"""Tests of writing a run as our own rows."""

import json
from pathlib import Path

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from click.testing import CliRunner
from rows import row, token_row, write_run

from board import open_run
from board.cli.main import main
from board.errors import BoardError
from board.runs.convert import Target, convert, file_names

TARGETS: tuple[Target, ...] = ("jsonl", "parquet")


def run_of(folder: Path) -> Path:
    """A run with every kind of field, some missing, some odd, in shards of two endings and two depths."""
    odd = {
        "response_length": 7,
        "logprob_mean": 3.5,
        "score": {"a": 1},
        "big": 2**60,
        "loss_mask": [1, 0],
        "extra": [0.5, None],
        "group": 4,
    }
    others = [[["a", -1.0], ["<b>", None]], None]
    write_run(
        folder,
        {
            "rank_0.jsonl": [
                token_row(0, group_id="g", sample_id=3, ground_truth=["4"], top_logprobs=others),
                token_row(1, **odd),
                token_row(1, reward=None, logprobs=[float("nan"), -1.0], response_tokens=["威", "<0xE5>"]),
            ],
            "deep/rank_1.jsonl.gz": [row(2, response="", reward="0.5"), row(3, response="é\ud83d\ude00", score=1.5)],
        },
    )
    return folder


@pytest.mark.parametrize("target", TARGETS)
def test_converted_run_opens_as_the_same(tmp_path: Path, target: Target) -> None:
    """Rows, texts, tokens and numbers are those of the run it was made of; only the names of the files differ."""
    run = open_run(run_of(tmp_path / "run"))
    seen: list[int] = []

    written = convert(run, tmp_path / "out", target, seen.append)

    assert sorted(path.name for path in written) == [f"rank_0.{target}", f"rank_1.{target}"]
    assert seen[-1] == 5
    again = open_run(tmp_path / "out")
    assert again.report.refused == 0
    ours, theirs = (
        one.to_pandas().drop(columns=["shard", "line"]).reset_index(drop=True).sort_index(axis="columns") for one in (run, again)
    )
    pd.testing.assert_frame_equal(theirs, ours, check_categorical=False, check_dtype=False)


def test_nothing_derived_is_written(tmp_path: Path) -> None:
    """The board's own columns stay away, and a field the row logged under such a name keeps its name."""
    run = open_run(run_of(tmp_path / "run"))

    convert(run, tmp_path / "out", "jsonl")

    lines = [json.loads(line) for line in (tmp_path / "out" / "rank_0.jsonl").read_bytes().splitlines()]
    assert set(lines[0]) == {*token_row(), "group_id", "sample_id", "ground_truth", "top_logprobs", "rank"}
    assert (lines[1]["response_length"], lines[1]["logprob_mean"]) == (7.0, 3.5)
    assert "reward" not in lines[2]
    assert lines[2]["logprobs"] == [None, -1.0]


def test_parquet_holds_floats_of_four_bytes(tmp_path: Path) -> None:
    """Token arrays are lists of float32, so that other tools read them without parsing."""
    convert(open_run(run_of(tmp_path / "run")), tmp_path / "out", "parquet")

    kind = pq.read_schema(tmp_path / "out" / "rank_0.parquet").field("logprobs").type

    assert kind.value_type == pa.float32()


def test_nothing_is_overwritten(tmp_path: Path) -> None:
    """Neither a folder that holds something nor the run itself is written into."""
    run = open_run(run_of(tmp_path / "run"))

    with pytest.raises(BoardError, match="not an empty folder"):
        convert(run, tmp_path, "jsonl")
    with pytest.raises(BoardError, match="never written to"):
        convert(run, tmp_path / "run" / "out", "jsonl")


NAMES: dict[str, tuple[set[str], dict[str, str]]] = {
    "another format": ({"completions_00002.parquet"}, {"completions_00002.parquet": "completions_00002.parquet"}),
    "packed": ({"a/rank_0.jsonl.gz"}, {"a/rank_0.jsonl.gz": "a/rank_0.parquet"}),
    "named after a step": ({"12.pt"}, {"12.pt": "12.parquet"}),
    "dots in the name": ({"step_1.5.jsonl"}, {"step_1.5.jsonl": "step_1.5.parquet"}),
    "two endings of one name": (
        {"a.jsonl", "a.jsonl.gz", "b.jsonl"},
        {"a.jsonl": "a.jsonl.parquet", "a.jsonl.gz": "a.jsonl.gz.parquet", "b.jsonl": "b.jsonl.parquet"},
    ),
}


@pytest.mark.parametrize("name", NAMES)
def test_files_are_named_after_their_shards(name: str) -> None:
    """The ending is the new one and no trace of the old stays, unless two shards would become one file."""
    shards, wanted = NAMES[name]
    assert file_names(shards, "parquet") == wanted


def test_command(tmp_path: Path) -> None:
    """The command says what it wrote, also by its earlier name, and ends with 1 when lines could not be read."""
    folder = run_of(tmp_path / "run")
    done = CliRunner().invoke(main, ["convert", str(folder), str(tmp_path / "a"), "--to", "parquet"])
    assert (done.exit_code, done.stdout) == (0, f"5 rollouts in 2 files under {tmp_path / 'a'}\n")

    with (folder / "rank_0.jsonl").open("a") as shard:
        shard.write("not json\n")
    done = CliRunner().invoke(main, ["export", "--layout", "run", str(folder), str(tmp_path / "b")])
    assert done.exit_code == 1
    assert "rank_0.jsonl:4: is not JSON" in done.stderr
    assert CliRunner().invoke(main, ["convert", str(tmp_path / "none"), str(tmp_path / "c")]).exit_code == 2
    assert CliRunner().invoke(main, ["convert", str(folder), str(tmp_path / "c"), "--to", "csv"]).exit_code == 2


def test_command_converts_what_is_asked_for(tmp_path: Path) -> None:
    """--where leaves the other rollouts out, whole shards too; one that is no condition ends the command before anything is written."""
    folder = run_of(tmp_path / "run")
    asked = ["convert", str(folder), str(tmp_path / "a"), "--where", "step = 1 AND response ILIKE 'A%'"]

    for target in TARGETS:
        done = CliRunner().invoke(main, [*asked[:2], str(tmp_path / target), *asked[3:], "--to", target])
        assert (done.exit_code, done.stdout) == (0, f"2 rollouts in 1 file under {tmp_path / target}\n")
        assert open_run(tmp_path / target).frame["line"].tolist() == [1, 2]

    wrong = CliRunner().invoke(main, [*asked[:4], "stepp = 1"])
    assert wrong.exit_code == 2
    assert "stepp" in wrong.stderr
    assert not (tmp_path / "a").exists()
