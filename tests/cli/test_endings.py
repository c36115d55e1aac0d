"""Tests of how commands end: one table of exit codes, failures that name what was given, and JSON where it was asked for."""

import json
import os
import shlex
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result
from environments import UNCOMPILED
from rows import row, write_run

from board.cli.endings import ExitCode
from board.cli.main import main

REPOSITORY = Path(__file__).parents[2]


def command(*arguments: object) -> Result:
    """A command in this process."""
    return CliRunner().invoke(main, [*map(str, arguments)], prog_name="rl-logging-board")


def a_file(folder: Path) -> str:
    """A file where a folder is wanted."""
    (folder / "notes.txt").write_text("nothing")
    return "notes.txt"


def an_empty_folder(folder: Path) -> str:
    """A folder of a folder that holds no rollouts."""
    (folder / "deep" / "empty").mkdir(parents=True)
    return "deep/empty"


def mixed(folder: Path) -> str:
    """A folder with the rollouts of two trainers."""
    write_run(
        folder / "deep" / "two",
        {"a.jsonl": [row(0)], "1.jsonl": [{"input": "i", "output": "o", "gts": "g", "score": 1, "step": 1}]},
    )
    return "deep/two"


WITHOUT_RUN: dict[str, Callable[[Path], str]] = {
    "nothing there": lambda _: "deep/none",
    "a file": a_file,
    "no rollouts": an_empty_folder,
    "two trainers": mixed,
}

RUN_COMMANDS = {
    "check": ["check", "{run}"],
    "export": ["export", "{run}", "out", "--layout", "run"],
    "push": ["push", "{run}", "--to", "stdout"],
}


@pytest.mark.parametrize("kind", WITHOUT_RUN)
@pytest.mark.parametrize("name", RUN_COMMANDS)
def test_run_that_cannot_be_opened_is_named_as_given(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, kind: str
) -> None:
    """Every command ends with 2 and a sentence with the very path that was typed, not only its last part."""
    monkeypatch.chdir(tmp_path)
    given = WITHOUT_RUN[kind](tmp_path)

    result = command(*(part.format(run=given) for part in RUN_COMMANDS[name]))

    assert (result.exit_code, result.stdout) == (ExitCode.CANNOT, "")
    assert result.stderr.startswith("Error: ")
    assert given in result.stderr
    assert not (tmp_path / "out").exists()


JSON_FAILURES = {
    "nothing there": (["check", "deep/none", "--json"], "deep/none", "deep/none: No folder 'none' here"),
    "no argument": (["check", "--json"], None, "Missing argument 'RUN'."),
    "an option of nobody's": (["check", "--json", "run", "--no-such"], None, "No such option"),
    "a mapping that is none": (["check", "run", "--json", "--mapping", "mapping.toml"], "run", "mapping.toml"),
}


