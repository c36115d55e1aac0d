"""board.sources.json_cutting: a list comes out of a line as it stands there, the rest of the line around it."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from board.sources.json_cutting import LEAST_BYTES, MARK, ListCutter

LONG = ["a" * LEAST_BYTES]
FIRST = b'{"step":1,"tokens":["%s"],"reward":1}' % (b"a" * LEAST_BYTES)

AWKWARD = st.text(alphabet='",\\[]{}:nu\n a中', max_size=4)


def cutter(*lines: bytes) -> ListCutter:
    """One that has seen these lines."""
    found = ListCutter("tokens")
    for line in lines:
        found.cut(line)
    return found


@given(
    st.lists(AWKWARD, min_size=1, max_size=4),
    st.text(max_size=3) | AWKWARD,
    st.sampled_from([(",", ":"), (", ", ": ")]),
)
def test_what_is_cut_out_is_the_list(tokens: list[str], prompt: str, separators: tuple[str, str]) -> None:
    """Whatever is in it and before it; the line around it is the line with the mark there, or nothing is cut."""

    def line(values: Any) -> bytes:
        return json.dumps({"prompt": prompt, "tokens": values, "reward": [1]}, separators=separators, ensure_ascii=False).encode()

    found = cutter(line(LONG)).cut(line(tokens))

    assert found is not None
    assert json.loads(found.list) == tokens
    assert found.line == line(MARK)


NOT_CUT: dict[str, bytes] = {
    "another key behind": b'{"tokens":["a"],"step":1}',
    "blanks elsewhere": b'{"step":1,"tokens": ["a"],"reward":1}',
    "no list": b'{"step":1,"tokens":null,"reward":1}',
    "an empty list": b'{"step":1,"tokens":[],"reward":1}',
    "a list of numbers": b'{"step":1,"tokens":[1],"reward":1}',
    "half a line": b'{"step":1,"tokens":["a","b',
    "nothing": b"",
    "brackets": b"[]" * 99,
}


@pytest.mark.parametrize("line", NOT_CUT.values(), ids=NOT_CUT)
def test_what_stands_between_other_characters_stays(line: bytes) -> None:
    """It is left to who parses the line."""
    assert cutter(FIRST).cut(line) is None


NOT_TAKEN: dict[str, str] = {
    "the list is the last value": '{"step":1,"tokens":["LONG"]}',
    "characters by their number": '{"tokens":["LONG\\u00e9"],"reward":1}',
    "blanks before the commas": '{"tokens":["LONG" ,"b"],"reward":1}',
    "a number in it": '{"tokens":["LONG",1],"reward":1}',
    "a key with an escape behind": '{"tokens":["LONG"],"re\\"ward":1}',
    "a short list": '{"tokens":["a","b"],"reward":1}',
}


@pytest.mark.parametrize("line", NOT_TAKEN.values(), ids=NOT_TAKEN)
def test_lines_from_which_nothing_is_learnt(line: str) -> None:
    """Such lines are not cut at all."""
    data = line.replace("LONG", LONG[0]).encode()

    assert cutter(data).cut(data) is None


def test_many_brackets_before_and_in_the_list() -> None:
    """More than are looked at one by one."""
    line = json.dumps({"prompt": "[" * 500, "tokens": ["]"] * 500, "reward": 1}).encode()

    found = cutter(line).cut(line)

    assert found is not None
    assert json.loads(found.list) == ["]"] * 500


def test_giving_up() -> None:
    """Nothing is cut any more, and nothing learnt."""
    found = cutter(FIRST)
    found.give_up()

    assert [found.cut(FIRST) for _ in range(2)] == [None, None]


def test_lines_without_the_list_are_not_searched_for_ever() -> None:
    """After some of them it is not looked for any more."""
    found, early = (cutter(*[b'{"step":1}'] * count) for count in (99, 9))

    assert [found.cut(FIRST) for _ in range(2)] == [None, None]
    assert [early.cut(FIRST) is None for _ in range(2)] == [True, False]


ENDLESS: dict[str, bytes] = {
    "lists in lists": b'{"tokens":[' + b'"tokens":["a",' * 100_000,
    "no end": b'{"tokens":[' + b'"a",' * 1_000_000,
    "blanks and commas": b'{"tokens":' + b" " * 1_000_000 + b'["a"' + b"," * 1_000_000,
    "a key without end": b'"tokens":["a"],"' + b"a" * 1_000_000,
}


@pytest.mark.parametrize("line", ENDLESS.values(), ids=ENDLESS)
def test_what_looks_like_a_list_again_and_again_is_gone_through_once(line: bytes) -> None:
    """Else this would not end."""
    assert cutter(line).cut(line) is None
