"""Chips of a filter, some answered by comparing numbers and some by DuckDB, leave what their SQL leaves."""

from pathlib import Path

import pytest
from rows import row, write_run

from board import open_run
from board.cli.replies.query import query
from board.errors import BoardError
from board.runs.run import Run
from board.sql.chips import condition, parsed
from board.sql.condition import matching
from board.sql.filtering import left_by
from board.sql.query import evaluate


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Run:
    """Twelve rollouts in two shards, the later steps read first, and one without a reward."""
    rows = [row(step, reward=float(at), response=f"it's {step}-{at}", prompt=f"p{at}") for step in range(3) for at in range(4)]
    return open_run(write_run(tmp_path_factory.mktemp("run"), {"a.jsonl": rows[6:], "b.jsonl": [*rows[:6], row(9)]}))


FILTERS = {
    "a range": "step BETWEEN 1 AND 2",
    "negated": "NOT (step BETWEEN 1 AND 2)",
    "a missing number, negated": "NOT (reward > 1)",
    "with a text": "step BETWEEN 1 AND 2\nresponse LIKE '%-3'",
    "switched off": "-- step = 1\nreward = 2",
    "a subquery sees all": "step = 1\nreward > (SELECT avg(reward) FROM rollouts WHERE step <> 1)",
    "a key": "rollout < 5",
    "nothing is left": "step = 1\nNOT (step = 1)\nresponse LIKE '%'",
}


@pytest.mark.parametrize("name", FILTERS)
def test_as_the_sql(run: Run, name: str) -> None:
    """The same rows as of all chips as one condition of DuckDB's."""
    chips = parsed(FILTERS[name])

    assert left_by(run, chips).tolist() == matching(run, condition(chips)).tolist()


def test_prompts(run: Run) -> None:
    """A prompt is found by its key; a part of the run that holds it, too."""
    key = int(run.prompt_keys[0])
    within = run.of_steps(1, 2)

    assert run.frame[left_by(run, parsed(f"prompt_key = {key}"))]["step"].tolist() == [0, 1, 2]
    assert within.frame[left_by(within, parsed(f"prompt_key = {key}"))]["step"].tolist() == [1, 2]


def test_columns_that_differ_in_case_alone(tmp_path: Path) -> None:
    """Each is reached by the name that a summary lists, by numbers and by DuckDB, in a filter and in a query."""
    rows = [row(0, reward=float(at), Reward=10.0 - at, prompt=f"p{at}") for at in range(4)]
    run = open_run(write_run(tmp_path / "alike", {"a.jsonl": rows}))

    for condition_of_both in ('"Reward" > 8 AND reward > 0', "Reward > 8 AND reward + 0 > 0"):
        assert left_by(run, parsed(condition_of_both)).tolist() == [False, True, False, False]
    assert query(run, 'SELECT avg("Reward") AS a, avg(reward) AS b FROM rollouts').rows == [[8.5, 1.5]]
    assert evaluate(run.frame, "SELECT step, avg(Reward) AS Reward FROM rollouts GROUP BY step").frame["Reward"].tolist() == [8.5]
    with pytest.raises(BoardError, match='reward or "Reward"'):
        left_by(run, parsed("REWARD > 8"))
