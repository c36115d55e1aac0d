"""Tests of the command line: what it takes, what it says, and with which exit code it ends."""

import os
import re
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import ExitStack, suppress
from pathlib import Path

import click
import pytest
from click.testing import CliRunner, Result

from board import __version__
from board.cli.commands.serve import split_arguments
from board.cli.endings import Command
from board.cli.main import main

REPOSITORY = Path(__file__).parents[2]


def run(*arguments: str) -> Result:
    """The command's exit code and output, in this process."""
    return CliRunner().invoke(main, list(arguments), prog_name="rl-logging-board")


@pytest.mark.parametrize(
    ("arguments", "places", "options"),
    [
        pytest.param([], [], [], id="nothing"),
        pytest.param(["runs"], ["runs"], [], id="root"),
        pytest.param(["--theme.base", "dark"], [], ["--theme.base", "dark"], id="an option's value is no root"),
        pytest.param(["--theme.base=dark", "runs"], ["runs"], ["--theme.base=dark"], id="equals sign"),
        pytest.param(["runs", "--a.b", "1", "--a.b", "2"], ["runs"], ["--a.b", "1", "--a.b", "2"], id="repeated"),
        pytest.param(["--a.b", "-1"], [], ["--a.b", "-1"], id="negative value"),
    ],
)
def test_split_arguments(arguments: list[str], places: list[str], options: list[str]) -> None:
    """The root is told apart from Streamlit's options and their values, in any order."""
    assert split_arguments(arguments) == (places, options)


@pytest.mark.parametrize("arguments", [["--prot", "1"], ["-p", "1"], ["--theme.base"], ["-p.q", "1"]])
def test_split_arguments_refuses(arguments: list[str]) -> None:
    """An option of nobody's, or one without its value, is a usage error."""
    with pytest.raises(click.UsageError):
        split_arguments(arguments)


def test_help_names_the_command() -> None:
    """--help lists what the command does."""
    result = run("--help")
    assert result.exit_code == 0
    assert "serve" in result.output


def test_version() -> None:
    """--version prints the version of the package."""
    assert run("--version").output.strip().endswith(__version__)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        pytest.param(["no such folder"], "ROOT is not a folder: no such folder", id="missing root"),
        pytest.param([str(REPOSITORY / "LICENSE")], "ROOT is not a folder", id="root is a file"),
        pytest.param(["a", "b"], "one ROOT", id="two roots"),
        pytest.param([str(REPOSITORY), "--foo.bar", "1"], "has no option --foo.bar", id="unknown streamlit option"),
        pytest.param([str(REPOSITORY), "--prot", "1"], "No such option", id="unknown option"),
        pytest.param([str(REPOSITORY), "--scalars", "no such file"], "'no such file' does not exist", id="missing scalars"),
        pytest.param([str(REPOSITORY), "--port", "high"], "--server.port is a number", id="port that is no number"),
    ],
)
def test_bad_usage(arguments: list[str], message: str) -> None:
    """What cannot be served ends with code 2 and a sentence."""
    result = run("serve", *arguments)
    assert result.exit_code == 2
    assert message in result.output


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        pytest.param(["no such folder"], "ROOT is not a folder: no such folder (rl-logging-board --help", id="a root"),
        pytest.param(["--theme.base"], "Option --theme.base needs a value", id="an option of Streamlit's"),
        pytest.param(["--login", "no such file", "x"], "File 'no such file' does not exist", id="an option of ours"),
    ],
)
def test_without_a_command_it_serves(arguments: list[str], message: str) -> None:
    """What begins with no command is given to `serve`, whose usage is shown where it cannot be."""
    result = run(*arguments)
    assert result.exit_code == 2
    assert message in result.output
    assert result.output.startswith("Usage: rl-logging-board serve")


@pytest.fixture
def listening(tmp_path: Path) -> Iterator[Callable[..., str]]:
    """Starts the command, and gives what it printed up to its last word that is an address; it ends with the test."""
    with ExitStack() as stop:

        def start(*arguments: str, **environment: str) -> str:
            variables = {"RL_BOARD_FINDINGS": "off", "PYTHONPATH": str(REPOSITORY), "PYTHONUNBUFFERED": "1", **environment}
            command = [sys.executable, "-m", "board", *arguments]
            process = stop.enter_context(
                subprocess.Popen(command, cwd=tmp_path, env=os.environ | variables, stdout=subprocess.PIPE, text=True)
            )
            stop.callback(process.kill)
            assert process.stdout is not None
            printed = ""
            while "Ctrl+C" not in printed and (line := process.stdout.readline()):
                printed += line
            return printed

        yield start


