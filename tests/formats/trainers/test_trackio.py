"""Tests of rollouts in trackio's databases. What the golden ones hold was logged with trackio's own writer."""

import contextlib
import json
import re
import shutil
import sqlite3
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from golden_runs import GOLDEN, flat, read_one
from rows import write_run

from board import formats, open_run
from board.errors import RowRefused, RunNotFound
from board.formats.contract import Head, Place
from board.formats.trainers import trackio
from board.runs.library import HERE, list_runs
from board.runs.opening import opened_whole
from board.sources import trackio_rollouts

RLOO, ASYNC = GOLDEN / "trackio" / "rloo.db", GOLDEN / "trackio" / "async_grpo.db"

TRACE: dict[str, Any] = {
    "_type": "trackio.trace",
    "step": 3,
    "key": "rollouts",
    "messages": [{"role": "user", "content": "q"}, {"role": "assistant", "content": "a"}],
    "metadata": {},
}
ROW = {"step": 1, "prompt": "NaN", "completion": "Infinity", "right": 1.0, "note": "NaN", "advantage": 0.5}
TABLE: dict[str, Any] = {"_type": "trackio.table", "step": 9, "key": "completions", "rows": [ROW]}


def records(file: Path) -> list[Any]:
    """The records of a database."""
    return [row for row, _ in trackio_rollouts.rows(file, 1 << 20)]


def changed(file: Path, statement: str, *values: object) -> None:
    """Write to a database."""
    with contextlib.closing(sqlite3.connect(file)) as database:
        database.execute(statement, values)
        database.commit()


@pytest.fixture
def run(tmp_path: Path) -> Path:
    """A folder with the database of traces."""
    shutil.copytree(GOLDEN / "trackio", tmp_path / "run", ignore=shutil.ignore_patterns(RLOO.name))
    return tmp_path / "run"


def test_a_trace_of_async_grpo() -> None:
    """Messages become prompt and response with their calls; reward, parts, advantage and group have our names, the rest its own."""
    rows = [flat(row) for record in records(ASYNC) for row in formats.read(record, trackio, Place(ASYNC.name, 1))]

    assert [row["step"] for row in rows] == [0] * 4 + [8] * 4
    assert (rows[1]["prompt"], rows[1]["response"]) == ("user:\nSay 0:", "1 *0*")
    assert (rows[1]["reward"], rows[1]["advantage"], rows[1]["group_id"], rows[1]["reward.right"]) == (0.5, 0.5, "0", 1.0)
    assert (rows[1]["prompt_length"], rows[1]["completion_tokens"], rows[1]["model_version"]) == (3.0, 3.0, 0.0)
    assert rows[2].get("reward.short") is None
    assert rows[3]["response"] == 'assistant:\n→ say({"digit": 3})\n\ntool:\n3\n\nassistant:\n<b>3</b>'


def test_tables_of_rloo_are_what_w_and_b_holds_of_them(tmp_path: Path) -> None:
    """The completions that were logged to both are the same rollouts; the table that was logged again is there once."""
    shutil.copytree(GOLDEN / "wandb_table", tmp_path / "wandb")
    (tmp_path / "trackio").mkdir()
    shutil.copy(RLOO, tmp_path / "trackio")
    wandb, ours = (open_run(tmp_path / name) for name in ("wandb", "trackio"))
    columns = ["step", "reward", "advantage", "digits", "starts_with_digit"]

    assert len(ours.frame) == 20
    assert ours.frame[columns].reset_index(drop=True).equals(wandb.frame[columns].reset_index(drop=True))
    assert ours.texts("response", [*range(20)]).to_pylist() == wandb.texts("response", [*range(20)]).to_pylist()
    assert json.loads(ours.raw(0))["key"] == "completions"
    assert ours.report.refused == 0
    assert "unweighted sum of digits, starts_with_digit" in next(iter(ours.report.notes))


WORDS: dict[str, tuple[list[dict[str, Any]], dict[str, Any]]] = {
    "a word among numbers is a number": ([ROW | {"right": "NaN"}, ROW], {"right": None, "reward": None}),
    "a word among texts is a text": ([ROW, ROW | {"note": "x"}], {"note": "NaN", "reward": 1.0}),
    "what the model said is text": ([ROW], {"prompt": "NaN", "response": "Infinity"}),
    "without a step the one it was logged at": ([{key: value for key, value in ROW.items() if key != "step"}], {"step": 9}),
}


