"""Which rollouts satisfy a condition: over numbers and texts, of runs in the cache and out of it, and what is refused."""

import json
from pathlib import Path

import pytest
from rows import row, write_run

from board import open_run
from board.errors import BoardError
from board.runs.run import Run
from board.sql import sandbox_table
from board.sql.condition import matching
from board.sql.identifiers import may_be_named
from board.sql.run_table import columns, run_table
from board.sql.sandbox_client import Limits
from board.sql.sandbox_table import WITHIN

ROWS = [
    row(
        step,
        reward=float(at),
        response=f"{'Да ' if at % 2 else ''}it's {step}-{at}",
        prompt=f"prompt {at}",
        data_source="ab"[at % 2],
    )
    for step in range(3)
    for at in range(4)
]


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Run:
    """Twelve rollouts in two shards, the later steps read first."""
    folder = write_run(tmp_path_factory.mktemp("run"), {"a.jsonl": ROWS[6:], "b.jsonl": [*ROWS[:6], row(9)]})
    return open_run(folder)


def satisfied(run: Run, condition: str) -> list[tuple[int, float]]:
    """Step and reward of the rollouts that satisfy it."""
    chosen = run.frame[matching(run, condition)].sort_values(["step", "reward"])
    return [(int(step), float(reward)) for step, reward in zip(chosen["step"], chosen["reward"], strict=True)]


GOOD: dict[str, tuple[str, list[tuple[int, float]]]] = {
    "a number": ("reward > 2", [(0, 3.0), (1, 3.0), (2, 3.0)]),
    "another case": ("REWARD > 2 AND Step = 1", [(1, 3.0)]),
    "a text": ("response LIKE '%1-%'", [(1, 0.0), (1, 1.0), (1, 2.0), (1, 3.0)]),
    "letters of any script, in any case": ("response ILIKE 'дА%' AND step = 2", [(2, 1.0), (2, 3.0)]),
    "a text and a number": ("response LIKE '%it''s%' AND reward = 0", [(0, 0.0), (1, 0.0), (2, 0.0)]),
    "an expression of letters": ("regexp_matches(response, '-[12]$') AND step = 0", [(0, 1.0), (0, 2.0)]),
    "an id": ("data_source = 'b' AND step = 0", [(0, 1.0), (0, 3.0)]),
    "a missing number satisfies nothing": (
        "reward > 0 OR reward <= 0",
        [(step, float(at)) for step in range(3) for at in range(4)],
    ),
    "a subquery": ("reward > (SELECT avg(reward) FROM rollouts) AND step = 0", [(0, 2.0), (0, 3.0)]),
    "a subquery over texts": ("prompt IN (SELECT max(prompt) FROM rollouts) AND step < 1", [(0, 3.0)]),
    "a subquery of the row's own": (
        "reward = (SELECT max(other.reward) FROM rollouts other WHERE other.step = rollouts.step)",
        [(0, 3.0), (1, 3.0), (2, 3.0)],
    ),
    "a product": ("reward * 2 = 6 AND step = 0", [(0, 3.0)]),
    "every column": ("(SELECT count(*) FROM (SELECT * FROM rollouts)) = 13 AND step = 0 AND reward = 0", [(0, 0.0)]),
    "several lines and a comment": ("reward > 2 -- the best\nAND step = 0", [(0, 3.0)]),
    "none": ("reward > 99", []),
}


@pytest.mark.parametrize("name", GOOD)
def test_rollouts_that_satisfy_it(run: Run, name: str) -> None:
    """Exactly the rows for which the condition is true, whatever order they were read in."""
    condition, wanted = GOOD[name]

    assert satisfied(run, condition) == wanted


def test_a_part_of_a_run_is_all_there_is(run: Run) -> None:
    """Of some steps alone, others are neither found nor counted, though their texts lie in the same files."""
    within = run.of_steps(1, 1)

    assert satisfied(within, "response LIKE '%it%' AND (SELECT count(*) FROM rollouts) = 4") == [
        (1, float(at)) for at in range(4)
    ]


