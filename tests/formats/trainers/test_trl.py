"""Tests of TRL's completions of GRPO. The golden run is what TRL itself wrote in three steps of a tiny model."""

import math
from typing import Any

import pytest
from golden_runs import flat, golden, golden_head, read_one

from board.errors import RowRefused
from board.formats.contract import Head
from board.formats.trainers import trl

ROW = {"step": 25, "prompt": "p", "completion": "c", "accuracy": 1.0, "advantage": 0.5}
CHAT = "conversational/completions/completions_00001.parquet"
DISTILLED = "distilled/completions/completions_00001.parquet"
STEPS = {1: "completions/completions_00001.parquet", 2: "completions/completions_00002.parquet"}


def test_a_row_of_trl() -> None:
    """Every column, the total made from the reward functions' columns."""
    row = flat(golden(trl, STEPS[1])[6])

    assert row == {
        "step": 1,
        "prompt": "Count to ten:",
        "response": row["response"],
        "digits": pytest.approx(0.32143, abs=1e-5),
        "starts_with_digit": 1.0,
        "reward": pytest.approx(1.32143, abs=1e-5),
        "advantage": pytest.approx(0.64737, abs=1e-5),
    }
    assert str(row["response"]).startswith("06c")


def test_a_reward_function_that_gave_none() -> None:
    """It counts for nothing in the sum, and has no number of its own."""
    row = golden(trl, STEPS[1])[3]

    assert "starts_with_digit" not in row.numbers
    assert row.numbers["reward"] == row.numbers["digits"]


def test_a_conversation() -> None:
    """Where the data set is of messages, prompt and completion are too: roles and turns, and a single answer alone."""
    row = golden(trl, CHAT)[0]

    assert row.texts["prompt"].startswith("system:\nAnswer with a number.\n\nuser:\n")
    assert not row.texts["response"].startswith("assistant:")
    assert row.flags == []


CALL = {"type": "function", "function": {"name": "add", "arguments": {"a": 2}}}
ASKED = [{"role": "user", "content": "2+2?", "tool_calls": None}]
SPOKEN: dict[str, tuple[list[dict[str, Any]], str]] = {
    "one turn": ([{"role": "assistant", "content": "4", "tool_calls": None}], "4"),
    "with a tool": (
        [
            {"role": "assistant", "content": None, "tool_calls": [CALL]},
            {"role": "tool", "content": "4", "tool_calls": None},
            {"role": "assistant", "content": "It is 4.", "tool_calls": None},
        ],
        'assistant:\n→ add({"a": 2})\n\ntool:\n4\n\nassistant:\nIt is 4.',
    ),
    "with thoughts": ([{"role": "assistant", "content": "4", "thinking": "two and two"}], "<think>\ntwo and two\n</think>\n4"),
    "with an image": (
        [{"role": "assistant", "content": [{"type": "image", "text": None}, {"type": "text", "text": "4"}]}],
        "[image]\n4",
    ),
}


@pytest.mark.parametrize(("messages", "text"), SPOKEN.values(), ids=SPOKEN)
def test_messages_become_text(messages: list[dict[str, Any]], text: str) -> None:
    """As chat prompts are: every turn, its calls and its thoughts, without the nulls that a table fills in."""
    row = read_one(trl, {**ROW, "prompt": ASKED, "completion": messages})

    assert (row.texts["prompt"], row.texts["response"], row.numbers["reward"]) == ("user:\n2+2?", text, 1.0)


def test_a_null_changes_nothing_of_what_is_a_reward() -> None:
    """A column whose function does not apply to a row is a reward there, too: what stands behind it counts in every row."""
    rows = [
        {"step": 1, "prompt": "p", "completion": "c", "brief": brief, "tidy_func": 1.0, "shown": 0.5} for brief in (0.25, None)
    ]

    assert [read_one(trl, {**row, "advantage": 0.5}).numbers["reward"] for row in rows] == [1.75, 1.5]


def test_distillation_has_no_reward() -> None:
    """TRL's distillation writes the same files with nothing but texts: no reward is made up."""
    rows = golden(trl, DISTILLED)

    assert len(rows) == 4
    assert all(row.texts["response"] and not row.numbers and row.step == 1 for row in rows)


def test_a_file_is_a_step() -> None:
    """Eight completions, four to a prompt."""
    rows = golden(trl, STEPS[2])

    assert [row.step for row in rows] == [2] * 8
    assert sorted(row.texts["prompt"] for row in rows) == ["Give me a digit, please:"] * 4 + ["How old is the moon?"] * 4


