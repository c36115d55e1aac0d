"""The reader's own metrics: what a query sees, what its answer may be, and which curves it holds."""

from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from queried import FRAME
from rows import token_row, write_run

from board import open_run
from board.errors import BoardError
from board.sql import sandbox_worker
from board.sql.query import LONGEST_QUERY, Answer, as_table, curves, described, evaluate, example, read_answer
from board.sql.sandbox_client import Limits


def asked(query: str, frame: pd.DataFrame = FRAME, limits: Limits | None = None) -> Answer:
    """As `evaluate`, without a process of its own: that takes long, and a wrong query does no harm here."""
    return read_answer(sandbox_worker.answer(as_table(frame), query, asdict(limits or Limits())))


def drawn(answer: Answer) -> dict[str, list[tuple[float, float]]]:
    """The points of each curve by its name."""
    return {curve.name: list(zip(curve.x, curve.y, strict=True)) for curve in curves(answer)}


def at(*values: float) -> list[tuple[float, float]]:
    """These values at the steps 0, 1, 2."""
    return [(float(step), value) for step, value in enumerate(values)]


GOOD: dict[str, tuple[str, dict[str, list[tuple[float, float]]]]] = {
    "a mean, missing values left out": ("SELECT step, avg(reward) AS mean FROM rollouts GROUP BY ALL", {"mean": at(2, 2, 2)}),
    "its own name": ("SELECT step, avg(reward) FROM rollouts GROUP BY step", {"avg(reward)": at(2, 2, 2)}),
    "another case": ("select Step, AVG(Reward) as Mean from Rollouts group by all", {"Mean": at(2, 2, 2)}),
    "with": ("WITH a AS (SELECT * FROM rollouts) SELECT step, max(length) AS l FROM a GROUP BY ALL", {"l": at(3, 7, 11)}),
    "semicolon and comment": ("SELECT step, min(length) AS l FROM rollouts GROUP BY ALL; -- that is it", {"l": at(0, 4, 8)}),
    "split by a text": (
        "SELECT step, data_source, count(*) AS n FROM rollouts WHERE data_source IS NOT NULL GROUP BY ALL",
        {"data_source code": at(1, 1, 1), "data_source math": at(2, 2, 2)},
    ),
    "a missing text is one of its own": (
        "SELECT step, data_source, count(*) AS n FROM rollouts WHERE data_source IS NULL GROUP BY ALL",
        {"data_source –": at(1, 1, 1)},
    ),
    "split by a truth": (
        "SELECT step, reward > 1 AS high, count(*) AS n FROM rollouts WHERE reward IS NOT NULL GROUP BY ALL",
        {"high false": at(1, 1, 1), "high true": at(2, 2, 2)},
    ),
    "two numbers": (
        "SELECT step, count(reward) AS n, sum(length) AS l FROM rollouts GROUP BY ALL",
        {"n": at(3, 3, 3), "l": at(6, 22, 38)},
    ),
    "two numbers and a text": (
        "SELECT step, data_source AS d, count(*) AS n, 2.5 AS k FROM rollouts WHERE d = 'code' GROUP BY ALL",
        {"d code · n": at(1, 1, 1), "d code · k": at(2.5, 2.5, 2.5)},
    ),
    "huge and decimal numbers": (
        "SELECT step, sum(1::HUGEINT) AS h, sum(0.25) AS d FROM rollouts GROUP BY ALL",
        {"h": at(4, 4, 4), "d": at(1, 1, 1)},
    ),
    "out of order": ("SELECT step, max(length) AS l FROM rollouts GROUP BY ALL ORDER BY step DESC", {"l": at(3, 7, 11)}),
    "over something else": (
        "SELECT reward / 2 AS x, count(*) AS n FROM rollouts WHERE reward > 0 GROUP BY ALL",
        {"n": [(0.5, 3.0), (1.0, 3.0), (1.5, 3.0)]},
    ),
    "window": (
        "SELECT DISTINCT step, max(length) OVER (ORDER BY step) AS l FROM rollouts",
        {"l": at(3, 7, 11)},
    ),
    "infinity": ("SELECT step, 'inf'::DOUBLE AS i FROM rollouts GROUP BY ALL", {"i": at(np.inf, np.inf, np.inf)}),
    "no rows": ("SELECT step, avg(reward) AS mean FROM rollouts WHERE step > 9 GROUP BY ALL", {"mean": []}),
    "pivot": (
        "FROM (PIVOT rollouts ON data_source IN ('math', 'code') USING count(*) GROUP BY step)",
        {"math": at(2, 2, 2), "code": at(1, 1, 1)},
    ),
}


