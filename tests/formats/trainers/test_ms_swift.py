"""Tests of ms-swift's completions."""

from typing import Any

import pytest
from golden_runs import flat, golden, golden_head, read_one

from board import formats
from board.errors import RowRefused
from board.formats.contract import Head, Place
from board.formats.trainers import ms_swift

PROMPT = "<|im_start|>user\n2+2?<|im_end|>\n<|im_start|>assistant\n"
COLUMNS: dict[str, Any] = {"step": ["1", "1"], "prompt": ["p", "p"], "completion": ["a", "b"], "advantages": [0.5, -0.5]}


def test_a_line_of_columns() -> None:
    """Each entry makes a rollout with every column's value, the total made from the reward functions' columns."""
    rows = golden(ms_swift, "completions.jsonl")

    assert [row.step for row in rows] == [10, 10, 10, 10, 20, 20]
    assert flat(rows[0]) == {
        "step": 10,
        "prompt": PROMPT,
        "response": "4",
        "ground_truth": "4",
        "Accuracy": 1.0,
        "Format": 1.0,
        "reward": 2.0,
        "advantage": 0.7,
        "num_turns": 1.0,
        "entropy": 0.5,
    }


def test_a_reward_that_is_missing() -> None:
    """It counts for nothing in the sum and is missing itself; an advantage and an entropy that are NaN are so."""
    row = flat(golden(ms_swift, "completions.jsonl")[3])

    assert (row.get("Format"), row["reward"], row["advantage"], row["entropy"]) == (None, 0.0, None, None)


def test_a_line_of_megatron() -> None:
    """Its step is that of the generation."""
    rows = golden(ms_swift, "megatron/completions.jsonl")

    assert [(row.step, row.texts["response"], row.numbers["reward"]) for row in rows] == [(3, "4", 1.0), (3, "5", 0.0)]


def test_lines_of_ray() -> None:
    """A line is a rollout, its reward the total; where there is none, none is made."""
    first, second, third = map(flat, golden(ms_swift, "ray/completions.jsonl"))

    assert first == {"step": 10, "prompt": PROMPT, "response": "4", "reward": 1.0}
    assert "reward" not in second
    assert (third["step"], third["reward"]) == (11, None)


READ: dict[str, tuple[dict[str, Any], dict[str, Any]]] = {
    "no reward function": ({}, {}),
    "a total alone": ({"reward": [1.0, 0.0]}, {"reward": 1.0}),
    "a function called reward beside another": (
        {"reward": [1.0, 0.0], "b": [0.5, 0.5]},
        {"reward": 1.5, "reward (logged)": 1.0, "b": 0.5},
    ),
    "another list": ({"tags": [["x"], []]}, {"tags": '["x"]'}),
    "one value for all": ({"model": "m"}, {"model": "m"}),
    "a name of ours": ({"response": ["x", "y"]}, {"response (logged)": "x"}),
}


@pytest.mark.parametrize(("fields", "expected"), READ.values(), ids=READ)
def test_what_a_column_becomes(fields: dict[str, Any], expected: dict[str, Any]) -> None:
    """Floats between completion and advantages are rewards; anything else is kept."""
    record = {key: COLUMNS[key] for key in ("step", "prompt", "completion")} | fields | {"advantages": COLUMNS["advantages"]}

    found = formats.read(record, ms_swift, Place("completions.jsonl", 1))[0]

    assert flat(found) == {"step": 1, "prompt": "p", "response": "a", "advantage": 0.5} | expected


def test_numbers_behind_the_advantages_are_no_rewards() -> None:
    """The order of the columns tells a reward function from what else was logged."""
    rows = formats.read({**COLUMNS, "length": [3.0, 4.0]}, ms_swift, Place("completions.jsonl", 1))

    assert [row.numbers for row in rows] == [{"advantage": 0.5, "length": 3.0}, {"advantage": -0.5, "length": 4.0}]


def test_messages_of_an_old_version() -> None:
    """They stand for the prompt, shown as turns."""
    record = {"step": ["1"], "messages": [[{"role": "user", "content": "2+2?"}]], "completion": ["4"], "reward": [1.0]}

    row = read_one(ms_swift, record)

    assert flat(row) == {"step": 1, "prompt": "user:\n2+2?", "response": "4", "reward": 1.0}


REFUSED: dict[str, tuple[dict[str, Any], str]] = {
    "no completions": ({"completion": None}, "has no `completion`; its keys are: step, prompt, completion, advantages"),
    "no steps": ({"step": None}, "has no `step`; its keys are"),
    "a short column": ({"advantages": [0.5]}, "`advantages` has 1 value against 2 in `completion`"),
    "a long column": ({"prompt": ["p"] * 3}, "`prompt` has 3 values against 2 in `completion`"),
    "a step that is none": ({"step": ["x", "1"]}, '`step` is "x", which is not a whole number'),
}


@pytest.mark.parametrize(("fields", "reason"), REFUSED.values(), ids=REFUSED)
def test_damaged_lines_are_refused(fields: dict[str, Any], reason: str) -> None:
    """The reason names the column; nothing is paired by guess."""
    with pytest.raises(RowRefused) as refusal:
        formats.read(COLUMNS | fields, ms_swift, Place("completions.jsonl", 1))

    assert str(refusal.value).startswith(reason)


def test_recognition() -> None:
    """Columns with steps, or a completion with the step of its generation; not a row of another trainer."""
    for name in ("completions.jsonl", "megatron/completions.jsonl", "ray/completions.jsonl"):
        assert ms_swift.recognise(golden_head(ms_swift, name))
    assert not ms_swift.recognise(Head("completions.jsonl", ({"step": 1, "prompt": "p", "completion": "c", "advantage": 1.0},)))


def test_note() -> None:
    """What was summed is said by name; nothing where the total is stored."""
    said = "The trainer stores no total, so reward is the unweighted sum of Accuracy, Format."

    assert ms_swift.note(golden_head(ms_swift, "completions.jsonl")) == said
    assert ms_swift.note(golden_head(ms_swift, "ray/completions.jsonl")) == ""
    assert ms_swift.note(Head("a", ({**COLUMNS, "prompt": ["p"]}, {**COLUMNS, "completion": []}))) == ""