READ: dict[str, tuple[dict[str, Any], dict[str, Any]]] = {
    "parts that cancel": ({"b_reward": -1.0}, {"b_reward": -1.0, "reward": 0.0}),
    "NaN": ({"b_reward": math.nan}, {"reward": 1.0}),
    "no reward at all": ({"accuracy": None}, {}),
    "a total": ({"reward": 0.5}, {"reward": 0.5}),
    "a total by another name": ({"total_reward": 2}, {"reward": 2.0}),
    "a total in an object": ({"rewards": {"a": 1.0, "sum": 3.0}}, {"reward.a": 1.0, "reward.sum": 3.0, "reward": 3.0}),
    "a metric": ({"kl": 0.25, "response_length": 37.0}, {"kl (logged)": 0.25, "response_length": 37.0, "reward": 1.0}),
    "a number that a reward function logged": ({"similarity": 0.25}, {"similarity": 0.25, "reward": 1.0}),
    "a whole reward": ({"tidy_reward": 1}, {"tidy_reward": 1.0, "reward": 2.0}),
    "a reward of a length": ({"length_penalty": -0.5}, {"length_penalty": -0.5, "reward": 0.5}),
    "an extra column of text": ({"answer": "4"}, {"answer": "4", "reward": 1.0}),
    "an extra column of whole numbers": ({"turns": 2}, {"turns": 2.0, "reward": 1.0}),
    "an extra column of truth": ({"solved": True}, {"solved": 1.0, "reward": 1.0}),
    "an extra column of ours": ({"response": "x"}, {"response (logged)": "x", "reward": 1.0}),
    "no advantage": (
        {"advantage": math.nan},
        {"advantage": None, "reward": 1.0, "flags": ["advantage is nan: it enters no mean"]},
    ),
}


@pytest.mark.parametrize(("fields", "expected"), READ.values(), ids=READ)
def test_what_a_column_becomes(fields: dict[str, Any], expected: dict[str, Any]) -> None:
    """Floats are rewards and summed, NaN counts for nothing, anything else is kept as it is; but not beside a total, nor what is called as a
    metric, nor, where the first are called rewards, those behind them that are not."""
    record = {key: value for key, value in ROW.items() if key != "advantage"} | {"advantage": 0.5} | fields
    ordered = {key: record[key] for key in [*(key for key in record if key != "advantage"), "advantage"]}
    least = {"step": 25, "prompt": "p", "response": "c", "advantage": 0.5}
    if fields.get("accuracy", 0) is not None:
        least["accuracy"] = 1.0

    assert flat(read_one(trl, ordered)) == least | expected


@pytest.mark.parametrize("key", ["completion", "step"])
def test_damaged_rows_are_refused(key: str) -> None:
    """The reason names TRL's column."""
    with pytest.raises(RowRefused, match=f"^has no `{key}`; its keys are: "):
        read_one(trl, {**ROW, key: None})


SAID = {"step": 1, "prompt": "p", "completion": "c"}


def test_recognition() -> None:
    """By its columns, whatever stands in them; a row of texts alone by its file's name; rows that are whole steps are another trainer's."""
    assert all(trl.recognise(golden_head(trl, name)) for name in (STEPS[1], CHAT, DISTILLED))
    assert trl.recognise(Head("x.parquet", ({**ROW, "completion": []},)))
    assert not trl.recognise(Head("texts_00001.parquet", (SAID,)))
    assert not trl.recognise(Head("completions_00001.parquet", ({**SAID, "label": 1},)))
    assert not trl.recognise(Head("a", ({key: [value] for key, value in ROW.items()},)))


def test_note() -> None:
    """What was summed is said by name, and nothing where nothing was."""
    said = "The trainer stores no total, so reward is the unweighted sum of digits, starts_with_digit."

    assert trl.note(golden_head(trl, STEPS[1])) == said
    assert trl.note(Head("a", ({**ROW, "accuracy": None},))) == ""
    assert trl.note(Head("a", ({**ROW, "reward": 1.0},))) == ""


def test_what_was_not_added_is_said() -> None:
    """A float among the rewards that was taken for none is named, and `summary` warns of it."""
    row = {"step": 1, "prompt": "p", "completion": "c", "shown_first": 1.0, "tidy_func": 0.5, "kl": 0.25, "advantage": 0.5}

    assert trl.note(Head("a", (row,))).endswith("sum of shown_first, tidy_func, without kl.")
