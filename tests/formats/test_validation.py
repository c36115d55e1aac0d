"""Tests of values asked of a record, and of the reasons when they are not there."""

from collections.abc import Callable
from typing import Any

import pytest

from board.errors import RowRefused
from board.formats.contract import Place
from board.formats.validation import (
    as_long,
    checked_list,
    listed_or_none,
    nested,
    objects,
    split_at,
    whole,
    whole_or_none,
    without,
)

LISTED: dict[str, tuple[Any, type, int | None, str]] = {
    "missing": (..., object, None, "has no `a`"),
    "null": (None, object, None, "`a` is null, not a list"),
    "text": ("xy", object, None, '`a` is "xy", not a list'),
    "an item of another type": ([1, "x"], int, None, '`a` holds "x" at position 1, not a whole number'),
    "a null among objects": ([{}, None], dict, None, "`a` holds null at position 1, not an object"),
    "too short": ([1], int, 3, "`a` has 1 item for 3 tokens"),
    "too long": ([1, 2], int, 1, "`a` has 2 items for 1 token"),
}


@pytest.mark.parametrize(("value", "of", "count", "reason"), LISTED.values(), ids=LISTED)
def test_lists_that_are_not_as_promised(value: Any, of: type, count: int | None, reason: str) -> None:
    """The reason names the key and what is wrong with it, so that the writer can be found."""
    with pytest.raises(RowRefused, match=reason):
        checked_list({} if value is ... else {"a": value}, "a", of, count)


def test_lists_that_are() -> None:
    """A list is handed on as it is; true and false are whole numbers, as in masks, and what may be missing is None."""
    value = [True, 1]

    assert checked_list({"a": value}, "a", int, 2) is value
    assert listed_or_none({"a": None}, "a", int) is None
    assert listed_or_none({}, "a") is None
    assert listed_or_none({"a": []}, "a", dict, 0) == []


WHOLE: dict[str, tuple[Any, int | None]] = {
    "an integer": (3, 3),
    "an integral float": (3.0, 3),
    "null": (None, None),
    "negative": (-1, -1),
}


@pytest.mark.parametrize(("value", "number"), WHOLE.values(), ids=WHOLE)
def test_whole_numbers(value: Any, number: int | None) -> None:
    """What counts as a whole number, null being none."""
    assert whole_or_none({"a": value}, "a") == number


@pytest.mark.parametrize("value", [True, 1.5, "3", [3], float("nan"), float("inf")])
def test_no_whole_numbers(value: Any) -> None:
    """Anything else is refused with its key."""
    with pytest.raises(RowRefused, match=r"`a` is .*, not a whole number"):
        whole_or_none({"a": value}, "a")


def test_without_drops_nulls_and_nothing_else() -> None:
    """Zero, false and empty text are values."""
    assert without({"a": 0, "b": False, "c": "", "d": None, "e": 1}, "e") == {"a": 0, "b": False, "c": ""}


SPLITS: dict[str, tuple[str, Any, str | None]] = {
    "said": ("eval/1.jsonl", "train", "train"),
    "said otherwise": ("1.jsonl", "test", "evaluation"),
    "by the path": ("eval/1.jsonl", None, "evaluation"),
    "by the path when the word is empty": ("eval/1.jsonl", "", "evaluation"),
    "nowhere": ("1.jsonl", None, None),
}


@pytest.mark.parametrize(("name", "said", "split"), SPLITS.values(), ids=SPLITS)
def test_split(name: str, said: Any, split: str | None) -> None:
    """The record's word comes before the path's, and nothing is assumed where neither speaks."""
    assert split_at(Place(name, 1), said) == split


PROMISED: dict[str, tuple[Callable[[dict[str, Any], str], Any], Any, Any]] = {
    "an object": (nested, {"a": 1}, {"a": 1}),
    "no object": (nested, None, {}),
    "objects": (objects, [{}, {"a": 1}], [{}, {"a": 1}]),
    "no objects": (objects, None, []),
    "a count": (whole, 0, 0),
}


@pytest.mark.parametrize(("ask", "value", "expected"), PROMISED.values(), ids=PROMISED)
def test_what_was_promised(ask: Callable[[dict[str, Any], str], Any], value: Any, expected: Any) -> None:
    """It comes as it is; what is null is as what is not there."""
    assert ask({"k": value}, "k") is expected or ask({"k": value}, "k") == expected
    if value is None:
        assert ask({}, "k") == expected


BROKEN: dict[str, tuple[Callable[[dict[str, Any], str], Any], dict[str, Any], str]] = {
    "text for objects": (objects, {"k": "ab"}, '`k` is "ab", not a list'),
    "a number for an object": (nested, {"k": 0}, "`k` is 0, not an object"),
    "a list for an object": (nested, {"k": []}, r"`k` is \[\], not an object"),
    "a text among objects": (objects, {"k": [{}, "x"]}, r"`k` holds \"x\" at position 1, not an object"),
    "no count": (whole, {}, "has no `k`"),
    "null for a count": (whole, {"k": None}, "`k` is null, not a whole number"),
    "a fraction for a count": (whole, {"k": 1.5}, "`k` is 1.5, not a whole number"),
    "true for a count": (whole, {"k": True}, "`k` is true, not a whole number"),
    "fewer than none": (whole, {"k": -1}, "`k` is -1, not a whole number"),
}


@pytest.mark.parametrize(("ask", "record", "reason"), BROKEN.values(), ids=BROKEN)
def test_what_was_not_promised(ask: Callable[[dict[str, Any], str], Any], record: dict[str, Any], reason: str) -> None:
    """It is refused with the key and what stands there."""
    with pytest.raises(RowRefused, match=reason):
        ask(record, "k")


def test_lengths() -> None:
    """As many as the tokens, or refused with both numbers."""
    as_long([1, 2], 2, "k")
    with pytest.raises(RowRefused, match="`k` has 1 number for 2 tokens"):
        as_long([1], 2, "k")
