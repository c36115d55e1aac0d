"""Test of the paragraph "Your file is not in the list?": its three commands, as they stand on the page, end with an open run."""

import csv
import os
import re
import shlex
import signal
import subprocess
import sys
from pathlib import Path
from urllib.request import urlopen

import pytest
from board_process import eventually
from layout import LAYOUTS

REPOSITORY = Path(__file__).parents[2]


def commands(page: str) -> list[str]:
    """The lines of the first block behind the question."""
    text = (REPOSITORY / page).read_text(encoding="utf-8")
    found = re.search(r"\*\*[^*]*[?？]\*\*[^`]*```\n(.*?)\n```", text, re.DOTALL)
    assert found
    return found[1].splitlines()


def test_both_languages_say_the_same() -> None:
    """The commands are the same on both pages, and each has one table of writers: files, release, how they were made, what is missing."""
    pages = ("docs/formats.md", "docs/zh-CN/formats.md")
    both = [[line.partition("#")[0].strip() for line in commands(page)] for page in pages]
    rows = [re.findall(r"^(?:\|[^|\n]+){5}\|$", (REPOSITORY / page).read_text(encoding="utf-8"), re.MULTILINE) for page in pages]

    assert (both[0], len(both[0])) == (both[1], 3)
    assert len(rows[0]) == len(rows[1]) > 15


@pytest.mark.parametrize("name", ["qwen_math_outputs", "deepmath", "vally"])
def test_three_commands_open_the_run(tmp_path: Path, name: str) -> None:
    """In a folder with a run called RUN a shell obeys each line as it is: the first says why, the second writes, the third serves rollouts."""
    LAYOUTS[name].copied(tmp_path).rename(tmp_path / "RUN")
    command = tmp_path / "bin" / "rl-logging-board"  # as pip puts it there
    command.parent.mkdir()
    command.write_text(f'#!/bin/sh\nexec {shlex.quote(sys.executable)} -m board "$@"\n')
    command.chmod(0o755)
    path = f"{command.parent}:{Path(sys.executable).parent}:{os.environ['PATH']}"
    told = {"HOME": str(tmp_path), "RL_BOARD_CACHE": str(tmp_path / "cache"), "PYTHONPATH": str(REPOSITORY), "BROWSER": "true"}
    env = os.environ | told | {"PATH": path}
    why, keep, serve = commands("docs/formats.md")

    said = subprocess.run(why, shell=True, cwd=tmp_path, env=env, capture_output=True, text=True, timeout=120)
    assert (said.returncode, said.stdout) == (2, "")
    assert "[fields]" in said.stderr
    subprocess.run(keep, shell=True, cwd=tmp_path, env=env, check=True, timeout=120)
    assert (tmp_path / "mapping.toml").read_text().strip() in said.stderr
    output = tmp_path / "output.txt"
    with output.open("wb") as out:
        served = subprocess.Popen(serve, shell=True, cwd=tmp_path, env=env, stdout=out, stderr=out, start_new_session=True)
    try:
        eventually(lambda: b"Ctrl+C" in output.read_bytes() or served.poll() is not None)
        (address,) = re.findall(r"http://\S+/", output.read_text())
        with urlopen(f"{address}export?run=.") as answer:
            rows = [*csv.DictReader(answer.read().decode("utf-8-sig").splitlines(keepends=True))]
    finally:
        os.killpg(served.pid, signal.SIGTERM)
        served.wait(timeout=60)
    first = {ours: text.strip() for ours, text in (LAYOUTS[name].first or {"prompt": "How many are 0 and 0?"}).items()}
    assert {ours: rows[0][ours].strip() for ours in first} == first
