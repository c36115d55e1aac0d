"""Tests of values in nested records."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from board.formats.json_paths import found, leaves, pruned

RECORD: dict[str, Any] = {
    "output": {"text": "4", "meta": {"n": 1}},
    "a.b": 1,
    "a": {"b": 2, "c": 3},
    "choices": [{"text": "5"}, {"text": "6"}],
    "x": {"y.z": 7},
    "nothing": None,
}
FOUND: dict[str, Any] = {
    "output.text": "4",
    "output.meta": {"n": 1},
    "output.meta.n": 1,
    "a.b": 1,
    "a.c": 3,
    "choices.1.text": "6",
    "choices.0": {"text": "5"},
    "x.y.z": 7,
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
    left = pruned(RECORD, ["output.text", "a.b", "x.y.z", "nothing"])

    assert left == {"output": {"meta": {"n": 1}}, "a": {"c": 3}, "choices": RECORD["choices"]}


objects = st.recursive(
    st.integers() | st.text(max_size=3),
    lambda inner: st.dictionaries(st.text("abc", min_size=1, max_size=2), inner, min_size=1, max_size=3),
    max_leaves=8,
)


@given(st.dictionaries(st.text("abc", min_size=1, max_size=2), objects, max_size=4))
def test_every_leaf_is_found_by_its_path(record: dict[str, Any]) -> None:
    """Paths lead where they come from, and with all of them gone nothing is left."""
    listed = dict(leaves(record, depth=99))

    assert all(found(record, path) == value for path, value in listed.items())
    assert pruned(record, listed) == {}


def test_deep_objects_count_as_values() -> None:
    """Below some depth an object is data, not fields."""
    assert dict(leaves({"a": {"b": {"c": 1}}, "d": {}}, depth=2)) == {"a.b": {"c": 1}, "d": {}}