@pytest.mark.parametrize("name", GOOD)
def test_curves_of_a_query(name: str) -> None:
    """A curve for each number and combination of texts, over its steps in order."""
    query, wanted = GOOD[name]

    assert drawn(asked(query)) == wanted


TYPES: dict[str, tuple[str, float | str]] = {
    "the largest unsigned of 128 bits": ("340282366920938463463374607431768211455::UHUGEINT", 2.0**128),
    "one beyond the signed": ("170141183460469231731687303715884105728::UHUGEINT", 2.0**127),
    "a small one": ("7::UHUGEINT", 7.0),
    "a missing one": ("NULL::UHUGEINT", np.nan),
    "the largest signed of 128 bits": ("170141183460469231731687303715884105727::HUGEINT", 2.0**127),
    "the least": ("(-170141183460469231731687303715884105727 - 1)::HUGEINT", -(2.0**127)),
    "the largest unsigned of 64 bits": ("18446744073709551615::UBIGINT", 2.0**64),
    "the least of 64 bits": ("(-9223372036854775807 - 1)::BIGINT", -(2.0**63)),
    "an unsigned byte": ("255::UTINYINT", 255.0),
    "a decimal": ("0.3::DECIMAL(38,20)", 0.3),
    "a decimal of many digits": ("12345678901234567.890123::DECIMAL(38,6)", 12345678901234567.890123),
    "a negative decimal": ("-0.1::DECIMAL(4,1)", -0.1),
    "a single float": ("0.1::FLOAT", float(np.float32(0.1))),
    "nothing": ("NULL", np.nan),
    "a big number": ("340282366920938463463374607431768211456::BIGNUM", "neither a number nor text"),
    "an interval": ("INTERVAL 90 SECOND", "neither a number nor text"),
    "a time": ("TIME '01:02:03'", "neither a number nor text"),
    "a time of a zone": ("TIMETZ '01:02:03+02'", "neither a number nor text"),
    "a moment": ("TIMESTAMPTZ '2026-01-01 00:00:00+02'", "neither a number nor text"),
    "bytes": ("'ab'::BLOB", "neither a number nor text"),
    "bits": ("'101'::BIT", "neither a number nor text"),
    "a list of huge ones": ("[340282366920938463463374607431768211455::UHUGEINT]", "neither a number nor text"),
    "a struct": ("{'a': 1::UHUGEINT}", "neither a number nor text"),
    "a map": ("MAP {'a': 1}", "neither a number nor text"),
    "a union": ("union_value(n := 1)", "neither a number nor text"),
    "a variant": ("1::VARIANT", "neither a number nor text"),
    "an array": ("[1, 2]::INT[2]", "neither a number nor text"),
}


@pytest.mark.parametrize("name", TYPES)
def test_no_number_becomes_another(name: str) -> None:
    """Of every type of DuckDB's the answer has the nearest float, or says that it is no number."""
    value, wanted = TYPES[name]
    query = f"SELECT 0 AS step, {value} AS v, 1.0 AS beside"
    if isinstance(wanted, str):
        with pytest.raises(BoardError, match=wanted):
            asked(query)
    else:
        np.testing.assert_array_equal(asked(query).frame["v"], [wanted])


BAD = {
    "a comment": ("-- later", "no query"),
    "no SQL": ("mean of reward", 'syntax error at or near "mean"'),
    "unknown column": ("SELECT step, avg(rewrad) FROM rollouts GROUP BY ALL", 'Candidate bindings: "reward"'),
    "unknown table": ("SELECT step FROM rollout", "Did you mean"),
    "unknown function": ("SELECT step, average(reward) FROM rollouts GROUP BY ALL", "average does not exist"),
    "no group": ("SELECT step, avg(reward) FROM rollouts", "GROUP BY"),
    "two statements": ("SELECT 1 AS step, 2; SELECT 3", "2 statements"),
    "another statement": ("DROP VIEW rollouts", "only SELECT"),
    "parameter": ("SELECT step, $1 AS a FROM rollouts", "not provided"),
    "Python": ("__import__('os').getpid()", "syntax error"),
    "no step": ("SELECT avg(reward) FROM rollouts", "neither a column step nor a column x"),
    "no number": ("SELECT DISTINCT step, data_source FROM rollouts", "no number next to its column step"),
    "step alone": ("SELECT DISTINCT step FROM rollouts", "no number next to its column step"),
    "step is text": ("SELECT data_source AS step, 1 AS y FROM rollouts", "step of the answer is text"),
    "half a step": ("SELECT step / 2 AS step, 1 AS y FROM rollouts", "no whole number"),
    "first step that may be another": ("SELECT 9007199254740993 AS step, 1 AS y", "huge"),
    "huge step": ("SELECT 9007199254740994 AS step, 1 AS y", "huge"),
    "same name twice": ("SELECT step, 1 AS a, 2 AS a FROM rollouts", "2 columns 'a'"),
    "same name in another case": ('SELECT step, 1 AS a, 2 AS "A" FROM rollouts', "2 columns 'a'"),
    "list": ("SELECT step, list(reward) AS l FROM rollouts GROUP BY ALL", "'l' of the answer is of the type list"),
    "date": ("SELECT step, DATE '2026-01-01' AS d FROM rollouts", "'d' of the answer is of the type date"),
    "file": ("SELECT step, 1 AS y FROM 'a.parquet'", "disabled by configuration"),
    "deep": ("SELECT " + "(" * 5_000 + "1" + ")" * 5_000, "depth limit"),
}


