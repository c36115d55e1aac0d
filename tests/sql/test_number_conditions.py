"""Comparisons of numbers say what DuckDB says of them, and nothing is said of any other condition."""

import duckdb
import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from board.sql.filtering import Numbers, Truth, truth
from board.sql.query import as_table

FRAME = pd.DataFrame(
    {
        "step": np.array([-3, 0, 1, 2, 2**53, -(2**63)]),
        "group": np.array([0, 0, 1, 1, 2, 2**63 - 1]),
        "reward": [0.1, np.nan, -np.inf, np.inf, 0.30000000000000004, -0.0],
        "Kl max": [1e-8, 0.5, np.nan, 0.2, 123456.789, 2.0],
    }
)


def column(name: str) -> Numbers | None:
    """Numbers of the frame, as `truth` asks for them."""
    found = {known.lower(): known for known in FRAME.columns}.get(name)
    return None if found is None else FRAME[found].to_numpy()


def duckdb_truth(condition: str) -> list[bool | None]:
    """What DuckDB says of each row."""
    connection = duckdb.connect()
    connection.register("rollouts", as_table(FRAME))
    return [one for (one,) in connection.sql(f"SELECT ({condition}) FROM rollouts").fetchall()]


def as_list(found: Truth) -> list[bool | None]:
    """True, false or neither, row by row."""
    return [True if yes else False if no else None for yes, no in zip(found.true, found.false, strict=True)]


LIMITS = st.one_of(
    st.integers(-(2**63) + 1, 2**63 - 1).map(str),
    st.sampled_from(["0", "0.1", "0.3", "-0.0", "0.30000000000", "2", "-3", "123456.789", "0.00000001", "9007199254740992"]),
    st.decimals(-1000, 1000, places=4, allow_nan=False).map("{:f}".format),
)
NAMES = st.sampled_from(["step", "STEP", "reward", '"group"', '"Kl max"', '"kl max"'])
COMPARISONS = st.one_of(
    st.tuples(NAMES, st.sampled_from(["=", "<", ">", "<=", ">=", "<>", "!="]), LIMITS).map(" ".join),
    st.tuples(NAMES, LIMITS, LIMITS).map(lambda given: f"{given[0]} BETWEEN {given[1]} and {given[2]}"),
)


@given(st.lists(COMPARISONS, min_size=1, max_size=3).map(" AND ".join))
def test_as_duckdb(condition: str) -> None:
    """Row by row what DuckDB says, where anything is said: missing, infinite and huge numbers, and decimals that no float is."""
    found = truth(condition, column)

    assert found is None or as_list(found) == duckdb_truth(condition)


@pytest.mark.parametrize(
    "condition",
    [
        "step BETWEEN -3 AND 1",
        'reward BETWEEN 0.1 AND 0.4 AND "Kl max" >= 0.2 AND step = 0',
        '"group"=1 AND reward>-1',
        "reward <> 0.1",
        "prompt_key = 3",
    ],
)
def test_is_answered(condition: str) -> None:
    """What brushes and clicks ask for needs no DuckDB."""
    known = truth(condition, lambda name: FRAME["group"].to_numpy() if name == "prompt_key" else column(name))

    assert known is not None


@pytest.mark.parametrize(
    "condition",
    [
        "",
        "reward",
        "reward > 0 OR step = 1",
        "reward > 0 AND",
        "reward > 0 AND response LIKE '%a%'",
        "NOT reward > 0",
        "group = 1",
        "unknown > 1",
        "step > 0.5",
        "step = 99999999999999999999",
        "reward > 0.12345678901234567",
        "reward > step",
        "reward > 1e3",
        "reward BETWEEN 1 AND 2 AND 3",
        "step BETWEEN 1 AND 2)",
        "(step = 1)",
        "reward >= ALL (SELECT 1)",
        "step = 1; DROP TABLE rollouts",
    ],
)
def test_is_left_to_duckdb(condition: str) -> None:
    """More than comparisons, or a number that DuckDB may read otherwise."""
    assert truth(condition, column) is None
