"""examples/own_package: a package of somebody else, installed, adds a format and a kind of finding; what is broken in one is left out."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

REPOSITORY = Path(__file__).parents[2]
PACKAGE = REPOSITORY / "examples" / "own_package"

ROWS = [
    {
        "iteration": step,
        "question": f"question {group}",
        "answer": "I'm sorry, I cannot." if (step + member) % 2 else "It is four.",
        "score": float(member % 2),
        "group": f"{step}-{group}",
    }
    for step in range(4)
    for group in range(4)
    for member in range(4)
]
"""Four steps of four groups of four, as the package's trainer writes them."""


@pytest.fixture
def run(tmp_path: Path) -> Path:
    """A run of that trainer."""
    folder = tmp_path / "run"
    folder.mkdir()
    (folder / "rollouts.jsonl").write_text("".join(json.dumps(row) + "\n" for row in ROWS))
    return folder


def installed(package: Path, target: Path) -> Path:
    """The folder into which pip installed a package, built in a copy of its sources."""
    sources = target.with_name(f"{target.name}-sources")
    shutil.copytree(package, sources)
    pip = [sys.executable, "-m", "pip", "install", "--quiet", "--no-index", "--no-deps", "--no-build-isolation"]
    subprocess.run([*pip, "--target", str(target), str(sources)], check=True, capture_output=True, timeout=300)
    return target


def answered(target: Path, *arguments: str | Path) -> tuple[subprocess.CompletedProcess[str], Any]:
    """What the board's command answers as JSON where the packages in a folder are installed beside it."""
    environment = os.environ | {"PYTHONPATH": os.pathsep.join([str(REPOSITORY), str(target)])}
    command = [sys.executable, "-m", "board", *map(str, arguments), "--json"]
    ended = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=300, check=False)
    return ended, json.loads(ended.stdout) if ended.stdout else {}


def test_a_package_adds_a_format_and_a_kind_of_finding(tmp_path: Path, run: Path) -> None:
    """Its files open under the board's names, here and in the processes that parse, and its kind is looked for."""
    target = installed(PACKAGE, tmp_path / "site")

    ended, rollouts = answered(target, "rollouts", run, "--where", "step = 1")
    _, findings = answered(target, "findings", run)

    assert ended.returncode == 0, ended.stderr
    assert len(rollouts["rollouts"]) == 16
    assert {row["values"]["reward"] for row in rollouts["rollouts"]} == {0.0, 1.0}
    assert [one["title"] for one in findings["findings"] if one["kind"] == "apologies"] == ["Responses apologise"]


BROKEN = {
    "cannot be imported": ("raise OSError('no licence')", "no licence"),
    "is no format": ("NAME = 'half'", "it is no format"),
    "has a name that is taken": (
        (PACKAGE / "lab_board" / "lab_trainer.py").read_text().replace("lab trainer", "verl"),
        "a format is named verl already",
    ),
}
"""What is wrong → the module, and what the warning says of it."""


@pytest.mark.parametrize("broken", BROKEN)
def test_a_format_that_is_broken_is_left_out(tmp_path: Path, run: Path, broken: str) -> None:
    """The board goes on without it, and says why."""
    module, reason = BROKEN[broken]
    package = tmp_path / "package"
    shutil.copytree(PACKAGE, package)
    (package / "lab_board" / "lab_trainer.py").write_text(module)
    (run / "rollouts.jsonl").write_text('{"step": 1, "response": "a", "reward": 0.5}\n')

    ended, summary = answered(installed(package, tmp_path / "site"), "summary", run)

    assert ended.returncode == 0, ended.stderr
    assert reason in ended.stderr
    assert summary["rollouts"] == 1


def test_a_format_that_fails_at_a_row_costs_that_row(tmp_path: Path, run: Path) -> None:
    """What another package's code raises is the reason why a line is not read; the others are, and the cache knows the code it was made by."""
    package = tmp_path / "package"
    shutil.copytree(PACKAGE, package)
    module = package / "lab_board" / "lab_trainer.py"
    text = module.read_text()
    module.write_text(text.replace("    return [{_NAMES", "    1 / (record['iteration'] - 2)\n    return [{_NAMES"))

    _, failing = answered(target := installed(package, tmp_path / "failing"), "summary", run)
    _, checked = answered(target, "check", run)
    _, mended = answered(installed(PACKAGE, tmp_path / "mended"), "summary", run)

    assert (failing["rollouts"], failing["refused"]) == (48, 16)
    assert "ZeroDivisionError" in json.dumps(checked)
    assert (mended["rollouts"], mended["refused"]) == (64, 0)
