"""Tests of what is said where a library is not installed: a sentence that names what to install, never a bare traceback."""

import os
import shlex
import subprocess
import sys
from pathlib import Path

import pytest
from rows import row, write_run

from board.errors import missing_library, pip_install

REPOSITORY = Path(__file__).parent.parent

WITHOUT = "import sys; sys.modules[{module!r}] = None; sys.argv = ['rl-logging-board', *{arguments!r}]; {code}"
COMMAND = "from board.__main__ import main; main()"
IMPORT = "from board import {name}"

CASES: dict[str, tuple[str, list[str], str, str]] = {
    "serve without Streamlit": ("streamlit", ["serve", "{run}"], COMMAND, "`serve` needs streamlit"),
    "check without pandas": ("pandas", ["check", "{run}"], COMMAND, "`check` needs pandas"),
    "push without Arrow": ("pyarrow", ["push", "{run}", "--to", "stdout"], COMMAND, "`push` needs pyarrow"),
    "export without Arrow": ("pyarrow", ["export", "{run}", "out.csv"], COMMAND, "`export` needs pyarrow"),
    "any command without click": ("click", ["--help"], COMMAND, "The command rl-logging-board needs click"),
    "a notebook without pandas": ("pandas", [], IMPORT.format(name="open_run"), "ImportError: board.open_run needs pandas"),
    "metrics without PyYAML": ("yaml", ["metrics", "{run}"], COMMAND, "`metrics` needs pyyaml, which is not installed"),
    "a notebook without xxhash": ("xxhash", [], IMPORT.format(name="Run"), "pip install xxhash"),
    "a trainer without orjson": ("orjson", [], "import board.recorder", "ImportError: board.recorder needs orjson"),
    "a query without DuckDB": (
        "duckdb",
        ["{run}"],
        "from board import open_run; from board.sql.query import evaluate; "
        "evaluate(open_run(sys.argv[1]).frame, 'SELECT step, 1 AS y FROM rollouts')",
        "BoardError: A query needs duckdb",
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_says_what_to_install(tmp_path: Path, name: str) -> None:
    """Command, notebook, trainer and query each end with what they need and how it is installed."""
    module, arguments, code, says = CASES[name]
    run = write_run(tmp_path / "run", {"a.jsonl": [row(0)]})
    script = WITHOUT.format(module=module, arguments=[one.format(run=run) for one in arguments], code=code)

    ended = subprocess.run(
        [sys.executable, "-c", script], cwd=REPOSITORY, env=os.environ, capture_output=True, text=True, timeout=120
    )

    assert ended.returncode == (2 if code == COMMAND else 1), ended.stderr
    last = ended.stderr.strip().splitlines()[-1]
    assert says in last
    assert f"which is not installed: {shlex.quote(sys.executable)} -m pip install " in last
    assert ("Traceback" in ended.stderr) == (code != COMMAND)


def test_the_command_is_whole() -> None:
    """What is said to install something can be pasted into a shell: it names this installation's Python, and quotes what a shell would read."""
    command = [sys.executable, "-m", "pip", "install", "swanlab[dashboard]", "a b"]

    assert shlex.split(pip_install(*command[4:])) == command


def test_board_without_any_of_them_imports() -> None:
    """`import board` needs Python alone."""
    script = "import sys; sys.modules.update(dict.fromkeys(['numpy', 'orjson', 'pandas', 'pyarrow', 'streamlit', 'click'])); import board"
    subprocess.run([sys.executable, "-c", script], cwd=REPOSITORY, check=True, timeout=60)


@pytest.mark.parametrize("name", ["board.no_such", None])
def test_a_fault_of_our_own_stays_one(name: str | None) -> None:
    """A module of the board that is missing is nothing that pip could install."""
    with pytest.raises(ModuleNotFoundError):
        missing_library(ModuleNotFoundError(name=name), "It")
