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
    return None if values is None else Strings(orjson.dumps(values))


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

    found = lists_of([Strings(written.encode())])

    assert found is not None
    assert found.to_pylist() == [values]


@given(st.lists(TEXTS, max_size=5), st.sampled_from([", ", ","]), st.booleans())
def test_lists_are_read_as_they_stand_in_a_line(lists: list[list[str]], comma: str, plain: bool) -> None:
    """With blanks behind the commas or without, every character as itself or by its number."""
    written = [json.dumps(values, separators=(comma, ":"), ensure_ascii=plain).encode() for values in lists]

    found = lists_of([*map(Strings, written)])

    assert found is not None
    found.validate(full=True)
    assert found.to_pylist() == lists


NOT_STRICT: dict[str, list[bytes]] = {
    "no UTF-8": [b'["\xff"]'],
    "a character in two texts": [b'["\xc3","\xa9"]'],
    "a character in two lists": [b'["\xc3"]', b'["\xa9"]'],
    "a line end as it is": [b'["a\nb"]'],
    "the character 0 as it is": [b'["\0"]'],
    "a text that ends in the next list": [b'["a]', b'[b"]'],
    "texts that end in the next list": [b'["a","b]', b'[c","d"]'],
    "a list that begins within a text": [b'[a","b"]', b'["c"]'],
    "no comma": [b'["a" "b"]'],
    "two commas": [b'["a",,"b"]'],
    "a comma behind all": [b'["a",]'],
    "a comma before all": [b'[,"a"]'],
    "a blank alone": [b"[ ]"],
    "two blanks": [b'["a",  "b"]'],
    "a tab": [b'["a",\t"b"]'],
    "an escape between texts": [b'["a"\\,"b"]'],
    "a quote between texts": [b'["a",\\""b"]'],
    "an escape that nobody knows": [b'["\\x"]'],
    "half an escape": [b'["\\u00"]'],
    "half a pair": [b'["\\ud83d"]'],
    "half an escape, and a whole one": [b'["\\u0000"]', b'["\\u00"]'],
    "a name": [b"[true]"],
}


@pytest.mark.parametrize("written", NOT_STRICT.values(), ids=NOT_STRICT)
def test_what_is_not_strict_is_told_apart(written: list[bytes]) -> None:
    """Alone, and between lists of strings."""
    assert lists_of([*map(Strings, written)]) is None
    assert lists_of([*map(Strings, [b'["x"]', *written, b'["y","z"]'])]) is None


def test_no_list_at_all() -> None:
    """Rows without tokens beside each other."""
    found = lists_of([None, None])

    assert found is not None
    assert found.to_pylist() == [None, None]
