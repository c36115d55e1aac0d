"""board.sources.json_cells: the cells of a line are what json reads, and unusual lines are left alone."""

import json
import math
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from board.sources.json_cells import CellParser, Keys, Numbers
from board.sources.json_cutting import LEAST_BYTES, MARK
from board.sources.json_strings import Strings

NUMBER = st.integers(-(2**63), 2**64 - 1) | st.floats(allow_nan=False, allow_infinity=False)
VALUE = (
    st.none()
    | st.booleans()
    | st.text(max_size=3)
    | NUMBER
    | st.lists(NUMBER, max_size=4)
    | st.lists(st.text(max_size=2), max_size=2)
)
KEYS = st.text(max_size=3).filter(lambda key: "\0" not in key)


def parse(text: str | bytes, known: Keys = ()) -> tuple[Keys, list[Any]] | None:
    """The cells of a line, by a parser of its own."""
    return CellParser(frozenset({"plain"})).parse(text.encode() if isinstance(text, str) else text, known)


def same(found: Any, wanted: Any) -> bool:
    """Whether a cell is a value; of a list of numbers whether it is these as float64."""
    if isinstance(found, Numbers):
        return bool(found.tolist() == [float(one) for one in wanted])
    return bool(found == wanted) and type(found) is type(wanted)


@given(st.dictionaries(KEYS, VALUE, max_size=4))
def test_cells_are_what_json_reads(record: dict[str, Any]) -> None:
    """Keys in their order; numbers that are not in a list are as json has them."""
    found = parse(json.dumps(record))

    assert found is not None
    assert found[0] == tuple(record)
    assert all(same(*pair) for pair in zip(found[1], record.values(), strict=True))


UNUSUAL: dict[str, str | bytes] = {
    "half a line": '{"a": 1',
    "something behind": '{"a": 1} 2',
    "a list": "[1]",
    "nothing": "",
    "NaN": '{"a": NaN}',
    "a whole number beyond 64 bits": '{"a": 123456789012345678901234567890}',
    "a number beyond float64": '{"a": 1e400}',
    "a key twice": '{"a": 1, "a": 2}',
    "a key twice, written in two ways": '{"a": 1, "\\u0061": 2}',
    "a key with the character 0": '{"a\\u0000b": 1}',
    "a key that goes on behind the character 0": '{"a": 1, "a\\u0000b": 2}',
    "a lone surrogate": '{"a": "\\ud800"}',
    "bytes that are no UTF-8": b'{"a": "\xff"}',
}


@pytest.mark.parametrize("text", UNUSUAL.values(), ids=UNUSUAL)
def test_unusual_lines_are_left_alone(text: str | bytes) -> None:
    """Whatever keys are known, and the parser reads the next line as if nothing had been."""
    parser = CellParser()
    data = text.encode() if isinstance(text, str) else text

    for known in ((), ("a",), ("a", "b"), ("b",)):
        assert parser.parse(data, known) is None
        assert parser.parse(b'{"a": 1}', known) == (("a",), [1])


LISTS: dict[str, tuple[str, list[Any] | None]] = {
    "numbers": ("[1, 2.5]", None),
    "none": ("[]", []),
    "a null": ("[1, null]", [1, None]),
    "true": ("[true]", [True]),
    "a text": ('["a", 1]', ["a", 1]),
    "a list first": ("[[1], 2]", [[1], 2]),
    "a list last": ("[1, [2]]", [1, [2]]),
    "a longer list between": ("[1, [2, 3], 4]", [1, [2, 3], 4]),
}


@pytest.mark.parametrize(("text", "wanted"), LISTS.values(), ids=LISTS)
def test_only_flat_lists_of_numbers_become_numbers(text: str, wanted: list[Any] | None) -> None:
    """Every other list stays one, and so does each under a key that is asked to."""
    found = parse(f'{{"a": {text}, "plain": {text}}}')

    assert found is not None
    _, (cell, plain) = found
    assert plain == json.loads(text)
    assert isinstance(cell, Numbers) if wanted is None else cell == wanted