@pytest.mark.parametrize("name", BAD)
def test_wrong_queries_say_what_is_wrong(name: str) -> None:
    """DuckDB's own message for what it refuses, ours for an answer that holds no curve."""
    query, wanted = BAD[name]

    with pytest.raises(BoardError) as refused:
        asked(query)

    assert wanted in str(refused.value)


UNSENT = {
    "nothing": (" \n", "no query"),
    "half a character": ("SELECT step, '\ud800' AS a, 1 AS y FROM rollouts", "no text"),
    "end of text": ("SELECT step, '\0' AS a, 1 AS y FROM rollouts", "no text"),
    "very long": ("SELECT " + "1, " * LONGEST_QUERY, "the most that is read"),
}


@pytest.mark.parametrize("name", UNSENT)
def test_what_is_no_query_is_not_sent(name: str) -> None:
    """An empty query, a very long one and one that is no text are refused at once."""
    query, wanted = UNSENT[name]

    with pytest.raises(BoardError, match=wanted):
        evaluate(FRAME, query)


def test_answered_by_a_process() -> None:
    """What the process answers comes back as it is: rows, whether they are all, and DuckDB's message."""
    query = "SELECT step, data_source, count(*) AS n, avg(reward) AS mean FROM rollouts GROUP BY ALL ORDER BY ALL"
    here, there = asked(query, limits=Limits(rows=4)), evaluate(FRAME, query, Limits(rows=4))

    pd.testing.assert_frame_equal(there.frame, here.frame)
    assert there.cut
    with pytest.raises(BoardError, match='Candidate bindings: "reward"'):
        evaluate(FRAME, "SELECT step, avg(rewrad) FROM rollouts GROUP BY ALL")


@pytest.mark.parametrize(
    ("query", "wanted"),
    [
        ("SELECT step, reward FROM rollouts", "several rows for step 0"),
        ("SELECT step, data_source, length FROM rollouts", "several rows of data_source math for step 0"),
        ("SELECT 0.5 AS x, length FROM rollouts", "several rows for x 0.5"),
    ],
)
def test_a_curve_has_one_value_at_a_place(query: str, wanted: str) -> None:
    """An answer that was not aggregated is not drawn as a zigzag: it says where there are several rows, and what to do."""
    with pytest.raises(BoardError, match=wanted):
        curves(asked(query))


def test_rows_without_a_step_are_counted() -> None:
    """A total that ROLLUP adds has no step: it is left out, and told."""
    answer = asked("SELECT step, count(*) AS n FROM rollouts GROUP BY ROLLUP (step)")

    assert answer.frame.to_dict("list") == {"step": [0, 1, 2], "n": [4.0, 4.0, 4.0]}
    assert answer.without_x == 1
    assert not answer.cut


def test_more_rows_than_the_limit_are_cut() -> None:
    """The answer says that it is not whole."""
    answer = asked("SELECT range AS step, 1 AS y FROM range(1000)", limits=Limits(rows=10))

    assert answer.cut
    assert answer.frame["step"].tolist() == list(range(10))


sources = st.one_of(st.none(), st.text(st.characters(exclude_categories=["Cs", "Co"]), max_size=4))
numbers = st.one_of(st.just(np.nan), st.floats(-1e6, 1e6, width=32))


