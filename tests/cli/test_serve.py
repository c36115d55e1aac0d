"""Tests of what `serve` does beside serving: it imports the pages while the reader opens the link."""

import ast
import subprocess
import sys
from pathlib import Path

REPOSITORY = Path(__file__).parents[2]


def test_pages_are_imported_before_anyone_asks() -> None:
    """What a page draws with is there after the thread has ended, though the server started without."""
    code = """
import sys
from importlib import import_module
from board.serving import app
before = {"pandas", "board.ui.state.place"} & sys.modules.keys()
import_module("board.cli.commands.serve").import_pages()
print(before, {"pandas", "plotly", "board.ui.state.place"} <= sys.modules.keys())
"""
    ended = subprocess.run([sys.executable, "-c", code], cwd=REPOSITORY, capture_output=True, text=True, timeout=60)
    assert (ended.stdout.strip(), ended.returncode) == ("set() True", 0), ended.stderr


def test_the_entry_imports_first_what_the_thread_imports() -> None:
    """A page that is asked for meanwhile waits at its first import of the board for the whole of it."""
    entry = ast.parse((REPOSITORY / "rl_logging_board.py").read_text())
    of_board = [node for node in entry.body if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("board")]
    assert (of_board[0].module, of_board[0].names[0].name) == ("board.ui.frame", "header")
