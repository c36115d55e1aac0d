"""The detector as its readers run it: by the command, in a process of its own, or in this one to save its start."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any, Final

REPOSITORY: Final = Path(__file__).resolve().parent.parent.parent


class NoDocument(Exception):
    """The command did not print a document; the message is what it said last."""


def findings_of(run: Path, cache: Path, *, here: bool = False) -> dict[str, Any]:
    """The document of `rl-logging-board findings RUN --json`. Raises NoDocument."""
    out, said = _here(run, cache) if here else _apart(run, cache)
    try:
        document: dict[str, Any] = json.loads(out)
    except json.JSONDecodeError as error:
        raise NoDocument((said.strip().splitlines() or ["nothing was said"])[-1]) from error
    return document


def _apart(run: Path, cache: Path) -> tuple[str, str]:
    environment = os.environ | {"RL_BOARD_CACHE": str(cache), "PYTHONPATH": str(REPOSITORY)}
    command = [sys.executable, "-m", "board", "findings", str(run), "--json"]
    ended = subprocess.run(command, env=environment, capture_output=True, text=True, cwd=REPOSITORY, timeout=600)
    return ended.stdout, ended.stderr


def _here(run: Path, cache: Path) -> tuple[str, str]:
    from click.testing import CliRunner

    from board.cli.main import main

    ended = CliRunner(env={"RL_BOARD_CACHE": str(cache)}).invoke(main, ["findings", str(run), "--json"])
    if ended.exception is not None and not isinstance(ended.exception, SystemExit):
        return "", f"{type(ended.exception).__name__}: {ended.exception}"
    return ended.stdout, ended.stderr
