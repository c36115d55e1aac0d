"""Starts a module of the board as a process of its own, which finds the board and nothing by chance. Knows nothing of what is said to it."""

import os
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import IO, Final

_PACKAGES: Final = Path(__file__).parents[2]
"""The folder that holds this very board, installed or not."""


def start(
    module: str, environment: Mapping[str, str], *, stdin: IO[bytes] | int = subprocess.PIPE, stderr: int | None = None
) -> "subprocess.Popen[bytes]":
    """`python -m MODULE` with that environment, which reads `stdin` and is read by its standard output. Raises OSError.

    It finds this board and whatever PYTHONPATH names for us, but nothing in the folder we were called from, which may hold anything.
    """
    return subprocess.Popen(command(module), env=found_from(environment), stdin=stdin, stdout=subprocess.PIPE, stderr=stderr)


def command(module: str) -> list[str]:
    """What starts `python -m MODULE`, which finds nothing in the folder it is called from."""
    return [sys.executable, "-P", "-m", module]


def found_from(environment: Mapping[str, str]) -> dict[str, str]:
    """That environment, in which this board is found, and whatever PYTHONPATH names for us."""
    return {**environment, "PYTHONPATH": os.pathsep.join(filter(None, [str(_PACKAGES), os.environ.get("PYTHONPATH")]))}
