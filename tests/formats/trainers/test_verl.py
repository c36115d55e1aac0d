"""Tests of verl's rollout and validation files."""

import math
from typing import Any

import numpy as np
import pytest
from golden_runs import flat, golden, golden_head, read_one
from hypothesis import assume, given
from hypothesis import strategies as st

from board.errors import RowRefused
from board.formats.contract import Head
from board.formats.renaming import same
from board.formats.trainers import verl

ROW = {"input": "2+2?", "output": "4", "score": 1.0, "step": 3}
TRUTHS = ("True", "False")
GROUP = "5f0c9a52-77a1-4c9b-9e02-1f6f5c3f6b10"


def test_a_row_of_v1() -> None:
    """Every field of a training row, the group out of the uid."""
    first, second, third, _ = golden(verl, "rollouts/1.jsonl")

    assert flat(second) == {
        "step": 1,
        "prompt": "user\n2+2?\nassistant\n",
        "response": "5",
        "ground_truth": "4",
        "reward": 0.0,
        "sample_id": f"{GROUP}_1_0",
        "group_id": GROUP,
    }
    assert first.ids["group_id"] == GROUP != third.ids["group_id"]
    assert first.texts["response"].endswith("Die Summe ist 4 ✓")
    assert third.texts["ground_truth"] == '["6", "六"]'


def test_a_score_that_is_no_number_is_said() -> None:
    """NaN stays NaN."""
    row = golden(verl, "rollouts/1.jsonl")[2]

    assert flat(row)["reward"] is None
    assert row.flags == ["reward is nan: it enters no mean"]


def test_a_row_of_validation() -> None:
    """What the reward function returned is kept as numbers; the score that is there twice is kept once."""
    row = golden(verl, "validation/2.jsonl")[0]

    assert row.numbers == {"reward": 1.0, "acc": 1.0}
    assert row.texts["pred"] == "42"
    assert row.ids["split"] == "evaluation"


def test_a_row_of_the_older_trainer() -> None:
    """Numbers that came as text are numbers; what was predicted stays text."""
    first, second = golden(verl, "legacy/7.jsonl")

    assert first.numbers == {"reward": 1.0, "acc": 1.0, "format": 0.5}
    assert flat(second)["format"] is None
    assert (first.texts["pred"], first.ids) == ("4", {"sample_id": "r-1"})


def test_the_least_a_row_has() -> None:
    """Rows of old versions have neither ground truth nor uid, and none is invented."""
    (row,) = golden(verl, "legacy/8_260105_120000.jsonl")

    assert flat(row) == {"step": 8, "prompt": "user\n2+2?\nassistant\n", "response": "4", "reward": 1.0}


READ: dict[str, tuple[dict[str, Any], dict[str, Any]]] = {
    "an integer as text": ({"format": "1"}, {"format": 1.0}),
    "small": ({"x": "-1e-05"}, {"x": -1e-05}),
    "true": ({"acc": "True"}, {"acc": 1.0}),
    "a word": ({"x": "1st"}, {"x": "1st"}),
    "a code": ({"x": "007"}, {"x": "007"}),
    "more digits than a number holds": ({"x": "12345678901234567890"}, {"x": "12345678901234567890"}),
    "an answer": ({"pred": "0.5"}, {"pred": "0.5"}),
    "another reward": ({"reward": 0.5}, {"reward (logged)": 0.5}),
    "a name of the board's": ({"prompt": "x"}, {"prompt (logged)": "x"}),
    "the score as text": ({"score": "0.5"}, {"reward": 0.5}),
    "no score": ({"score": None}, {}),
    "the score again": ({"reward": 1.0}, {"split": "evaluation"}),
    "a uid of another shape": ({"uid": "abc"}, {"sample_id": "abc"}),
    "a uid with underscores": ({"uid": "a_b_1_2"}, {"sample_id": "a_b_1_2", "group_id": "a_b"}),
    "a uid that is a number": ({"uid": 7}, {"sample_id": "7"}),
    "both names of a sample": ({"uid": "a_0_0", "request_id": "r"}, {"sample_id": "a_0_0", "group_id": "a", "request_id": "r"}),
}


@pytest.mark.parametrize(("fields", "expected"), READ.values(), ids=READ)
def test_what_a_field_becomes(fields: dict[str, Any], expected: dict[str, Any]) -> None:
    """Nothing is lost under a name that means something else here, and what is no number stays text."""
    least = {"step": 3, "prompt": "2+2?", "response": "4", "reward": 1.0}
    if fields.get("score", 0) is None:
        del least["reward"]

    assert flat(read_one(verl, ROW | fields)) == least | expected


@given(st.floats(width=32) | st.integers(-(10**14), 10**14) | st.booleans())
def test_numbers_written_as_text(number: float) -> None:
    """Whatever numpy's number was, as text it is the same number."""
    written = (
        np.bool_(number) if isinstance(number, bool) else np.int64(number) if isinstance(number, int) else np.float32(number)
    )

    found = read_one(verl, {**ROW, "acc": str(written)})

    assert "acc" not in found.texts
    assert np.float32(found.numbers["acc"]) == np.float32(number) or math.isnan(number)


@given(st.text() | st.from_regex(r"[-+0-9._eEinfa ]{1,6}"))
def test_texts_stay_letter_for_letter(text: str) -> None:
    """What becomes a number has only signs, digits and the words for what is not finite, and means that number; the rest stays as it was."""
    assume(text not in TRUTHS)
    found = read_one(verl, {**ROW, "x": text})

    if "x" in found.texts:
        assert found.texts["x"] == text
    else:
        assert text in ("nan", "inf", "-inf") or (text.isascii() and set(text) <= set("-+.e0123456789"))
        assert same(float(text), found.numbers["x"])


@pytest.mark.parametrize("key", ["output", "step"])
def test_damaged_rows_are_refused(key: str) -> None:
    """The reason names verl's key, be it gone or null."""
    for record in ({**ROW, key: None}, {name: value for name, value in ROW.items() if name != key}):
        with pytest.raises(RowRefused, match=f"^has no `{key}`; its keys are: input"):
            read_one(verl, record)


def test_recognition() -> None:
    """By its keys, in training and validation; not by a part of them."""
    assert verl.recognise(golden_head(verl, "rollouts/1.jsonl"))
    assert verl.recognise(golden_head(verl, "validation/2.jsonl"))
    assert not verl.recognise(Head("1.jsonl", ({"input": "a", "output": "b"},)))


def test_note() -> None:
    """A reader is told of texts read as numbers where there are any."""
    assert verl.note(golden_head(verl, "legacy/7.jsonl")) == "Numbers that verl wrote as text are read as numbers."
    assert verl.note(golden_head(verl, "rollouts/1.jsonl")) == ""