@pytest.mark.parametrize("case", WORDS)
def test_what_a_table_says(case: str) -> None:
    """trackio writes NaN and the infinities as words: they are numbers in a column of numbers alone."""
    table, expected = WORDS[case]
    first = flat(formats.read(TABLE | {"rows": table}, trackio, Place("x.db", 1))[0])

    assert {key: first.get(key) for key in expected} == expected


def test_metadata_of_a_trace_takes_no_name_of_ours() -> None:
    """What a trace's metadata calls as we call something else stays, told apart; its spans stay."""
    row = flat(read_one(trackio, TRACE | {"metadata": {"response": "x", "step": 7, "env": "e"}, "spans": [{"id": "s"}]}))

    assert (row["step"], row["response"], row["response (logged)"], row["env"]) == (3, "a", "x", "e")
    assert json.loads(row["spans"]) == [{"id": "s"}]


NO_TRACES: dict[str, dict[str, Any]] = {
    "no messages": {"messages": []},
    "a message without a role": {"messages": [{"content": "x"}]},
    "messages that are none": {"messages": ["x"]},
    "no step": {"step": None},
    "metadata that are a list": {"metadata": [1]},
}


@pytest.mark.parametrize("change", NO_TRACES.values(), ids=NO_TRACES)
def test_a_trace_without_what_it_needs(change: dict[str, Any]) -> None:
    """It is refused with the key that is wrong."""
    with pytest.raises(RowRefused, match=f"`{next(iter(change))}`"):
        read_one(trackio, TRACE | change)


@pytest.mark.parametrize("record", [{"messages": []}, {"_type": "trackio.table", "rows": 3}, {"_type": "trackio.image"}])
def test_what_is_none_of_trackios(record: dict[str, Any]) -> None:
    """Other records are not this format's, whatever the file is called."""
    assert not trackio.recognise(Head("project.db", (record,)))


def test_a_database_of_metrics_alone_is_the_trackers(run: Path) -> None:
    """Without traces and tables of completions it is no run, and its metrics are told as what they are."""
    changed(run / ASYNC.name, "DELETE FROM traces")
    changed(
        run / ASYNC.name,
        "UPDATE metrics SET metrics = ?",
        '{"t": {"_type": "trackio.table", "_value": [{"prompt": 1}]}, "completion": 1}',
    )

    with pytest.raises(RunNotFound, match=r"^This folder holds metrics and no rollouts: async_grpo\.db \(steps 0 to 8\)\."):
        open_run(run)


def test_a_database_of_another_is_no_run_of_trackio(tmp_path: Path) -> None:
    """A table that is called traces, with other columns, is not trackio's."""
    changed(tmp_path / "x.db", "CREATE TABLE traces (id, messages)")
    changed(tmp_path / "x.db", "INSERT INTO traces VALUES (1, '[]')")

    with pytest.raises(RunNotFound, match="which the board does not open"):
        open_run(tmp_path)


ODD_ROWS: dict[str, tuple[str, str]] = {
    "JSON that is cut": ('[{"role"', "`messages` is not JSON"),
    "no messages": ("{}", "`messages` is "),
    "a role that is missing": ('[{"content": "x"}]', "`messages` is "),
}


@pytest.mark.parametrize("case", ODD_ROWS)
def test_a_row_that_is_damaged_is_named(run: Path, case: str) -> None:
    """The others load."""
    messages, reason = ODD_ROWS[case]
    changed(run / ASYNC.name, "UPDATE traces SET messages = ? WHERE rowid = 2", messages)
    opened = open_run(run)

    assert (opened.report.rows, opened.report.refused) == (7, 1)
    (problem,) = opened.report.problems
    assert (problem.shard, problem.line) == (ASYNC.name, 2)
    assert reason in problem.reason


