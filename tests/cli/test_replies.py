"""The commands that answer questions: JSON that the shipped schema takes, tables a person reads, failures as of every command."""

import bz2
import gzip
import io
import json
import lzma
import shutil
import sqlite3
import tempfile
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import jsonschema
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from asked import asked_run, empty_run, plain_run
from asked import ran as asked
from rows import add_run, lines, row, token_row, write_run

from board import open_run
from board.cli.endings import ExitCode
from board.runs.library import list_runs

WRITTEN = Path(__file__).parents[1] / "trackers" / "written"
TRACKIO = Path(__file__).parents[1] / "formats" / "golden" / "trackio" / "async_grpo.db"
SCHEMA = json.loads((Path(__file__).parents[2] / "board" / "cli" / "replies" / "replies.schema.json").read_text(encoding="utf-8"))


def answer(reply: str, *arguments: str | Path) -> dict[str, Any]:
    """What it says with --json, which is such a reply by the schema, without a number that JSON does not have."""
    told = asked(*arguments, "--json")
    assert told.exit_code == 0, told.output
    said: dict[str, Any] = json.loads(told.stdout, parse_constant=pytest.fail)
    jsonschema.Draft202012Validator({"$ref": f"#/$defs/{reply}", "$defs": SCHEMA["$defs"]}).validate(said)
    return said


COMMANDS: dict[str, tuple[str, list[str]]] = {
    "summary": ("SummaryReply", []),
    "steps": ("StepsReply", []),
    "metrics": ("MetricsReply", []),
    "rollouts": ("RolloutsReply", ["--top", "0"]),
    "show": ("RolloutReply", ["--step", "7", "--tokens"]),
}
"""Command → its reply, and what it is asked of every run."""

RUNS = {"plain": plain_run, "empty": empty_run}


@pytest.mark.parametrize("made", RUNS)
@pytest.mark.parametrize(("command", "reply", "arguments"), [(name, *one) for name, one in COMMANDS.items()], ids=COMMANDS)
def test_any_run_has_a_reply(command: str, reply: str, arguments: list[str], made: str, tmp_path: Path) -> None:
    """By the schema, whatever the run lacks; only a rollout that is not there is refused."""
    folder = RUNS[made](tmp_path)
    if (command, made) == ("show", "empty"):
        assert asked(command, folder, *arguments).exit_code == ExitCode.CANNOT
    else:
        assert answer(reply, command, folder, *arguments)["run"] == str(folder)
        assert asked(command, folder, *arguments).exit_code == 0


def test_rollouts(tmp_path: Path) -> None:
    """Filtered, sorted, with the columns asked for; as JSON and as a table."""
    folder = asked_run(tmp_path)
    given = ["rollouts", str(folder), "--where", "step = 1", "--sort", "-reward", "--columns", "reward, response", "--top", "2"]

    told = answer("RolloutsReply", *given)
    table = asked(*given).stdout.splitlines()

    assert told["matching"] == 4
    assert [one["values"] for one in told["rollouts"]] == [
        {"reward": 3.0, "response": "r13 中文"},
        {"reward": 2.0, "response": "r10 中文"},
    ]
    assert [line.split()[:2] for line in table[:3]] == [["rollout", "step"], ["rank_0.jsonl:8", "1"], ["rank_0.jsonl:5", "1"]]
    assert table[3] == "2 of 4 rollouts"


LONG_NAMES = {
    "a file": f"{'task_model_' * 7}2026-11-25.jsonl",
    "a file without a place to break it": f"{'x' * 200}.jsonl",
    "a file in folders": f"{'a_long_folder/' * 6}samples.jsonl",
    "a file in wide letters": f"{'评测' * 35}.jsonl",
}


@pytest.mark.parametrize("name", LONG_NAMES.values(), ids=LONG_NAMES)
def test_what_names_a_rollout_is_whole(name: str, tmp_path: Path) -> None:
    """However long a file's name is, each row has an id of its own, which `show` takes; the file is whole where it is asked for."""
    folder = write_run(tmp_path / "run", {name: [row(0, reward=at / 4) for at in range(4)]})

    lines = asked("rollouts", str(folder), "--columns", "reward,shard").stdout.splitlines()[1:-1]

    ids = [line.split()[0] for line in lines]
    assert ids == [f"{name}:{line}" for line in range(1, 5)]
    assert [line.split()[-1] for line in lines] == [name] * 4
    assert [answer("RolloutReply", "show", str(folder), "--rollout", one)["numbers"]["reward"] for one in ids] == [
        0,
        0.25,
        0.5,
        0.75,
    ]


def test_show(tmp_path: Path) -> None:
    """A rollout with its loudest token; its texts are whole, and command no terminal."""
    folder = add_run(
        tmp_path, "run", [row(3, response="\x1b[2Jred", reward=1.0, response_tokens=["x"], logprobs=[-1.0], ref_logprobs=[-2.0])]
    )

    told = answer("RolloutReply", "show", folder, "--step", "3", "--extremes", "kl")
    text = asked("show", folder, "--rollout", "rank_0.jsonl:1").stdout

    assert [(one["position"], one["token"]) for one in told["tokens"]] == [(0, "x")]
    assert told["texts"]["response"] == "\x1b[2Jred"
    assert "\\x1b[2Jred" in text
    assert "\x1b" not in text


