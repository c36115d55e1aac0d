"""Tests of values in nested records."""

from typing import Any

import pytest

from board.formats.json_paths import found, pruned

RECORD: dict[str, Any] = {
    "output": {"text": "4", "meta": {"n": 1}},
    "a.b": 1,
    "a": {"b": 2, "c": 3},
    "choices": [{"text": "5"}, {"text": "6"}],
    "x": {"y.z": 7},
    "nothing": None,
    "try_10_text": "c",
    "try_2_text": "b",
    "try_2": "d",
}
FOUND: dict[str, Any] = {
    "output.text": "4",
    "output.meta": {"n": 1},
    "output.meta.n": 1,
    "a.b": 1,
    "a.c": 3,
    "choices.1.text": "6",
    "choices.0": {"text": "5"},
    "choices.*.text": ["5", "6"],
    "choices.*": None,
    "x.y.z": 7,
    "try_*_text": ["b", "c"],
    "try_*": ["d"],
    "*": None,
    "nothing": None,
    "nothing.at.all": None,
    "output.text.more": None,
    "choices.2": None,
    "choices.-1": None,
    "choices.first": None,
    "": None,
    ".": None,
}


@pytest.mark.parametrize(("path", "value"), FOUND.items(), ids=FOUND)
def test_found(path: str, value: Any) -> None:
    """A key with dots comes before a way through objects; numbers lead into lists; what is not there is None."""
    assert found(RECORD, path) == value


def test_pruned() -> None:
    """What was found elsewhere is not kept twice, and everything beside it is."""
    left = pruned(RECORD, ["output.text", "a.b", "x.y.z", "nothing", "try_*_text", "try_*"])

    assert left == {"output": {"meta": {"n": 1}}, "a": {"c": 3}, "choices": RECORD["choices"]}
