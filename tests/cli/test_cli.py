"""Tests of the command line: what it takes, what it says, and with which exit code it ends."""

import os
import socket
import subprocess
import sys
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
        pytest.param([str(REPOSITORY), "--foo.bar", "1"], "No such option", id="unknown streamlit option"),
        pytest.param([str(REPOSITORY), "--prot", "1"], "No such option", id="unknown option"),
        pytest.param([str(REPOSITORY), "--scalars", "no such file"], "'no such file' does not exist", id="missing scalars"),
        pytest.param([str(REPOSITORY), "--port", "high"], "not a valid integer", id="port that is no number"),
    ],
)
def test_bad_usage(arguments: list[str], message: str) -> None:
    """What cannot be served ends with code 2 and a sentence."""
    result = run("serve", *arguments)
    assert result.exit_code == 2
    assert message in result.output


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


@pytest.mark.parametrize("arguments", [["--help"], *([name, "--help"] for name in main.commands)], ids=" ".join)
def test_help_needs_no_streamlit(arguments: list[str]) -> None:
    """The command line answers without importing what it takes a second to import."""
    code = f"""
import sys
sys.modules |= dict.fromkeys(["streamlit", "pandas", "pyarrow", "plotly"])
from board.cli.endings import Command
from board.cli.main import main
main({arguments!r})
"""
    ended = subprocess.run([sys.executable, "-c", code], cwd=REPOSITORY, capture_output=True, text=True, timeout=60)
    assert ended.returncode == 0, ended.stderr
    assert "Exit status:" in ended.stdout


def test_every_command_is_found() -> None:
    """A module in `board/cli/commands/` is a command of its name, with the exit codes in its help, and in no other list."""
    files = {path.stem for path in (REPOSITORY / "board/cli/commands").glob("*.py")} - {"__init__"}
    assert {name for name, command in main.commands.items() if isinstance(command, Command)} == files


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
