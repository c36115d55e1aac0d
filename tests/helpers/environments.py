"""Environments of their own for tests of what a framework writes: made where they are missing, reused where one is named."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

UNCOMPILED = {"PYTHONDONTWRITEBYTECODE": "1"}
"""For a process whose files are bounded: Python takes a compiled module that was cut at the bound for whole, and every later process has it."""


def python_with(home: Path, named: str, *requirements: str, python: str = sys.executable) -> str:
    """An interpreter that has these requirements: the one that the variable `named` names, else a new environment under `home`.

    Skips the test where they cannot be installed.
    """
    if given := os.environ.get(named):
        return given
    subprocess.run([python, "-m", "venv", home], check=True)
    install = [str(home / "bin/python"), "-m", "pip", "install", "--quiet", *requirements]
    done = subprocess.run(install, capture_output=True, text=True)
    if done.returncode:
        pytest.skip(f"{' '.join(requirements)} cannot be installed here: {done.stderr.strip().splitlines()[-1]}")
    return str(home / "bin/python")


def packages_in(folder: Path, named: str, *requirements: str) -> str:
    """A folder with these packages and nothing that they require: the one that the variable `named` names, else `folder`.

    Skips the test where they cannot be installed.
    """
    if given := os.environ.get(named):
        return given
    install = [sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", "--target", str(folder), *requirements]
    done = subprocess.run(install, capture_output=True, text=True)
    if done.returncode:
        pytest.skip(f"{' '.join(requirements)} cannot be installed here: {done.stderr.strip().splitlines()[-1]}")
    return str(folder)