def test_nothing_but_the_command_serves_the_samples(listening: Callable[..., str]) -> None:
    """In a folder without runs it serves those that come with the board, at its port, or the next that is free, and says so."""
    with ExitStack() as taken:
        with suppress(OSError):  # of somebody else who listens there: not free either
            taken.enter_context(socket.create_server(("127.0.0.1", 8901)))
        printed = listening("--no-browser")

    assert "Port 8901 is not free: this is " in printed
    address = next(word for word in printed.split() if word.startswith("http://127.0.0.1:"))
    assert address != "http://127.0.0.1:8901/"
    with urllib.request.urlopen(f"{address}runs", timeout=10) as answer:
        assert answer.status == 200


@pytest.mark.parametrize(
    ("options", "opened"),
    [([], 1), (["--no-browser"], 0), (["--token"], 0)],
    ids=["as it is", "not wanted", "never with a token, which others could read"],
)
def test_a_browser_is_opened_where_there_is_one(
    listening: Callable[..., str], tmp_path: Path, options: list[str], opened: int
) -> None:
    """BROWSER names a command that is given the address, and nothing else."""
    (tmp_path / "browser").write_text(f'#!/bin/sh\necho "$@" >> "{tmp_path}/opened"\n')
    (tmp_path / "browser").chmod(0o755)
    printed = listening("serve", str(REPOSITORY / "rollout_samples"), "--port", "0", *options, BROWSER=f"{tmp_path}/browser")

    log = tmp_path / "opened"
    deadline = time.monotonic() + (30 if opened else 1)
    while not log.exists() and time.monotonic() < deadline:
        time.sleep(0.05)
    addresses = log.read_text().split() if log.exists() else []
    assert addresses == [word for word in printed.split() if word.startswith("http://")][:opened]


def test_taken_port_ends_with_a_sentence() -> None:
    """A second board on the same port ends with code 3 and names the port, without a traceback."""
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = str(taken.getsockname()[1])
        ended = subprocess.run(
            [sys.executable, "-m", "board", "serve", str(REPOSITORY), "--port", port],
            cwd=REPOSITORY,
            capture_output=True,
            text=True,
            timeout=60,
        )
    assert ended.returncode == 3
    assert f"127.0.0.1:{port}" in ended.stderr
    assert "Traceback" not in ended.stderr


def test_help_needs_no_streamlit() -> None:
    """The command line, and each command, answers without importing what it takes a second to import."""
    code = """
import sys
sys.modules |= dict.fromkeys(["streamlit", "pandas", "pyarrow", "plotly"])
from board.cli.main import main
for name in ([], *([one] for one in main.commands)):
    try:
        main([*name, "--help"])
    except SystemExit as end:
        print("=", *name, end.code)
"""
    ended = subprocess.run([sys.executable, "-c", code], cwd=REPOSITORY, capture_output=True, text=True, timeout=60)
    assert ended.returncode == 0, ended.stderr
    *helps, rest = re.split(r"^= (.*)\n", ended.stdout, flags=re.MULTILINE)
    assert helps[1::2] == ["0", *(f"{name} 0" for name in main.commands)]
    assert all("Exit status:" in one for one in helps[::2])
    assert rest == ""


def test_every_command_is_found() -> None:
    """A public function with decorators in `board/cli/commands/` is a command of its name, with the exit codes in its help, in no other list."""
    texts = [path.read_text(encoding="utf-8") for path in (REPOSITORY / "board/cli/commands").glob("*.py")]
    declared = [name for text in texts for name in re.findall(r"^@.*\n(?:[@ )].*\n)*def ([a-z]\w*)", text, re.MULTILINE)]
    assert sorted(name for name, command in main.commands.items() if isinstance(command, Command)) == sorted(declared)


def test_start_script_refuses_an_old_python(tmp_path: Path) -> None:
    """start.sh on a machine whose only Python is too old says which it needs, and makes nothing."""
    script = tmp_path / "start.sh"
    script.write_bytes((REPOSITORY / "start.sh").read_bytes())
    tools = tmp_path / "bin"
    tools.mkdir()
    for name in ("bash", "dirname", "rm", "cmp"):
        (tools / name).symlink_to(next(Path(place) / name for place in ("/usr/bin", "/bin") if (Path(place) / name).exists()))
    old = tools / "python3"
    old.write_text('#!/bin/sh\n[ "$1" = --version ] && echo "Python 3.9.2" && exit 0\nexit 1\n')
    old.chmod(0o755)
    ended = subprocess.run(
        ["bash", str(script)], env={"PATH": str(tools)}, capture_output=True, text=True, stdin=subprocess.DEVNULL, timeout=60
    )
    assert ended.returncode == 1
    assert "Python 3.11 or newer is needed, found: Python 3.9.2" in ended.stderr
    assert not (tmp_path / ".venv").exists()


def test_shell_scripts_parse() -> None:
    """bash reads each script of the project without a complaint."""
    scripts = [str(REPOSITORY / name) for name in ("start.sh", "tests/run.sh", ".ci/run")]
    for script in scripts:
        subprocess.run(["bash", "-n", script], check=True, env=os.environ)
