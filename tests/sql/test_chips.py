"""A filter as chips: what a link carries, what a reader types, and the condition it comes to."""

import duckdb
import pytest
from hypothesis import given
from hypothesis import strategies as st

from board.errors import BoardError
from board.sql.chips import MOST, Chip, chip, condition, one_line, parsed, written

FILTERS: dict[str, tuple[str, list[Chip], str]] = {
    "nothing": ("", [], ""),
    "one": ("reward > 0.5", [Chip("reward > 0.5")], "(reward > 0.5)"),
    "two": ("a > 1\nb < 2", [Chip("a > 1"), Chip("b < 2")], "(a > 1)\nAND (b < 2)"),
    "negated": ("NOT (a > 1)", [Chip("a > 1", negated=True)], "(NOT (a > 1))"),
    "off": ("-- a > 1", [Chip("a > 1", on=False)], ""),
    "off and negated": ("-- NOT (a > 1)", [Chip("a > 1", on=False, negated=True)], ""),
    "negated in part": ("NOT (a) AND (b)", [Chip("NOT (a) AND (b)")], "(NOT (a) AND (b))"),
    "or is kept together": ("a OR b\nc", [Chip("a OR b"), Chip("c")], "(a OR b)\nAND (c)"),
    "empty lines": ("\n\na\n-- \n", [Chip("a")], "(a)"),
    "a bracket in a text": ("x = ')'", [Chip("x = ')'")], "(x = ')')"),
    "a comment in a text": ("x = '--'", [Chip("x = '--'")], "(x = '--')"),
    "a bracket in a name": ('"a)" > 1', [Chip('"a)" > 1')], '("a)" > 1)'),
}


@pytest.mark.parametrize("name", FILTERS)
def test_lines_are_chips(name: str) -> None:
    """Each line of a filter is a chip, and those that are on all have to hold."""
    text, chips, wanted = FILTERS[name]

    assert parsed(text) == chips
    assert condition(chips) == wanted
    assert parsed(written(chips)) == chips


TYPED: dict[str, tuple[str, str]] = {
    "spaces around": ("  a > 1 ", "a > 1"),
    "semicolon": ("a > 1;", "a > 1"),
    "several lines": ("a > 1\n  AND b\tLIKE 'x'", "a > 1 AND b LIKE 'x'"),
    "a comment at the end": ("a > 1 -- good ones", "a > 1"),
    "a comment between": ("a > 1 -- good ones\nAND b", "a > 1 AND b"),
    "a long comment": ("a /* ( */ > 1", "a > 1"),
    "a line end in a text": ("x = 'a\nb'", "x = 'a'||chr(10)||'b'"),
    "another line end in a text": ("x = 'a\u2028b'", "x = 'a'||chr(8232)||'b'"),
    "quotes in a text": ("x = 'it''s -- (fine'", "x = 'it''s -- (fine'"),
    "spaces in a text": ("x = 'a  b'", "x = 'a  b'"),
}


@pytest.mark.parametrize("name", TYPED)
def test_what_is_typed_becomes_one_line(name: str) -> None:
    """A chip is one line, whatever was typed, and means the same."""
    typed, wanted = TYPED[name]

    assert chip(typed) == Chip(wanted)


REFUSED: dict[str, tuple[str, str]] = {
    "nothing": ("  ", "no condition"),
    "a comment alone": ("-- later", "no condition"),
    "closes first": ("a) OR (true", "closes a bracket"),
    "never closes": ("(a > 1", "does not close"),
    "closes in a text alone": ("(x = ')'", "does not close"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_brackets_are_in_pairs(name: str) -> None:
    """What could reach beyond its own brackets is refused before it stands beside others."""
    typed, reason = REFUSED[name]

    with pytest.raises(BoardError, match=reason):
        chip(typed)


def test_a_filter_has_an_end() -> None:
    """More chips than the most are refused with both numbers."""
    assert len(parsed("\n".join(["a"] * MOST))) == MOST
    with pytest.raises(BoardError, match=f"{MOST + 1} conditions, and {MOST} is the most"):
        parsed("\n".join(["a"] * (MOST + 1)))


SQL = st.sampled_from(["1 = 1", "'a' = 'b'", "2 > 1 OR 1 > 2", "'(' = ')'", "NOT (1 = 2)", "'x\ny' LIKE '%y'", "NULL", "(1 < 2)"])


@given(st.lists(st.tuples(SQL, st.booleans(), st.booleans()), max_size=5))
def test_a_filter_means_the_same_in_a_link(asked: list[tuple[str, bool, bool]]) -> None:
    """Written into a link and read back, a filter asks the same of a rollout, and the AND of its chips is what DuckDB makes of each."""
    chips = [Chip(one_line(sql), on, negated) for sql, on, negated in asked]
    again = parsed(written(chips))

    assert condition(again) == condition(chips)
    database = duckdb.connect()
    said = [database.execute(f"SELECT {'NOT' if negated else ''} ({sql})").fetchone() for sql, on, negated in asked if on]
    values = [one[0] for one in said if one]
    wanted = False if False in values else None if None in values else True
    if condition(again):
        assert database.execute(f"SELECT {condition(again)}").fetchone() == (wanted,)
