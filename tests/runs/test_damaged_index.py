"""Tests of an index that is damaged on its disk: every answer is that of the sound index, or an error that names what is damaged."""

import json
import os
import random
import shutil
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path
from typing import Any

import pytest
from indexed import indexed
from rows import token_row, write_run

from board import open_run
from board.cli.indexing import step_sums
from board.cli.replies.metric_rows import metrics
from board.cli.replies.one_rollout import RolloutRequest, one_rollout
from board.cli.replies.query import query
from board.cli.replies.rollouts import RolloutQuestion, rollouts
from board.cli.replies.steps import steps
from board.cli.replies.summary import summary
from board.errors import BoardError
from board.runs.indexed.slices import SETTING
from board.runs.run import Run
from board.sources import index_file

STEPS, EACH = 8, 6

FLIPS = {
    "larger than memory": ("20", 9),
    "in memory": ("1000", 18),
    "larger than memory, many": ("20", 100),
    "in memory, many": ("1000", 100),
}
"""Name → how many rollouts are held in memory, and how many bits are turned."""

QUESTIONS: dict[str, Callable[[Run], Any]] = {
    "summary": lambda run: asdict(summary(run, "a")),
    "steps": lambda run: asdict(steps(run, "a")),
    "metrics": lambda run: asdict(metrics(run, "a", ["reward/mean"])),
    "rollouts": lambda run: asdict(rollouts(run, "a", RolloutQuestion())),
    "a step": lambda run: run.at_step(3).to_pandas().to_csv(index=False),
    "show": lambda run: [asdict(one_rollout(run, "a", RolloutRequest(step=step))) for step in (0, 7)],
    "filter": lambda run: asdict(rollouts(run, "a", RolloutQuestion(where="reward > 3"))),
    "sql": lambda run: asdict(
        query(run, "SELECT step, count(*), sum(reward), min(response_length) FROM rollouts GROUP BY step ORDER BY step")
    ),
}


@pytest.fixture(scope="module")
def sound(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two indexes with several files of rows; their runs are gone."""
    place = tmp_path_factory.mktemp("damaged")
    for name in ("index", "other"):
        rows = [
            token_row(step, prompt=f"{step}.{one // 2}", reward=float(one) + (name == "other"), id=f"r{step}.{one}")
            for step in range(STEPS)
            for one in range(EACH)
        ]
        write_run(place / f"run {name}", {"a.jsonl": rows[::2], "b.jsonl": rows[1::2]})
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(step_sums, "STRETCH_ROLLOUTS", 12)
            indexed(place / f"run {name}", place / name)
        shutil.rmtree(place / f"run {name}")
    return place


def answers(index: Path, asked: dict[str, Callable[[Run], Any]]) -> dict[str, str]:
    """What each question gives as JSON, or the sentence of its error after "error: ": nothing is kept of what was read before."""
    shutil.rmtree(os.environ["RL_BOARD_CACHE"], ignore_errors=True)

    try:
        run = open_run(index)
    except BoardError as error:
        return dict.fromkeys(asked, f"error: {error}")

    def answer(ask: Callable[[Run], Any]) -> str:
        try:
            told = json.dumps(ask(run), default=str)
            return f"error: {run.report.problems}" if run.report.problems else told
        except BoardError as error:
            return f"error: {error} {run.report.problems}"

    return {name: answer(ask) for name, ask in asked.items()}


def check_same_or_told(index: Path, wanted: dict[str, str], asked: dict[str, Callable[[Run], Any]], what: str) -> int:
    """Compare with what the sound index gives; how many answers are errors."""
    found = answers(index, asked)
    for name, told in found.items():
        assert told == wanted[name] or ("error: " in told and "rl-logging-board index" in told), (what, name, told[:400])
    return sum(told != wanted[name] for name, told in found.items())


def copied(sound: Path, tmp_path: Path, asked: dict[str, Callable[[Run], Any]]) -> tuple[Path, list[Path], dict[str, str]]:
    """An index to be damaged, its files, and what the questions give before."""
    index = tmp_path / "index"
    shutil.copytree(sound / "index", index)
    wanted = answers(index, asked)
    assert [told for told in wanted.values() if told.startswith("error")] == []
    return index, sorted(path for path in index.rglob("*") if path.is_file() and path.stat().st_size), wanted


def kind(path: Path) -> tuple[str, bool]:
    """What files of one kind have in common: the rows, the sums, and what says which there are."""
    return path.suffix, path.parent.name == index_file.ROWS


def one_of_each_kind(files: list[Path]) -> list[Path]:
    """One from the middle of each."""
    return [
        same[(len(same) - 1) // 2]
        for one in dict.fromkeys(map(kind, files))
        if (same := [path for path in files if kind(path) == one])
    ]


@pytest.mark.parametrize("name", [pytest.param(one, marks=[pytest.mark.slow] if one.endswith("many") else []) for one in FLIPS])
def test_no_turned_bit_changes_an_answer(name: str, sound: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A bit that turned anywhere in an index is an error, or of no consequence."""
    memory, flips = FLIPS[name]
    monkeypatch.setenv(SETTING, memory)
    index, files, wanted = copied(sound, tmp_path, QUESTIONS)
    dice, names, errors = random.Random(33), [*QUESTIONS], 0
    files = files if flips > len(files) else one_of_each_kind(files)
    for at in range(flips):
        path = files[at % len(files)]
        data = path.read_bytes()
        place = dice.randrange(len(data))
        path.write_bytes(data[:place] + bytes([data[place] ^ 1 << dice.randrange(8)]) + data[place + 1 :])
        asked = {name: QUESTIONS[name] for name in dice.sample(names, 3)}
        errors += check_same_or_told(index, wanted, asked, f"{path.name} at {place}")
        path.write_bytes(data)
    assert errors > flips // 10


DAMAGES: dict[str, Callable[[Path, Path], object]] = {
    "cut": lambda path, other: path.write_bytes(path.read_bytes()[: path.stat().st_size // 2]),
    "zeroed": lambda path, other: path.write_bytes(path.read_bytes()[:100] + bytes(200) + path.read_bytes()[300:]),
    "zeroed end": lambda path, other: path.write_bytes(path.read_bytes()[:-64] + bytes(64)),
    "longer": lambda path, other: path.write_bytes(path.read_bytes() + bytes(4096)),
    "another index's": lambda path, other: path.write_bytes(other.read_bytes()),
    "empty": lambda path, other: path.write_bytes(b""),
    "gone": lambda path, other: path.unlink(),
}


@pytest.mark.parametrize("every", [False, pytest.param(True, marks=pytest.mark.slow)], ids=["one of each kind", "every file"])
@pytest.mark.parametrize("damage", DAMAGES)
def test_no_damaged_file_changes_an_answer(
    damage: str, every: bool, sound: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Every file of an index, spoilt as a whole, is an error, or of no consequence."""
    monkeypatch.setenv(SETTING, "20")
    asked = {name: QUESTIONS[name] for name in ("steps", "a step", "show")}
    index, files, wanted = copied(sound, tmp_path, asked)
    others = [path for path in sorted((sound / "other").rglob("*")) if path.is_file() and path.stat().st_size]
    for path in files if every else one_of_each_kind(files):
        data = path.read_bytes()
        DAMAGES[damage](path, [one for one in others if kind(one) == kind(path)][-1])
        check_same_or_told(index, wanted, asked, path.name)
        path.write_bytes(data)