def test_curves(tmp_path: Path) -> None:
    """`metrics --curve` has every step; a table has a row a step."""
    folder = asked_run(tmp_path)

    (told,) = answer("MetricsReply", "metrics", folder, "--curve", "reward/mean")["metrics"]

    assert told["curve"] == [[0, 0.5], [1, 2.0]]
    assert [line.split() for line in asked("metrics", folder, "--curve", "reward/mean").stdout.splitlines()] == [
        ["step", "reward/mean"],
        ["0", "0.500"],
        ["1", "2"],
    ]


REFUSED: dict[str, tuple[list[str], str]] = {
    "a metric": (["steps", "RUN", "--metric", "no"], "'no'"),
    "a condition": (["rollouts", "RUN", "--where", "no > 1"], "no"),
    "a column": (["rollouts", "RUN", "--columns", "no"], "'no'"),
    "a rollout": (["show", "RUN", "--rollout", "no:1"], "'no:1'"),
    "no rollout": (["show", "RUN"], "Which rollout"),
}


@pytest.mark.parametrize(("arguments", "why"), REFUSED.values(), ids=REFUSED)
def test_refused(arguments: list[str], why: str, tmp_path: Path) -> None:
    """Nothing was done, says the exit status; with --json the reason is JSON, too."""
    given = [str(asked_run(tmp_path)) if one == "RUN" else one for one in arguments]

    told, as_json = asked(*given), asked(*given, "--json")

    assert told.exit_code == as_json.exit_code == ExitCode.CANNOT
    assert why in told.stderr
    assert why in json.loads(as_json.stdout)["error"]


def _ipc(table: pa.Table, make: Callable[..., Any]) -> bytes:
    sink = io.BytesIO()
    with make(sink, table.schema) as writer:
        writer.write_table(table)
    return sink.getvalue()


def _in_every_container(folder: Path) -> Path:
    """A run whose rows lie in a file of every kind, with what trackers left beside it, a database with a writer's log among it."""
    rows = [token_row(step, reward=step / 2) for step in range(4)]
    table, text, flat = pa.Table.from_pylist(rows), lines(rows), io.BytesIO()
    pq.write_table(table, flat)
    csv_text = b"step,response,reward\n" + b"".join(b"%d,a,0.5\n" % step for step in range(4))
    write_run(
        folder,
        {
            "a.jsonl": text,
            **{
                f"b.jsonl.{ending}": pack(text)
                for ending, pack in (("gz", gzip.compress), ("bz2", bz2.compress), ("xz", lzma.compress))
            },
            "c.parquet": flat.getvalue(),
            "d.arrow": _ipc(table, pa.ipc.new_file),
            "e.feather": _ipc(table, pa.ipc.new_stream),
            "f.json": json.dumps(rows).encode(),
            "g.csv": csv_text,
            "logs/metrics.jsonl": b'{"step": 1, "loss": 0.5}\n',
            "config.yaml": b"lr: 1\n",
        },
    )
    with_log(folder / "m.db", (WRITTEN / "mlflow_3_17.sql").read_text())
    return folder


def with_log(file: Path, script: str) -> None:
    """A database as it lies there while a writer is at it, or was killed: what it wrote last is in its log."""
    with tempfile.TemporaryDirectory() as elsewhere, closing(sqlite3.connect(Path(elsewhere, file.name))) as writer:
        writer.execute("PRAGMA journal_mode = WAL")
        writer.execute("PRAGMA wal_autocheckpoint = 0")
        writer.executescript(script)
        for ending in ("", "-wal"):
            shutil.copy(Path(elsewhere, file.name + ending), file.with_name(file.name + ending))


def _of_trackio(folder: Path) -> Path:
    folder.mkdir(parents=True)
    with closing(sqlite3.connect(TRACKIO)) as database:
        with_log(folder / "t.db", "\n".join(database.iterdump()))
    return folder


READING = (
    ["summary"],
    ["steps"],
    ["metrics"],
    ["rollouts", "--top", "3"],
    ["show", "--step", "0"],
    ["findings"],
    ["check"],
    ["push", "--to", "stdout"],
)


@pytest.mark.parametrize("make", [_in_every_container, _of_trackio], ids=["every container", "a database of rollouts"])
def test_no_command_that_reads_changes_the_run(tmp_path: Path, make: Callable[[Path], Path]) -> None:
    """Names, bytes and times of all that lies in its folder are what they were, though the folder could be written to."""
    folder = make(tmp_path / "root" / "run")
    paths = [folder.parent, folder, *sorted(folder.rglob("*"))]
    before = [(path, path.stat().st_mtime_ns, path.is_file() and path.read_bytes()) for path in paths]
    folder.chmod(0o555)

    for command, *arguments in READING:
        told = asked(command, folder, *arguments)
        assert told.exit_code in (0, ExitCode.FAULTS), (command, told.output)
    asked("compare", folder, folder)
    asked("export", folder, tmp_path / "out.jsonl")
    asked("convert", folder, tmp_path / "converted")
    asked("index", folder, "--out", tmp_path / "index", "--workers", "1")
    list_runs(folder.parent)
    assert len(open_run(folder).frame) > 3

    assert [folder.parent, folder, *sorted(folder.rglob("*"))] == paths
    assert [(path, path.stat().st_mtime_ns, path.is_file() and path.read_bytes()) for path in paths] == before