def test_known_keys_are_found_in_any_order() -> None:
    """Of a line with the same keys the known ones are given back; of another its own."""
    known = ("a", "b")

    assert parse('{"b": 2, "a": 1}', known) == (known, [1, 2])
    assert parse('{"b": 2, "c": 1}', known) == (("b", "c"), [2, 1])
    assert parse('{"b": 2}', known) == (("b",), [2])


def test_numbers_outlive_the_line() -> None:
    """What a cell holds is not the parser's, and stays when it reads on."""
    parser = CellParser()
    found = parser.parse(b'{"a": [0.1, 1e308, -0.0]}', ())
    assert found is not None
    assert parser.parse(b'{"a": [2, 2, 2]}', ()) is not None

    assert found[1][0].tolist() == [0.1, 1e308, 0.0]
    assert math.copysign(1, found[1][0][2]) == -1


def test_lists_of_strings_stay_json() -> None:
    """Under the keys that are named, whatever is in them, and without blanks; an object is none."""
    line = b'{"tokens": ["a", "\\u00e9,\\n"], "others": ["a"], "nested": {"tokens": ["a"]}}'
    found = CellParser(strings="tokens").parse(line, ())

    assert found is not None
    assert found[1] == [Strings('["a","é,\\n"]'.encode()), ["a"], {"tokens": ["a"]}]


LONG = b'["%s"]' % (b"a" * LEAST_BYTES)
WITH_TOKENS: dict[str, tuple[bytes, Any]] = {
    "as before": (b'{"step": 2, "tokens": ["c, \xc3\xa9", "]"], "reward": 1}', Strings(b'["c, \xc3\xa9", "]"]')),
    "within an object before": (b'{"o": {"tokens": ["x"], "reward": 1}, "tokens": ["c"], "reward": 1}', Strings(b'["c"]')),
    "within an object alone": (b'{"o": {"tokens": ["x"], "reward": 1}}', None),
    "within an object, and no list": (b'{"o": {"tokens": ["x"], "reward": 1}, "tokens": "y"}', "y"),
    "the key written otherwise": (
        b'{"o": {"tokens": ["x"], "reward": 1}, "\\u0074okens": ["c"], "reward": 1}',
        Strings(b'["c"]'),
    ),
    "the mark in its place": (b'{"tokens": "%s", "reward": 1}' % MARK.encode(), MARK),
    "no list": (b'{"tokens": null, "reward": 1}', None),
}


@pytest.mark.parametrize(("line", "wanted"), WITH_TOKENS.values(), ids=WITH_TOKENS)
def test_the_list_of_strings_is_that_of_the_line(line: bytes, wanted: Any) -> None:
    """It is cut out where the line before had it, and is under its own key or is not taken for it; the other cells are as ever."""
    parser = CellParser(strings="tokens")
    first = parser.parse(b'{"step": 1, "tokens": %s, "reward": 1}' % LONG, ())
    assert first == (("step", "tokens", "reward"), [1, Strings(LONG), 1])

    for known in (first[0], ()):
        found = parser.parse(line, known)

        assert found is not None
        record = json.loads(line)
        assert {*found[0]} == {*record}
        cells = dict(zip(*found, strict=True))
        assert cells.pop("tokens", None) == wanted
        assert cells == {key: value for key, value in record.items() if key != "tokens"}


@pytest.mark.parametrize(
    "line", [b'{"tokens": ["a"], "reward": NaN}', b'{"tokens": ["a"], "reward": 1, "tokens": ["b"], "reward": 2}']
)
def test_unusual_lines_with_strings_are_left_alone(line: bytes) -> None:
    """Also when the list is cut out of them; the next line is read as ever."""
    parser = CellParser(strings="tokens")
    plain = b'{"tokens": %s, "reward": 1}' % LONG
    keys = ("tokens", "reward")
    for known in ((), keys):
        parser.parse(plain, known)

        assert parser.parse(line, known) is None
        assert parser.parse(plain, known) == (keys, [Strings(LONG), 1])
