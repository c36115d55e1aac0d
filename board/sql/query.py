"""The reader's own metrics: an SQL query over a run's frame, and the curves its answer holds.

The query sees one table, `rollouts`: the scalars of the frame, a row per rollout, missing values as NULL. Token arrays are not in it. It is
answered in a process of its own.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
import pandas as pd
import pyarrow as pa

from board.errors import BoardError
from board.metrics.formulas import Float64Array
from board.schema import BY_NAME, Column
from board.sql.identifiers import exact_names
from board.sql.sandbox_client import Limits, answered
from board.text.format_number import MISSING
from board.text.natural_order import natural_key

TABLE: Final = "rollouts"
STEP: Final = "step"
LONGEST_QUERY: Final = 20_000
"""Characters."""

_EXACT: Final = 2.0**53
"""Whole numbers from here on are not all floats."""


@dataclass(frozen=True)
class Answer:
    """What a query gave: a column `step` (int64) or `x` (float64), ascending, float64 numbers and texts; at least one is a number."""

    x: str
    """`step` or `x`: which of the two the curves are over."""
    frame: pd.DataFrame
    cut: bool
    """Whether there were more rows than the limit."""
    without_x: int
    """Rows left out because their step, or x, was missing or not finite."""


@dataclass(frozen=True)
class CustomCurve:
    """One curve of an answer. Shapes (n,): its steps or x, ascending and each once, and its values, NaN where missing."""

    number: str
    """The column its values are from."""
    name: str
    """On the screen: the texts it was split by, and the number where there are several."""
    x: Float64Array
    y: Float64Array


def evaluate(frame: pd.DataFrame, query: str, limits: Limits | None = None) -> Answer:
    """The answer to one SELECT over the frame as the table `rollouts`; the frame is not changed.

    Raises BoardError with DuckDB's own message for a query it refuses, and with ours for one that is not allowed, takes longer or needs more
    than the limits, or whose answer holds no curve.
    """
    check_query(query)
    names = [str(name) for name in frame.columns]
    query = exact_names(query, dict(zip(unlike(names), names, strict=True)))
    return read_answer(answered(as_table(frame), query, limits or Limits()))


def check_query(query: str) -> None:
    """Raises BoardError for a query that is empty, too long, or holds a character that is no text."""
    if not query.strip():
        raise BoardError("There is no query: write one SELECT statement.")
    if len(query) > LONGEST_QUERY:
        raise BoardError(f"The query has {len(query):,} characters, and {LONGEST_QUERY:,} is the most that is read.")
    if any(0xD800 <= ord(character) < 0xE000 or character == "\0" for character in query):
        raise BoardError("The query holds a character that is no text.")


def as_table(frame: pd.DataFrame) -> pa.Table:
    """The frame as queries see it: its buffers where possible, NaN as NULL, names that differ in more than case and are not empty."""
    table = pa.Table.from_pandas(frame, preserve_index=False)
    return table.rename_columns(unlike(table.column_names)).replace_schema_metadata(None)


def unlike(names: Sequence[str]) -> list[str]:
    """SQL takes `Reward` and `reward` for the same: later ones get a number."""
    taken: dict[str, None] = {}
    for at, name in enumerate(names):
        plain = name or f"column_{at + 1}"
        unlike, number = plain, 1
        while unlike.lower() in {one.lower() for one in taken}:
            number += 1
            unlike = f"{plain}_{number}"
        taken[unlike] = None
    return list(taken)


def _is_number(kind: pa.DataType) -> bool:
    return bool(pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_decimal(kind) or pa.types.is_null(kind))


def _numbers(column: pa.ChunkedArray) -> Float64Array:
    """The nearest floats. A decimal by its digits: Arrow's own cast is often the neighbouring float."""
    if pa.types.is_decimal(column.type):
        column = column.cast(pa.string())
    values: Float64Array = column.cast(pa.float64(), safe=False).to_pandas().to_numpy(np.float64)
    return values


def _texts(column: pa.ChunkedArray) -> "pd.Series[str]":
    texts: pd.Series[str] = column.cast(
        pa.large_string()
    ).to_pandas()  # not by dtype "str", which is text where pandas 2 has none
    return texts


_READ: Final[Sequence[tuple[Callable[[pa.DataType], bool], Callable[[pa.ChunkedArray], object]]]] = (
    (_is_number, _numbers),
    (pa.types.is_boolean, _texts),
    (pa.types.is_string, _texts),
    (pa.types.is_large_string, _texts),
    (pa.types.is_dictionary, _texts),
)
"""What the answer's columns may be, and how each is read."""


