"""What travels to the browser for a table: its cells as numbers, texts and lists, and how its columns are shown."""

import json
import math

import numpy as np
import pandas as pd
import pytest
from drawn_tables import SentTable, of_data

from board.ui.components.table import TableColumn, build

HOSTILE = "<b>![](http://127.0.0.1:9/x.png)\u202e"


def sent(frame: pd.DataFrame, sorted_by: tuple[str, bool] | None = None, **columns: TableColumn) -> SentTable:
    """The frame as it is sent."""
    data = build(frame, columns, name="rows", key="k", row_height=35, height=None, sorted_by=sorted_by, leads=True)
    json.dumps(data["meta"], allow_nan=False)
    return of_data(data)


CELLS = {
    "floats": ([1.5, math.nan, math.inf], "number", [1.5, math.nan, math.inf]),
    "whole numbers": (pd.array([1, None, 3], "Int64"), "number", [1.0, math.nan, 3.0]),
    "whole numbers that no float holds": ([2**53 + 1, 1, 2], "text", ["9007199254740993", "1", "2"]),
    "numbers of 32 bits": (np.array([1, 2, 3], np.float32), "number", [1.0, 2.0, 3.0]),
    "true and false": ([True, False, True], "text", ["true", "false", "true"]),
    "texts": ([HOSTILE, "", None], "text", [HOSTILE, "", None]),
    "half a character": (pd.Series(["\ud800", "b", "c"], dtype=object), "text", ["?", "b", "c"]),
    "kinds": (pd.Categorical(["train", None, "train"]), "text", ["train", None, "train"]),
    "mixed": (pd.Series(["a", 1, None], dtype=object), "text", ["a", "1", None]),
}


@pytest.mark.parametrize(("values", "kind", "wanted"), CELLS.values(), ids=CELLS)
def test_cells_travel_as_numbers_or_texts(values: object, kind: str, wanted: list[object]) -> None:
    """Numbers as float64, NaN where missing, unless that loses digits; all else as text, letter for letter, null where missing."""
    table = sent(pd.DataFrame({"a": values}))

    assert table.columns["a"]["kind"] == kind
    assert table.columns["a"]["right"] == (kind == "number")
    np.testing.assert_equal(table.frame["a"].astype(object).tolist(), wanted)


def test_what_is_drawn_travels_as_it_is() -> None:
    """Lines with gaps where a number is missing, lists of texts, colours, boxes."""
    frame = pd.DataFrame(
        {
            "line": [[1.0, math.nan, math.inf], None],
            "tags": [["<a>", "b"], []],
            "colour": ["#ff0000", ""],
            "ticked": [True, False],
            "bar": [-1.0, 3.0],
        }
    )
    drawn = {"line": "trend", "tags": "tags", "colour": "colour", "ticked": "tick", "bar": "bar"}
    table = sent(frame, **{name: TableColumn(drawn=kind) for name, kind in drawn.items()})  # type: ignore[arg-type]

    assert {name: column["kind"] for name, column in table.columns.items()} == drawn
    np.testing.assert_equal(table.frame["line"].tolist(), [[1.0, math.nan, math.nan], []])
    assert table.frame["tags"].tolist() == [["<a>", "b"], []]
    assert table.frame["colour"].tolist() == ["#ff0000", ""]
    assert table.frame["ticked"].tolist() == [1.0, 0.0]
    assert (table.columns["bar"]["low"], table.columns["bar"]["high"]) == (-1.0, 3.0)


def test_a_bar_begins_at_zero() -> None:
    """Or the shortest would be empty, and twice the length mean nothing; of numbers that are not finite nothing is told."""
    table = sent(pd.DataFrame({"a": [2.0, 3.0, math.inf]}), a=TableColumn(drawn="bar"))
    assert (table.columns["a"]["low"], table.columns["a"]["high"]) == (0.0, 3.0)


def test_columns_are_called_and_written_as_said() -> None:
    """A label, or the name; a format, or what the values ask for; what stays in sight stands first; the order that rows are in."""
    frame = pd.DataFrame({"a": [0.5, 0.25], "b": [1, 20]})
    table = sent(frame, ("b", True), b=TableColumn(label="", help="h", format="%,d", pinned=True, sorts=True))

    assert list(table.columns) == ["b", "a"]
    assert table.frame["b"].tolist() == [1, 20]
    shown = {name: (one["label"], one["help"], one["format"], one["sorts"]) for name, one in table.columns.items()}
    assert shown == {"b": ("", "h", "%,d", True), "a": ("a", "", "%.3f", False)}
    assert table.meta["sorted"] == {"column": "b", "descending": True}


def test_no_rows_are_a_table_too() -> None:
    """Columns of every kind may be empty."""
    table = sent(pd.DataFrame({"a": np.empty(0), "b": pd.Series([], dtype=object)}), a=TableColumn(drawn="bar"))
    assert table.meta["rows"] == 0
    assert list(table.columns) == ["a", "b"]
