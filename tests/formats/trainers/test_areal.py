"""Tests of AReaL's rollout dump."""

from functools import partial
from typing import Any

import pytest
from golden_runs import read_one

from board.errors import RowRefused
from board.formats.contract import Head, Place
from board.formats.trainers import areal

RECORD: dict[str, Any] = {
    "task_id": 42,
    "sample_idx": 1,
    "seqlen": 9,
    "prompt_len": 5,
    "head_version": -1,
    "tail_version": 5,
    "reward": 1.0,
    "prompt": "2+2?",
    "completion": "4 ✓",
}
PLACE = Place("rollout/7/42.jsonl", 1)
read = partial(read_one, areal, name=PLACE.name)


def test_fields() -> None:
    """Every key has its place, and the sizes stay numbers under their own names."""
    row = read(RECORD)

    assert row.step == 5
    assert row.texts == {"prompt": "2+2?", "response": "4 ✓"}
    assert row.ids == {"group_id": "42", "sample_id": "1"}
    assert row.numbers == {"reward": 1.0, "seqlen": 9.0, "prompt_len": 5.0, "head_version": -1.0}
    assert row.flags == []


def test_evaluation_is_told_by_the_folder() -> None:
    """The rows of an evaluation are as those of training; only the path tells."""
    assert read(RECORD, name="eval-rollout/5/42.jsonl").ids["split"] == "evaluation"


def test_step_is_the_folder_not_the_task() -> None:
    """Without its version a row is of the folder's version; the file's number is a task."""
    assert read({**RECORD, "tail_version": None}).step == 7


DAMAGED: dict[str, tuple[dict[str, Any], str, str]] = {
    "no version anywhere": ({**RECORD, "tail_version": None}, "42.jsonl", "`tail_version`"),
    "a version that is no number": ({**RECORD, "tail_version": "new"}, PLACE.name, '`tail_version` is "new"'),
    "a version that is half a number": ({**RECORD, "tail_version": 1.5}, PLACE.name, "`tail_version` is 1.5"),
    "no completion": ({key: value for key, value in RECORD.items() if key != "completion"}, PLACE.name, "`completion`"),
    "an empty record": ({}, PLACE.name, "`completion`"),
}


@pytest.mark.parametrize(("record", "name", "reason"), DAMAGED.values(), ids=DAMAGED)
def test_damaged_records_are_refused_by_their_key(record: dict[str, Any], name: str, reason: str) -> None:
    """The reason names the key that AReaL writes, not ours."""
    with pytest.raises(RowRefused, match=reason):
        read(record, name=name)


def test_recognised_by_keys() -> None:
    """A completion with weight versions is AReaL's, in a file of any name; a task's number alone is not."""
    assert areal.recognise(Head("x.jsonl", (RECORD,)))
    assert not areal.recognise(Head(PLACE.name, ({"task_id": 42, "completion": "4"},)))