def read_answer(said: pa.Table) -> Answer:
    """What `board.sql.sandbox_worker` answered, as numbers and texts over its step or x.

    Raises BoardError with its reason where it has no answer, and with ours where that holds no curve.
    """
    if reason := said.schema.metadata.get(b"error"):
        raise BoardError(reason.decode())
    over = _x_of(said.column_names)
    x = over.lower()
    columns = {name: _read(said.field(name), said.column(name)) for name in said.column_names}
    xs = columns.pop(over)
    if isinstance(xs, pd.Series):
        raise BoardError(f"The column {x} of the answer is text, and must be a number.")
    if all(isinstance(values, pd.Series) for values in columns.values()):
        raise BoardError(f"The answer has no number next to its column {x}: select one, such as avg(reward).")
    known = np.isfinite(xs)
    if x == STEP and ((xs[known] != np.floor(xs[known])) | (np.abs(xs[known]) >= _EXACT)).any():
        raise BoardError("The answer has a step that is no whole number, or a huge one: call the column x where it is no step.")
    ordered = pd.DataFrame({x: xs, **columns})[known].sort_values(x, kind="stable", ignore_index=True)
    frame = ordered.astype({STEP: "int64"}) if x == STEP else ordered
    return Answer(x, frame, bool(said.schema.metadata[b"cut"]), int((~known).sum()))


def _x_of(columns: Sequence[str]) -> str:
    """Which column of an answer its curves are over. Raises BoardError where there is none, or two have the same name."""
    names = [name.lower() for name in columns]
    if twice := next((name for name in names if names.count(name) > 1), None):
        raise BoardError(f"The answer has {names.count(twice)} columns {twice!r}: give each its own name with AS.")
    x = next((name for name in (STEP, "x") if name in names), None)
    if x is None:
        raise BoardError("The answer has neither a column step nor a column x for its curves to be drawn over.")
    return columns[names.index(x)]


def _read(field: pa.Field, column: pa.ChunkedArray) -> "Float64Array | pd.Series[str]":
    read = next((read for fits, read in _READ if fits(field.type)), None)
    if read is None:
        raise BoardError(f"The column {field.name!r} of the answer is of the type {field.type}: neither a number nor text.")
    return read(column)  # type: ignore[return-value]


def curves(answer: Answer) -> list[CustomCurve]:
    """One curve for each number column and combination of texts, in natural order. Raises BoardError where a curve has two values at a place."""
    frame = answer.frame
    numbers = [name for name in frame.columns if name != answer.x and frame[name].dtype == np.float64]
    texts = [name for name in frame.columns if name != answer.x and name not in numbers]
    found = []
    for combination, rows in _split(frame, texts):
        twice = rows[answer.x].duplicated()
        if twice.any():
            at, named = rows[answer.x][twice].iloc[0], f" of {' · '.join(combination)}" if combination else ""
            raise BoardError(
                f"The answer has several rows{named} for {answer.x} {at:g}: a curve has one value there, so aggregate, as avg(reward), "
                "and GROUP BY ALL."
            )
        x = rows[answer.x].to_numpy(np.float64)
        for number in numbers:
            parts = [*combination, *([number] if len(numbers) > 1 or not combination else [])]
            found.append(CustomCurve(number, " · ".join(parts), x, rows[number].to_numpy(np.float64)))
    return found


def _split(frame: pd.DataFrame, texts: Sequence[str]) -> Iterator[tuple[tuple[str, ...], pd.DataFrame]]:
    """The rows of each combination of texts; a missing text is one of its own."""
    if not texts:
        yield (), frame
        return
    groups = frame.groupby(list(texts), dropna=False, sort=False)
    named = [(tuple(text if isinstance(text, str) else MISSING for text in key), rows) for key, rows in groups]
    for values, rows in sorted(named, key=lambda one: [natural_key(text) for text in one[0]]):
        yield tuple(f"{name} {value}" for name, value in zip(texts, values, strict=True)), rows


def described(frame: pd.DataFrame, declared: Callable[[str], Column | None] = BY_NAME.get) -> pd.DataFrame:
    """The columns a query may name, one a row: `column`, `type` and, of those that are `declared`, `meaning` with the unit."""
    table = as_table(frame.iloc[:0])
    known = [declared(name) for name in frame.columns]
    return pd.DataFrame(
        {
            "column": table.column_names,
            "type": ["number" if _is_number(field.type) else "text" for field in table.schema],
            "meaning": ["" if one is None else f"{one.meaning} ({one.unit})" if one.unit else one.meaning for one in known],
        }
    )


def example(frame: pd.DataFrame) -> str:
    """A query to begin with, over columns the frame has: mean and best of a number, by a column whose values differ."""
    names = set(as_table(frame.iloc[:0]).column_names)
    measured = next((name for name in ("reward", "response_length", "response_chars") if name in names), None)
    several = (name for name in ("data_source", "split", "rank") if name in names and frame[name].nunique(dropna=False) > 1)
    split = next(several, None)
    values = f"avg({measured}) AS mean, max({measured}) AS best" if measured else "count(*) AS rollouts"
    return f"SELECT {', '.join(filter(None, ['step', split, values]))}\nFROM {TABLE}\nGROUP BY ALL"
