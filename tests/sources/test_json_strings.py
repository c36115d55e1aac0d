"""board.sources.json_strings: lists of strings come out as JSON has them, whatever is in them; anything else is told apart."""

import json
from typing import Any

import orjson
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from board.sources.json_strings import Strings, lists_of

KIND = pa.large_list(pa.large_string())

AWKWARD = st.text(alphabet='",\\[]{}:n\n\t\b\0\x7f/uA0é中🙂 ', max_size=5)
TEXTS = st.lists(AWKWARD | st.text(max_size=4), max_size=5)
ANYTHING = st.recursive(
    st.none() | st.booleans() | st.integers(-9, 9) | AWKWARD,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(AWKWARD, inner, max_size=2),
    max_leaves=6,
)


def strings(values: list[Any] | None) -> Strings | None:
    """A list as a line's parser hands it on."""
    return None if values is None else Strings(orjson.dumps(values), len(values))


@given(st.lists(st.none() | TEXTS, max_size=5))
def test_strings_are_as_json_has_them(lists: list[list[str] | None]) -> None:
    """With quotes, commas, backslashes and brackets in them, empty ones, empty lists, and lists that are not there."""
    found = lists_of([*map(strings, lists)])

    assert found is not None
    found.validate(full=True)
    assert found.type == KIND
    assert found.to_pylist() == lists


@given(st.lists(st.none() | TEXTS | st.lists(ANYTHING, max_size=3), max_size=4))
def test_anything_else_is_told_apart(lists: list[list[Any] | None]) -> None:
    """Numbers, nulls, lists and objects among the strings, in any order and however deep."""
    found = lists_of([*map(strings, lists)])

    only_strings = all(type(one) is str for values in lists for one in values or ())
    assert (found is not None) == only_strings
    assert found is None or found.to_pylist() == lists


REFUSED: dict[str, list[list[Any]]] = {
    "a number": [["a", 1, "b"]],
    "numbers alone": [[1, 2]],
    "a null": [["a", None]],
    "a list of one": [["a"], [["b"]]],
    "lists of one, each": [[["a"], ["b"]]],
    "an object of one text": [[{"a": "b"}]],
    "an object behind a text": [["a", {"b": "c"}]],
    "a number behind all": [["a"], [1]],
    "a number before all": [[1], ["a"]],
    "a number, and a text with an escape of many characters": [["\0", 1]],
}


@pytest.mark.parametrize("lists", REFUSED.values(), ids=REFUSED)
def test_what_is_no_string_is_told_apart(lists: list[list[Any]]) -> None:
    """Alone and behind lists of strings."""
    assert lists_of([*map(strings, lists)]) is None
    assert lists_of([*map(strings, [["x"], [], *lists, ["y"]])]) is None


@pytest.mark.parametrize("written", [r'["a\/b"]', r'["\u0041","\ud83d\ude42"]', r'["\\\\","\\\"","\\n"]'])
def test_every_way_to_write_a_string_is_read(written: str) -> None:
    """A stroke and a letter may be escaped too; backslashes count in pairs."""
    values = json.loads(written)

    found = lists_of([Strings(written.encode(), len(values))])

    assert found is not None
    assert found.to_pylist() == [values]


def test_no_list_at_all() -> None:
    """Rows without tokens beside each other."""
    found = lists_of([None, None])

    assert found is not None
    assert found.to_pylist() == [None, None]
