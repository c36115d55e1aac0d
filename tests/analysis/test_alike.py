"""Conditions for all that is like a rollout: they hold for it, and for exactly those that share it."""

from pathlib import Path

from rows import row, write_run

from board import open_run
from board.analysis.rollouts.rollout_facts import conditions_of_alike
from board.sql.condition import matching


def test_each_holds_for_those_that_share_it(tmp_path: Path) -> None:
    """By step, prompt, group and source, quotes in a source included, the rollouts that satisfy it are those that share it."""
    rows = [
        row(step, prompt=f"prompt {at // 2}", data_source=("it's", "b")[at % 2], reward=float(at))
        for step in range(2)
        for at in range(4)
    ]
    run = open_run(write_run(tmp_path / "run", {"a.jsonl": rows}))

    found = {said: run.frame.index[matching(run, condition)].tolist() for said, condition in conditions_of_alike(run, 4).items()}

    assert found == {"its step": [4, 5, 6, 7], "its prompt": [0, 1, 4, 5], "its group": [4, 5], "its data_source": [0, 2, 4, 6]}


def test_what_is_missing_is_no_condition(tmp_path: Path) -> None:
    """Of a row without prompt and source only its step is shared."""
    run = open_run(write_run(tmp_path / "run", {"a.jsonl": [row(0), row(0, data_source="a")]}))

    assert set(conditions_of_alike(run, 0)) <= {"its step", "its group"}