def test_a_row_that_is_too_long_is_left_out(run: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The bound on lines holds for the rows of a database."""
    changed(run / ASYNC.name, "UPDATE traces SET messages = ? WHERE rowid = 2", " " * 20_000)
    monkeypatch.setenv("RL_BOARD_LONGEST_LINE", "10000")
    opened = open_run(run)

    assert (opened.report.rows, opened.report.refused) == (7, 1)
    assert "longer than 10,000 bytes" in opened.report.problems[0].reason


def cut(file: Path) -> None:
    """Half of a file."""
    file.write_bytes(file.read_bytes()[: file.stat().st_size // 2])


def overwritten(file: Path) -> None:
    """Rubbish in place of the pages with the names of late traces, the file as long as it was."""
    data = file.read_bytes()
    pages = [data[at : at + 512] for at in range(0, len(data), 512)]
    file.write_bytes(b"".join(b"\xff" * 512 if re.search(rb"rollouts:[0-3]:7", page) else page for page in pages))


MORE = (
    "INSERT INTO traces SELECT id || ?1, run_id, timestamp, run_name, ?2, key, trace_index, messages, metadata, search_text, log_id,"
    " space_id, spans FROM traces WHERE step = 0"
)


@pytest.mark.parametrize(("harm", "least"), [(cut, 0), (overwritten, 8)], ids=["cut", "overwritten"])
def test_a_damaged_database_is_one_problem(run: Path, harm: Callable[[Path], None], least: int) -> None:
    """What could be read before it counts, and it is named with SQLite's reason and not with its place."""
    file = run / ASYNC.name
    for step in range(1, 8):
        changed(file, MORE, f":{step}", step + 8)
    harm(file)
    opened = opened_whole(run)

    (problem,) = opened.report.problems
    assert problem.reason.startswith("cannot be read further: no database of trackio, or a damaged one: ")
    assert least <= opened.report.rows < 36


def test_a_database_that_grows_is_read_again(run: Path) -> None:
    """What a writer has in its log beside the database counts, and what it adds there is found."""
    with contextlib.closing(sqlite3.connect(run / ASYNC.name)) as writer:
        writer.execute("PRAGMA journal_mode = WAL")
        writer.execute("PRAGMA wal_autocheckpoint = 0")
        found = []
        for step in (16, 24):
            writer.execute(MORE, (f":{step}", step))
            writer.commit()
            found.append(sorted(open_run(run).frame["step"].unique().tolist()))

    assert found == [[0, 8, 16], [0, 8, 16, 24]]


def test_the_run_that_logged_rollouts_last_is_shown(run: Path) -> None:
    """Runs of a project are not mixed: the others are named."""
    changed(run / ASYNC.name, "UPDATE traces SET run_id = 'b', run_name = 'first', timestamp = '2020' WHERE step = 0")
    opened = open_run(run)

    assert opened.frame["step"].unique().tolist() == [8]
    assert [str(problem) for problem in opened.report.problems] == [
        "async_grpo.db: holds 1 other run (first) as well: shown is the one that logged rollouts last"
    ]


def test_a_trainers_own_dump_comes_first(run: Path) -> None:
    """Where a trainer's files lie beside it, the database stays the tracker's."""
    shutil.copytree(GOLDEN / "trl" / "completions", run / "completions")
    opened = open_run(run)

    assert {name.partition("/")[0] for name in opened.frame["shard"].unique()} == {"completions"}
    assert opened.report.skipped[ASYNC.name] == "repeats the rollouts of TRL GRPO"


def test_a_store_beside_runs_makes_no_run_of_the_root(run: Path) -> None:
    """trackio's store in the root hides none of the folders of runs beside it; alone it is a run."""
    write_run(run, {"a/rank_0.jsonl": [{"step": 1, "response": "x"}]})
    assert [folder.name for folder in list_runs(run)] == ["a"]

    shutil.rmtree(run / "a")
    assert [folder.name for folder in list_runs(run)] == [HERE]


SESSION = '{"type": "session", "version": 3, "id": "x", "harness": "trackio"}\n'


def test_traces_that_trackio_writes_once_more_are_no_run(run: Path) -> None:
    """The sessions in its folder `traces` are what the database holds: they hide it in no list. A file of another by such a name is read."""
    name = f"{'a' * 32}-{'b' * 32}-rollouts-0.jsonl"
    folder = run / "traces" / "project" / "run"
    folder.mkdir(parents=True)
    (folder / name).write_text(SESSION)
    assert [listed.name for listed in list_runs(run)] == [HERE]
    assert open_run(run).report.rows == 8

    write_run(run, {f"other/{name}": [{"step": 1, "response": "x"}]})
    assert open_run(run / "other").report.rows == 1


def test_a_link_out_of_the_root_is_not_followed(tmp_path: Path) -> None:
    """A database elsewhere is none of this run."""
    (tmp_path / "run").mkdir()
    (tmp_path / "run" / "x.db").symlink_to(ASYNC)

    with pytest.raises(RunNotFound):
        open_run(tmp_path / "run")
