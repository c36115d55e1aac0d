"""Payload of a table: its cells as one Arrow table, and its columns as a little JSON.

Numbers are float64, NaN where missing; whatever is neither a number nor a list travels as text, null where missing.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any, Final

import numpy as np
import pandas as pd
import pyarrow as pa

from board.text.format_number import column_format
from board.ui.components.table.columns import PLAIN, TableColumn

LARGEST_EXACT: Final = 2**53
"""Beyond it a float64 does not hold every whole number: such a column travels as text."""


def build(
    frame: pd.DataFrame,
    columns: Mapping[str, TableColumn],
    *,
    name: str,
    key: str,
    row_height: int,
    height: int | None,
    sorted_by: tuple[str, bool] | None,
    leads: bool,
) -> dict[str, Any]:
    """The data of the component: the frame's rows in their order, a column of `columns` or a plain one for each of its columns.

    `name` says what is listed ("rollouts"), `key` is the component's. Rows are `row_height` pixels tall, the table at most `height`, or as
    tall as the window allows. `sorted_by` is the column that the rows are in the order of, and whether the largest come first;
    `leads` says whether a click on a row leads somewhere.
    """
    shown = {str(head): columns.get(str(head), PLAIN) for head in frame.columns}
    ordered = sorted(shown, key=lambda head: not shown[head].pinned)  # those that stay in sight stand first
    made = [_column(head, frame[head], shown[head]) for head in ordered]
    cells = pa.table({str(at): array for at, (_, array) in enumerate(made)})
    by = None if sorted_by is None else {"column": sorted_by[0], "descending": sorted_by[1]}
    shape = {"rows": len(frame), "rowHeight": row_height, "height": height, "sorted": by, "leads": leads}
    return {"meta": {"name": name, "key": key, "columns": [sent for sent, _ in made], **shape}, "cells": cells}


def _column(name: str, values: "pd.Series[Any]", column: TableColumn) -> tuple[dict[str, Any], pa.Array]:
    """What the browser receives of a column, and its values as they travel."""
    kind, array = _values(values, column)
    sent = asdict(column) | {
        "name": name,
        "label": name if column.label is None else column.label,
        "kind": kind,
        "right": kind in ("number", "bar") if column.right is None else column.right,
    }
    if kind in ("number", "bar"):
        numbers = array.to_numpy(zero_copy_only=False)
        sent["format"] = column.format or column_format(numbers)
        known = numbers[np.isfinite(numbers)]
        sent |= {"low": min(0.0, float(known.min(initial=0.0))), "high": max(0.0, float(known.max(initial=0.0)))}
    del sent["drawn"]
    return sent, array


def _values(values: "pd.Series[Any]", column: TableColumn) -> tuple[str, pa.Array]:
    """The kind of a column and its values: numbers, texts, or lists of either."""
    if column.drawn == "trend":
        return "trend", pa.array([_numbers(one) for one in values], pa.list_(pa.float32()))
    if column.drawn == "tags":
        return "tags", pa.array([[str(text) for text in one] for one in values], pa.list_(pa.string()))
    if column.drawn == "colour":
        return "colour", pa.array([str(one) for one in values], pa.string())
    if column.drawn == "tick":
        return "tick", pa.array(values.to_numpy(bool).astype(np.float64))
    if _is_number(values):
        kind = "bar" if column.drawn == "bar" else "number"
        return kind, pa.array(values.to_numpy(np.float64, na_value=math.nan))
    return "text", pa.array([_text(one) for one in values], pa.string())


def _is_number(values: "pd.Series[Any]") -> bool:
    """Whether a column's values travel as numbers: all that floats hold exactly."""
    if pd.api.types.is_bool_dtype(values) or not pd.api.types.is_numeric_dtype(values):
        return False
    if not pd.api.types.is_integer_dtype(values):
        return not pd.api.types.is_complex_dtype(values)
    known = values.dropna()
    return known.empty or max(abs(int(known.min())), abs(int(known.max()))) <= LARGEST_EXACT


def _numbers(values: Sequence[float] | None) -> list[float]:
    """A line's values; what is not finite is a gap."""
    return [float(one) if one is not None and math.isfinite(one) else math.nan for one in (() if values is None else values)]


def _text(value: Any) -> str | None:
    if isinstance(value, str):
        return value.encode("utf-8", "replace").decode("utf-8")
    if isinstance(value, bool | np.bool_):
        return "true" if value else "false"
    return None if value is None or pd.isna(value) is True else str(value)