BAD: dict[str, tuple[str, str]] = {
    "misspelt": ("rewrad > 1", 'Candidate bindings: "reward"'),
    "misspelt text": ("respons LIKE 'a'", '"response"'),
    "no condition": (" ", "no condition"),
    "no SQL": ("mean of reward", "syntax error"),
    "a column of another kind": ("response > 1", "Cannot compare values"),
    "asks for something else": ("true) UNION ALL SELECT (12", "closes a bracket"),
    "another statement": ("true); DROP VIEW rollouts; --", "closes a bracket"),
    "a file": ("EXISTS (SELECT * FROM read_text('/etc/passwd'))", "disabled"),
    "half a character": ("response = '\ud800'", "no text"),
    "long": ("reward > 1 " * 2_000, "the most that is read"),
    "endless brackets": ("(" * 100, "does not close"),
}


@pytest.mark.parametrize("name", BAD)
def test_why_it_is_no_condition(run: Run, name: str) -> None:
    """DuckDB's own words for what it refuses, ours for what is not allowed."""
    condition, reason = BAD[name]

    with pytest.raises(BoardError, match=reason):
        matching(run, condition)


def test_time_is_limited(run: Run) -> None:
    """A condition without end is stopped."""
    endless = "(SELECT count(*) FROM range(1000000000000)) > reward"

    with pytest.raises(BoardError, match="longer than 1 second"):
        matching(run, endless, Limits(seconds=1))


def test_an_empty_run_has_none(tmp_path: Path) -> None:
    """Nothing is asked of a run without rollouts."""
    empty = open_run(write_run(tmp_path / "run", {"a.jsonl": [row(0)]})).of_steps(5, 6)

    assert matching(empty, "reward > 1").tolist() == []


def test_without_a_cache_the_same_is_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where nothing can be kept, texts are handed over for the time of the question."""
    blocked = tmp_path / "cache"
    blocked.write_text("")
    monkeypatch.setenv("RL_BOARD_CACHE", str(blocked))
    run = open_run(write_run(tmp_path / "run", {"a.jsonl": ROWS}))

    assert satisfied(run, "response LIKE '%2-3'") == [(2, 3.0)]


def test_texts_are_mapped_where_they_lie(run: Run) -> None:
    """Of a run in the cache no text is sent, only where it lies; a file that is another by then is refused."""
    asked = run_table(run, ["response"])

    assert [type(piece).__name__ for piece in asked.texts["response"]] == ["ColumnInFile", "ColumnInFile"]
    assert asked.scalars.column_names == ["rollout"]
    pieces = [[str(one.path), one.column, one.inode + 1] for one in asked.texts["response"]]
    sent = asked.scalars.replace_schema_metadata({sandbox_table.TEXTS: json.dumps({"response": pieces})})
    with pytest.raises(OSError, match="no longer the file that was read"):
        sandbox_table.whole(sent)


def test_columns_that_are_not_asked_for_are_known(run: Run) -> None:
    """A column that a condition does not name is there by name and kind, without memory of its own."""
    asked = run_table(run, may_be_named(columns(run), "step > 1"))

    assert asked.scalars.column_names == ["step", "rollout"]
    assert asked.absent["reward"] == "number"
    assert asked.absent["response"] == asked.absent["data_source"] == "text"
    assert WITHIN not in columns(run)


def test_names_that_differ_in_case_alone(tmp_path: Path) -> None:
    """Of two columns of one name but for its case the later has a number behind it, and each is the one meant."""
    run = open_run(write_run(tmp_path / "run", {"a.jsonl": [row(0, score=1.0, Score=5.0), row(0, score=3.0, Score=4.0)]}))

    named = {given: name for name, given in columns(run).items() if given.lower() == "score"}

    assert sorted(name.lower() for name in named.values()) == ["score", "score_2"]
    assert matching(run, f"{named['score']} > 2").tolist() == [False, True]
    assert matching(run, f"{named['Score']} > 4").tolist() == [True, False]


def test_prompts_have_keys(run: Run) -> None:
    """Rollouts of one prompt have one `prompt_key`, at whatever step."""
    same = "prompt_key = (SELECT max(prompt_key) FROM rollouts WHERE prompt = 'prompt 2')"

    assert satisfied(run, same) == [(step, 2.0) for step in range(3)]
