"""What a kind may look at: rollouts of training alone, numbers that are numbers, groups, texts, and rows in the order of their clearness."""

from pathlib import Path

import numpy as np
import pytest
from rows import row, write_run

from board import open_run
from board.findings.context import Context

ROWS = [
    row(0, prompt="p", response="a", reward=1.0, data_source="math"),
    row(0, prompt="p", response="b", reward=3.0, data_source="math"),
    row(0, prompt="q", response="c", reward=5.0),
    row(1, prompt="q", response="d", reward=None, data_source="code", odd="x"),
    row(1, prompt="q", response="e", reward=2.0, odd=7),
    row(1, prompt="q", response="f", reward=9.0, split="evaluation"),
]


@pytest.fixture
def context(tmp_path: Path) -> Context:
    """The context of ROWS."""
    return Context(open_run(write_run(tmp_path, {"a.jsonl": ROWS})))


def test_evaluations_are_left_out(context: Context) -> None:
    """Rollouts of an evaluation are in no number; they are in the whole run."""
    assert np.array_equal(context.number("reward"), [1, 3, 5, np.nan, 2], equal_nan=True)
    assert len(context.whole.frame) == 6


def test_what_there_is(context: Context) -> None:
    """Columns, texts and arrays are there when some row has one; what is no number is none."""
    assert context.has("reward", "response", "data_source")
    assert not context.has("logprobs")
    assert np.isnan(context.number("nothing")).all()
    assert np.isnan(context.number("data_source")).all()


def test_numbers_by_group(context: Context) -> None:
    """Within groups a value is what it is above its group's mean; a rollout alone with a value has none."""
    assert np.array_equal(context.within_groups(context.number("reward")), [-1, 1, np.nan, np.nan, np.nan], equal_nan=True)
    assert context.group_rows[0] == context.group_rows[1] != context.group_rows[3] == context.group_rows[4]


def test_sources_and_texts(context: Context) -> None:
    """Data sources are numbered, -1 where none is named; texts come by row, None where there is none."""
    assert context.sources.tolist() == [0, 0, -1, 1, -1]
    assert context.texts("response", np.array([2, 0])) == ["c", "a"]
    assert context.texts("ref_response", np.array([0])) == [None]


def test_clearest_first(context: Context) -> None:
    """Marked rows come as keys, by the number given, missing ones last."""
    reward = context.number("reward")

    assert context.clearest(np.ones(5, bool), reward).tolist() == [2, 1, 4, 0, 3]
    assert context.clearest(context.since(1)).tolist() == [3, 4]


def test_measures_are_columns(tmp_path: Path) -> None:
    """A measure of parts stands beside the run's own columns, whose names it cannot take."""
    run = open_run(write_run(tmp_path, {"a.jsonl": ROWS[:3], "b.jsonl": ROWS[3:]}))
    measures = {
        "twice": lambda part: {"twice": 2 * part.scalars.column("line").to_numpy().astype(float), "reward": np.zeros(len(part))}
    }
    shares: list[float] = []
    context = Context(run, measures, shares.append)

    assert context.number("twice").tolist() == [2, 4, 6, 2, 4]
    assert context.number("reward")[0] == 1
    assert shares[-1] == 1
