"""Tests of what formats share: names, columns, masks, sums of a reward's parts."""

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from board.errors import RowRefused
from board.formats import renaming

NAN = math.nan


def test_renaming_loses_nothing() -> None:
    """Known keys get our names, others keep theirs, and what bears one of ours without being it is told apart."""
    record = {"output": "a", "x": 1, "response": "b", "split": "c"}

    assert renaming.renamed(record, {"output": "response"}, ["split"]) == {
        "response": "a",
        "x": 1,
        "response (logged)": "b",
        "split (logged)": "c",
    }


@given(st.dictionaries(st.sampled_from("abcde"), st.integers()), st.dictionaries(st.sampled_from("ab"), st.sampled_from("ce")))
def test_renaming_keeps_every_value(record: dict[str, int], names: dict[str, str]) -> None:
    """Unless two keys are given one name, as many values come out as go in."""
    assume(len(set(names.values())) == len(names))

    assert sorted(renaming.renamed(record, names).values()) == sorted(record.values())


MISSING: dict[str, tuple[dict[str, Any], str]] = {
    "one": ({"a": 1}, "has no `b`; its keys are: a"),
    "null": ({"a": 1, "b": None}, "has no `b`; its keys are: a, b"),
    "both": ({}, "has no `a` and no `b`; its keys are: none"),
    "long and many": ({f"{at}{'k' * 90}": at for at in range(99)}, "has no `a` and no `b`; its keys are: 0kkk"),
}


@pytest.mark.parametrize(("record", "reason"), MISSING.values(), ids=MISSING)
def test_needed_keys(record: dict[str, Any], reason: str) -> None:
    """The reason names what is missing and what there is, and fits the screen."""
    with pytest.raises(RowRefused) as refusal:
        renaming.need(record, "a", "b")

    assert str(refusal.value).startswith(reason)
    assert len(str(refusal.value)) < 700
    renaming.need({"a": 0, "b": ""}, "a", "b")


def test_columns_become_rows() -> None:
    """An entry of every column makes a row; what is no list is every row's."""
    assert renaming.rows({"a": [1, 2], "b": ["x", None], "c": 3}, "a") == [
        {"a": 1, "b": "x", "c": 3},
        {"a": 2, "b": None, "c": 3},
    ]
    assert renaming.rows({"a": []}, "a") == []


NO_COLUMNS: dict[str, tuple[dict[str, Any], str]] = {
    "none": ({"b": [1]}, "has no `a`; its keys are: b"),
    "text": ({"a": "xy"}, '`a` is "xy", not a list'),
    "shorter": ({"a": [1, 2], "b": [1]}, "`b` has 1 value against 2 in `a`: it is unknown which belong together"),
    "longer": ({"a": [1], "b": [1, 2]}, "`b` has 2 values against 1 in `a`: it is unknown which belong together"),
}


@pytest.mark.parametrize(("record", "reason"), NO_COLUMNS.values(), ids=NO_COLUMNS)
def test_columns_that_make_no_rows(record: dict[str, Any], reason: str) -> None:
    """Nothing is paired by guess; the reason names the column."""
    with pytest.raises(RowRefused) as refusal:
        renaming.rows(record, "a")

    assert str(refusal.value) == reason


@given(st.dictionaries(st.sampled_from("bcd"), st.lists(st.integers(), min_size=3, max_size=3)))
def test_rows_hold_what_columns_held(columns: dict[str, list[int]]) -> None:
    """Every value, in its order."""
    rows = renaming.rows({"a": [0, 0, 0], **columns}, "a")

    assert {name: [row[name] for row in rows] for name in columns} == columns


TOTALS: dict[str, tuple[dict[str, Any], float | None]] = {
    "all": ({"a": 1.0, "b": -0.25}, 0.75),
    "one is missing": ({"a": None, "b": NAN, "c": 0.5}, 0.5),
    "none is there": ({"a": None, "b": NAN}, None),
    "none at all": ({}, None),
    "true": ({"a": True}, 1.0),
    "infinite": ({"a": math.inf}, math.inf),
    "text is no part": ({"a": "x", "b": 1}, 1.0),
}


@pytest.mark.parametrize(("parts", "total"), TOTALS.values(), ids=TOTALS)
def test_total(parts: dict[str, Any], total: float | None) -> None:
    """What is missing counts for nothing; of nothing the sum is missing, not zero."""
    assert renaming.total(parts.values()) == total


def test_masks() -> None:
    """Numbers, truth values, arrays; null is 0."""
    for value in ([1, 0, 1], [True, False, True], [1, None, 1.0], np.array([1, 0, 1], np.float32)):
        found = renaming.mask({"m": value}, "m")
        assert found.tolist() == [1, 0, 1]
    with pytest.raises(RowRefused, match="has no `m`"):
        renaming.mask({"m": None}, "m")


@pytest.mark.parametrize(
    ("value", "reason"),
    [
        ("110", '`m` is "110", not a list'),
        (["a"], '`m` is not a list of numbers: ["a"]'),
        ([[1]], "`m` is not a list of numbers: [[1]]"),
    ],
)
def test_damaged_masks_are_refused(value: Any, reason: str) -> None:
    """Without its mask nothing tells which of a rollout's numbers count."""
    with pytest.raises(RowRefused) as refusal:
        renaming.mask({"m": value}, "m")

    assert str(refusal.value) == reason


def test_same() -> None:
    """NaN is what NaN is; nothing else is forgiven."""
    assert renaming.same(NAN, NAN)
    assert renaming.same("a", "a")
    assert not renaming.same(1.0, NAN)
    assert not renaming.same(None, 0)


UNPACKED: dict[str, tuple[Any, Any]] = {
    "an object": ('{"a": [1, null]}', {"a": [1, None]}),
    "a list": ("[1]", [1]),
    "what is not text": ([1], [1]),
    "nothing": (None, None),
    "half a character": ('["\\ud83d"]', ["\\ud83d"]),
}


@pytest.mark.parametrize(("value", "expected"), UNPACKED.values(), ids=UNPACKED)
def test_json_in_text(value: Any, expected: Any) -> None:
    """It is read as JSON is on a line: what UTF-8 cannot hold is written out."""
    assert renaming.unpacked({"x": value}, "x") == expected


def test_text_that_is_not_json_is_refused() -> None:
    """The reason names the key and quotes the text."""
    with pytest.raises(RowRefused, match=r"^`x` is not JSON: Expecting value at character 2: "):
        renaming.unpacked({"x": "[}"}, "x")