@pytest.mark.parametrize("name", JSON_FAILURES)
def test_failures_are_json_where_that_was_asked_for(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    """With --json a script gets one object on standard output whatever happens, with the run, the sentence and the exit code."""
    monkeypatch.chdir(tmp_path)
    write_run(tmp_path / "run", {"a.jsonl": [{"x": 1}]})
    (tmp_path / "mapping.toml").write_text("fields = 3")
    arguments, run, message = JSON_FAILURES[name]

    result = command(*arguments)

    shape = json.loads(result.stdout)
    assert list(shape) == ["version", "run", "error", "exit_code"]
    assert (shape["run"], shape["exit_code"], result.exit_code) == (run, ExitCode.CANNOT, ExitCode.CANNOT)
    assert message in shape["error"]


NOTHING_READ: dict[str, tuple[dict[str, Any], bool]] = {
    "a guess": ({"question": "Q?", "generated_answer": "I say so.", "right": True}, True),
    "no guess": ({"question": "Q?", "answer": "A"}, False),
}


@pytest.mark.parametrize("name", NOTHING_READ)
@pytest.mark.parametrize("verb", ["summary", "steps", "rollouts", "metrics", "findings", "check"])
def test_run_of_refused_rows_is_an_error(tmp_path: Path, verb: str, name: str) -> None:
    """Where no row could be read every command ends with 2, the first reason and the keys, and the guess where there is one, in JSON too."""
    row, has_guess = NOTHING_READ[name]
    write_run(tmp_path / "run", {"a.jsonl": [row, row]})

    said, shape = command(verb, tmp_path / "run"), json.loads(command(verb, tmp_path / "run", "--json").stdout)

    assert (said.exit_code, said.stdout) == (ExitCode.CANNOT, "")
    assert "2 lines refused; the first reason: a.jsonl:1" in said.stderr
    assert "its keys are: question" in said.stderr
    assert ('response = "generated_answer"' in said.stderr) is has_guess
    assert list(shape) == ["version", "run", "error", "exit_code", "suggested_mapping"]
    assert (shape["suggested_mapping"] is not None) is has_guess
    assert shape["suggested_mapping"] is None or shape["suggested_mapping"] in said.stderr


def test_folder_that_is_taken_is_an_argument_that_cannot_be_used(tmp_path: Path) -> None:
    """Nothing was done, so it is no failure of the conversion; the sentence is about the folder and not about the run."""
    write_run(tmp_path / "run", {"a.jsonl": [row(0)]})
    result = command("export", tmp_path / "run", tmp_path, "--layout", "run")
    assert result.exit_code == ExitCode.CANNOT
    assert result.stderr == f"Error: {tmp_path} is there already and is not an empty folder: choose another.\n"


def test_full_disk_is_a_failure_with_a_sentence(tmp_path: Path) -> None:
    """A disk that refuses ends with 3, the file and the reason, and no traceback."""
    write_run(tmp_path / "run", {"a.jsonl": [row(0)] * 200})
    ended = subprocess.run(
        f"ulimit -f 1; exec {shlex.quote(sys.executable)} -P -m board export --layout run run out",
        shell=True,
        executable="/bin/bash",
        cwd=tmp_path,
        env=os.environ | UNCOMPILED | {"PYTHONPATH": str(REPOSITORY), "RL_BOARD_CACHE": "/dev/null/none"},
        capture_output=True,
        text=True,
    )
    assert (ended.returncode, ended.stdout) == (ExitCode.FAILED, "")
    assert ended.stderr == "Error: File too large\n"


def test_terminal_gets_no_control_characters(tmp_path: Path) -> None:
    """A name that turns colours on is printed as escapes, as given by whoever named the folder."""
    result = command("check", tmp_path / "a\x1b[31m")
    assert "\x1b" not in result.stderr
    assert "a\\x1b[31m" in result.stderr


@pytest.mark.parametrize("arguments", RUN_COMMANDS.values(), ids=RUN_COMMANDS)
def test_a_run_commands_no_terminal(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, arguments: list[str]) -> None:
    """Names, keys and values of a run turn on no colour and begin no line of their own, whichever command prints them."""
    name = "a\x1b[31m\nforged.jsonl"
    folder = tmp_path / "run\x1b]0;title\x07\nforged"
    write_run(folder, {name: [b'{"\x07key\x9b": 1}', b"{bad \x1b[2J", row(0, **{"score\x1b[1m\nforged": 1.0}), row(1), row(2)]})
    monkeypatch.chdir(tmp_path)

    result = command(*(one.format(run=folder) for one in arguments))

    assert not {"\x1b", "\x07", "\x9b"} & set(result.output)
    assert [line for line in result.output.splitlines() if line.startswith("forged")] == []
    assert result.output


@pytest.mark.parametrize("arguments", [[], ["serve"], ["check"], ["export"], ["push"]], ids=" ".join)
def test_help_is_whole(arguments: list[str]) -> None:
    """No sentence is cut off, no line is wider than a terminal, and the exit codes stand at the end, each with its meaning."""
    text = CliRunner(env={"COLUMNS": "80"}).invoke(main, [*arguments, "--help"]).stdout

    assert "..." not in text.split("Options:", 1)[1]
    assert max(map(len, text.splitlines())) <= 80
    words = " ".join(text.split("Exit status:")[1].split())
    assert words == " ".join(f"{code.value} {code.meaning}" for code in ExitCode)


def test_the_page_of_the_command_line_has_the_table() -> None:
    """The page of both languages names every code, the English one with its meaning."""
    for name in ("docs/cli.md", "docs/zh-CN/cli.md"):
        text = (REPOSITORY / name).read_text()
        assert all(f"| {code.value} |" in text for code in ExitCode), name
    assert all(f"| {code.value} | {code.meaning} |" in (REPOSITORY / "docs/cli.md").read_text() for code in ExitCode)


PRINTING = {
    "summary": ["summary", "run"],
    "steps": ["steps", "run"],
    "rollouts": ["rollouts", "run"],
    "show": ["show", "run", "--step", "0"],
    "metrics": ["metrics", "run"],
    "findings": ["findings", "run"],
    "check": ["check", "run"],
    "compare": ["compare", "run", "run"],
    **{f"{name} --json": [name, "run", "--json"] for name in ("summary", "steps", "rollouts", "metrics", "findings", "check")},
    "show --json": ["show", "run", "--step", "0", "--json"],
    "compare --json": ["compare", "run", "run", "--json"],
    "a failure --json": ["summary", "none", "--json"],
    "help": ["--help"],
    "help of a command": ["rollouts", "--help"],
}

IN_TURN = """
import json, os, pkgutil, sys
from importlib import import_module
from pathlib import Path
import board.cli.replies
from board.cli.main import main
for module in pkgutil.iter_modules(board.cli.replies.__path__, "board.cli.replies."):
    import_module(module.name)
commands = json.loads(sys.argv[1])
for name, arguments in commands.items():
    os.truncate("said", 0)
    if not (process := os.fork()):
        main(arguments)
    code = os.waitstatus_to_exitcode(os.waitpid(process, 0)[1])
    commands[name] = code, Path("said").read_text()
Path("ended").write_text(json.dumps(commands))
"""
"""Commands, each in a process of its own that has everything imported: how each ended and what it said, as JSON in the file "ended"."""


@pytest.fixture
def printed(tmp_path: Path) -> Path:
    """A folder with a run of which every command prints."""
    rows = [row(at // 4, prompt="p", response=f"{at} " * 50, reward=float(at % 3)) for at in range(40)]
    (tmp_path / "said").touch()
    return write_run(tmp_path / "run", {"a.jsonl": rows}).parent


def ended(folder: Path, output: str, stdout: int | None = None) -> dict[str, tuple[int, list[str]]]:
    """How each of PRINTING ended with such an output, and the lines that it said apart."""
    command = shlex.join([sys.executable, "-P", "-c", IN_TURN, json.dumps(PRINTING)])
    environment = os.environ | {"PYTHONPATH": str(REPOSITORY), "RL_BOARD_CACHE": str(folder / "cache")}
    environment.pop("PYTHONUNBUFFERED", None)  # what is held back until the end is what is hard
    line = f"exec {command} 2>> said {output}"
    subprocess.run(["bash", "-c", line], cwd=folder, env=environment, stdout=stdout, timeout=120, check=True)
    found: dict[str, tuple[int, str]] = json.loads((folder / "ended").read_text())
    told = "% looked through"  # told where a machine is slow
    return {name: (code, [line for line in said.splitlines() if not line.endswith(told)]) for name, (code, said) in found.items()}


@pytest.mark.parametrize("errors", ["", "2>&1"], ids=["errors apart", "errors into the pipe"])
def test_a_pipe_that_nobody_reads(printed: Path, errors: str) -> None:
    """A reader that is gone has seen enough: the command ends with 141 and without a word."""
    reading, writing = os.pipe()
    os.close(reading)
    found = ended(printed, errors, writing)
    os.close(writing)
    assert found == dict.fromkeys(PRINTING, (ExitCode.UNREAD, []))


@pytest.mark.parametrize("output", [">&-", "> /dev/full"])
def test_an_output_that_takes_nothing(printed: Path, output: str) -> None:
    """Closed, or full: at most a sentence, never a traceback."""
    if output == "> /dev/full" and not Path("/dev/full").exists():
        pytest.skip("a device that is always full is Linux's")
    found = ended(printed, output)
    assert {code for code, _ in found.values()} <= {*ExitCode}
    assert {name: said for name, (_, said) in found.items() if len(said) > 1 or "Exception ignored" in str(said)} == {}
