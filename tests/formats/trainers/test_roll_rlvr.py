"""Tests of ROLL's rollout dump of RLVR."""

from typing import Any

import pytest
from golden_runs import flat, golden, golden_head

from board import formats
from board.errors import RowRefused
from board.formats.contract import Head, Place
from board.formats.trainers import roll_rlvr

FILE = "rollout_dump_data.step_7.jsonl"
COLUMNS: dict[str, Any] = {"global_step": [1, 1], "prompt": ["p", "q"], "responses": ["a", "b"], "scores": [1.0, 0.0]}


def test_columns_become_rollouts() -> None:
    """Each entry makes one, with every column's value."""
    first, second, third = golden(roll_rlvr, FILE)

    assert flat(first) == {
        "step": 7,
        "prompt": "2+2?",
        "response": "4",
        "reward": 1.0,
        "ground_truth": "4",
        "sample_id": "a1",
        "prompt_id": "a1",
        "data_source": "gsm8k",
        "difficulty": 0.5,
        "messages": '[{"role": "user", "content": "2+2?"}]',
        "tag": "math",
        "domain": "math_rule",
        "sampling_params": '{"temperature": 0.99}',
    }
    assert second.texts["response"].startswith("<tool_call>\n")
    assert (third.texts["response"], flat(third)["reward"], flat(third)["difficulty"]) == ("六 ✓", None, None)


def test_messages_stand_for_a_prompt() -> None:
    """Where no prompt was kept, they are shown as turns."""
    rows = golden(roll_rlvr, "rollout_dump_data.step_8.jsonl")

    assert [(row.step, row.texts["prompt"], row.texts["response"]) for row in rows] == [
        (8, "user:\n2+2?", "4"),
        (8, "user:\n2+2?", "5"),
    ]


READ: dict[str, tuple[dict[str, Any], dict[str, Any]]] = {
    "a case": ({"test_cases": [[{"in": 1}], []]}, {"test_cases": '[{"in": 1}]'}),
    "one value for all": ({"tag": "code"}, {"tag": "code"}),
    "a null": ({"ground_truth": [None, "4"]}, {}),
    "a name of ours": ({"reward": [0.5, 0.5]}, {"reward (logged)": 0.5}),
    "a score as text": ({"scores": ["0.5", "1"]}, {"reward": 0.5, "flags": ['reward is the text "0.5", read as 0.5']}),
}


@pytest.mark.parametrize(("fields", "expected"), READ.values(), ids=READ)
def test_what_a_column_becomes(fields: dict[str, Any], expected: dict[str, Any]) -> None:
    """Nothing is lost under a name that means something else here, nothing invented."""
    row = formats.read(COLUMNS | fields, roll_rlvr, Place(FILE, 1))[0]

    assert flat(row) == {"step": 1, "prompt": "p", "response": "a", "reward": 1.0} | expected


def test_evaluations_are_told_by_their_folder() -> None:
    """The file of an evaluation differs in nothing else."""
    rows = formats.read(COLUMNS, roll_rlvr, Place(f"val/{FILE}", 1))

    assert [row.ids["split"] for row in rows] == ["evaluation"] * 2


REFUSED: dict[str, tuple[dict[str, Any], str]] = {
    "no responses": ({"responses": None}, "has no `responses`; its keys are: global_step"),
    "no step": ({"global_step": None}, "has no `global_step`; its keys are: global_step"),
    "responses that are text": ({"responses": "ab"}, '`responses` is "ab", not a list'),
    "a short column": ({"scores": [1.0]}, "`scores` has 1 value against 2 in `responses`"),
    "messages that are no JSON": ({"prompt": [None, "q"], "messages": ["[{", "[]"]}, "`messages` is not JSON: "),
}


@pytest.mark.parametrize(("fields", "reason"), REFUSED.values(), ids=REFUSED)
def test_damaged_dumps_are_refused(fields: dict[str, Any], reason: str) -> None:
    """The reason names ROLL's column; nothing is paired by guess."""
    with pytest.raises(RowRefused) as refusal:
        formats.read(COLUMNS | fields, roll_rlvr, Place(FILE, 1))

    assert str(refusal.value).startswith(reason)


def test_recognition() -> None:
    """By columns of responses and scores, not by single ones."""
    assert formats.recognise(golden_head(roll_rlvr, FILE)) is roll_rlvr
    assert not roll_rlvr.recognise(Head(FILE, ({"global_step": 1, "responses": "a", "scores": 1.0},)))


def test_note() -> None:
    """The reader is told which reward it is."""
    assert "before normalisation" in roll_rlvr.note(golden_head(roll_rlvr, FILE))
