"""Names and values as DuckDB reads them back, and which columns a text of SQL may mean."""

import math

import duckdb
import pytest
from hypothesis import given
from hypothesis import strategies as st

from board.errors import BoardError
from board.schema import BY_NAME
from board.sql.identifiers import column, exact_names, literal, may_be_named

TEXT = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), min_size=1, max_size=30)


@given(TEXT)
def test_a_name_is_read_back(name: str) -> None:
    """A column of any name is the column meant."""
    found = duckdb.connect().execute(f"SELECT {column(name)} FROM (SELECT 1 AS {column(name)})").description

    assert found[0][0] == name


def test_words_of_sql_are_quoted() -> None:
    """Every word that DuckDB reserves is quoted, and of the board's own columns no other."""
    reserved = (
        duckdb.connect().execute("SELECT keyword_name FROM duckdb_keywords() WHERE keyword_category = 'reserved'").fetchall()
    )

    assert [word for (word,) in reserved if column(word) == word] == []
    assert [name for name in BY_NAME if column(name) != name] == ["group"] * ("group" in BY_NAME)


@given(TEXT | st.integers(-(2**63), 2**63 - 1) | st.floats() | st.booleans() | st.none())
def test_a_value_is_read_back(value: str | float | bool | None) -> None:
    """A value written as a literal is that very value."""
    row = duckdb.connect().execute(f"SELECT {literal(value)}").fetchone()

    assert row is not None
    if isinstance(value, float) and math.isnan(value):
        assert math.isnan(row[0])
    else:
        assert row[0] == value or float(row[0]) == value


NAMED: dict[str, tuple[str, list[str]]] = {
    "one": ("reward > 1", ["reward"]),
    "another case": ("Reward > 1", ["reward"]),
    "quoted": ('"a ""b""" = 1', ['a "b"']),
    "a part of a longer name": ("reward_gap > 1", ["reward", "reward_gap"]),
    "in a text": ("x = 'reward'", ["reward"]),
    "a star": ("2 * x", ["reward", "reward_gap", 'a "b"', "response"]),
    "all that fit": ("COLUMNS('re.*') > 1", ["reward", "reward_gap", 'a "b"', "response"]),
    "none": ("1 = 1", []),
}


@pytest.mark.parametrize("name", NAMED)
def test_no_column_is_missed(name: str) -> None:
    """Every column that a text may mean is among those found; a few too many do no harm."""
    sql, wanted = NAMED[name]

    assert may_be_named(["reward", "reward_gap", 'a "b"', "response"], sql) == wanted


ALIKE = {"step": "step", "reward": "reward", "Reward_2": "Reward", "REWARD_3": "REWARD", "Score": "Score"}


@pytest.mark.parametrize(
    ("sql", "meant"),
    [
        pytest.param("Reward > 5 AND reward < 1", '"Reward_2" > 5 AND reward < 1', id="plain"),
        pytest.param('avg("Reward") - avg(REWARD)', 'avg("Reward_2") - avg("REWARD_3")', id="quoted"),
        pytest.param("SCORE > 1 AND STEP = 2", "SCORE > 1 AND STEP = 2", id="alone in its spelling"),
        pytest.param("x = 'Reward' -- Reward", "x = 'Reward' -- Reward", id="texts and comments"),
        pytest.param(
            'max(r.Reward) AS "REWARD", Reward(1)', 'max(r."Reward_2") AS "REWARD", Reward(1)', id="given names, functions"
        ),
        pytest.param('"Reward_2" > 1', '"Reward_2" > 1', id="by its number"),
    ],
)
def test_names_that_differ_in_case_alone(sql: str, meant: str) -> None:
    """Each is meant where it is spelled exactly."""
    assert exact_names(sql, ALIKE) == meant


def test_a_name_that_may_be_several() -> None:
    """It is refused with all that it may be; where no two columns are alike, any spelling will do."""
    with pytest.raises(BoardError, match='rEWARD may be reward or "Reward" or "REWARD"'):
        exact_names("rEWARD > 1", ALIKE)
    assert exact_names("rEWARD > 1", {"reward": "reward"}) == "rEWARD > 1"