@given(st.lists(st.tuples(st.integers(-3, 3), sources, numbers), min_size=1, max_size=40))
def test_as_pandas_groups(rows: list[tuple[int, str | None, float]]) -> None:
    """Mean, extremes and count of every step and source are those pandas finds, whatever the texts and however much is missing."""
    frame = pd.DataFrame(rows, columns=["step", "source", "reward"]).astype({"reward": "float64"})
    frame["source"] = pd.Categorical(frame["source"])
    query = "SELECT step, source, avg(reward) AS mean, min(reward) AS low, max(reward) AS high, count(reward) AS n FROM rollouts GROUP BY ALL"

    found = asked(query, frame).frame.astype({"source": "object"})
    told = frame.astype({"source": "object"}).groupby(["step", "source"], dropna=False)["reward"]
    wanted = told.agg(["mean", "min", "max", "count"]).reset_index()
    wanted.columns = found.columns
    wanted["source"] = wanted["source"].astype("object")
    order = ["step", "source"]
    pd.testing.assert_frame_equal(
        found.fillna({"source": "\ue000"}).sort_values(order, ignore_index=True),  # a letter that no source has
        wanted.fillna({"source": "\ue000"}).sort_values(order, ignore_index=True),
        check_dtype=False,
        rtol=1e-9,
        atol=1e-6,
    )


def test_sees_a_run_as_it_was_loaded(tmp_path: Path) -> None:
    """Every column of a real run's frame can be named, under the name that the list of columns gives it."""
    rows = [token_row(step, reward=step / 2, Reward=3, rank=rank, **{"a b": 1}) for step in range(3) for rank in (0, 10, 9)]
    run = open_run(write_run(tmp_path / "run", {"a.jsonl": rows}))
    columns = described(run.frame)["column"].tolist()
    texts = described(run.frame).set_index("column")["type"].eq("text")

    counts = ", ".join(f'count("{name}") AS n{at}' for at, name in enumerate(columns))
    found = asked(f"SELECT step, {counts} FROM rollouts GROUP BY ALL", run.frame).frame

    assert (found.drop(columns="step") == 3).all(axis=None)
    assert {"reward", "Reward_2", "a b", "shard", "kl_k3_mean"} <= set(columns)
    assert texts[["shard", "rank"]].all()
    assert not texts[["step", "line", "reward"]].any()
    assert list(drawn(asked("SELECT step, rank, avg(reward) FROM rollouts GROUP BY ALL ORDER BY ALL", run.frame))) == [
        "rank 0",
        "rank 9",
        "rank 10",
    ]


def test_names_that_sql_would_confuse() -> None:
    """Names that differ in case alone, and empty ones, are told apart by a number."""
    frame = pd.DataFrame([[1, 2, 3, 4]], columns=["a", "A", "a_2", ""])

    assert as_table(frame).column_names == ["a", "A_2", "a_2_2", "column_4"]


def test_numbers_are_not_copied() -> None:
    """The table has the frame's own memory, also where values are missing."""
    frame = pd.DataFrame({"reward": np.array([1.0, np.nan, 3.0])})

    table = as_table(frame)

    assert table.column("reward").chunk(0).buffers()[1].address == frame["reward"].to_numpy().ctypes.data
    assert table.column("reward").null_count == 1


@pytest.mark.parametrize("fields", [{}, {"reward": ...}, {"data_source": "math"}, {"reward": ..., "response_tokens": ...}])
def test_example_is_right_for_the_run(tmp_path: Path, fields: dict[str, Any]) -> None:
    """The query that stands in the editor first can be run on any run, and gives a curve."""
    rows = [{**token_row(step), **fields, "rank": rank} for step in range(2) for rank in range(2)]
    kept = [{name: value for name, value in row.items() if value is not ...} for row in rows]
    run = open_run(write_run(tmp_path / "run", {"a.jsonl": kept}))

    found = curves(asked(example(run.frame), run.frame))

    assert found
    assert all(np.isfinite(curve.y).all() and list(curve.x) == [0, 1] for curve in found)


def test_example_tells_rows_apart_of_which_some_say_nothing() -> None:
    """Who says no split is of training."""
    frame = pd.DataFrame({"step": [0, 0], "reward": [0.0, 1.0], "split": [None, "evaluation"]})

    assert "split" in example(frame)


def test_frame_is_not_changed() -> None:
    """A run is shared by all readers: no query may change what they see."""
    before = FRAME.copy()

    asked("SELECT step, sum(reward) * 0 AS reward FROM rollouts GROUP BY ALL")

    pd.testing.assert_frame_equal(FRAME, before)
