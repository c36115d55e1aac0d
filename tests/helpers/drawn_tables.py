"""The tables that a page sends to the browser: their rows, how their columns are shown, and which row is chosen. And a click on one."""

import json
from dataclasses import dataclass
from typing import Any

import component_reports
import pandas as pd
import pyarrow as pa
from streamlit.testing.v1 import AppTest


@dataclass(frozen=True)
class SentTable:
    """A table as it is sent."""

    key: str
    meta: dict[str, Any]
    frame: pd.DataFrame
    """Its rows in order, with their columns by name: numbers, texts or lists."""
    chosen: int | None

    @property
    def columns(self) -> dict[str, dict[str, Any]]:
        """How each column is shown, by name, in the order of the screen."""
        return {column["name"]: column for column in self.meta["columns"]}


def of_data(data: dict[str, Any], chosen: int | None = None) -> SentTable:
    """The table of a component's data."""
    return _sent(data["meta"], data["cells"], chosen)


def tables(test: AppTest) -> list[SentTable]:
    """The tables of a page, in its order."""
    components = {
        name: [one.proto for one in test.get("bidi_component") if _named(one, name)] for name in ("table", "table_choice")
    }
    chosen = {told["key"]: told["row"] for told in (json.loads(proto.json) for proto in components["table_choice"])}
    found = []
    for proto in components["table"]:
        mixed = json.loads(proto.mixed.json)
        blob = proto.mixed.arrow_blobs[mixed["cells"]["__streamlit_arrow_ref__"]].data
        found.append(_sent(mixed["meta"], pa.ipc.open_stream(blob).read_all(), chosen[mixed["meta"]["key"]]))
    return found


def with_column(test: AppTest, name: str) -> SentTable:
    """The first table of the page that has such a column."""
    return next(one for one in tables(test) if name in one.columns)


def clicked(test: AppTest, table: SentTable, row: int, column: str = "") -> AppTest:
    """The page after a click on a row of the table, from 0."""
    return _told(test, table, "clicked", {"row": row, "column": column or next(iter(table.columns))})


def sorted_by_head(test: AppTest, table: SentTable, column: str) -> AppTest:
    """The page after a click on the head of a column that more than the rows on the page are sorted by."""
    assert table.columns[column]["sorts"]
    return _told(test, table, "sorted", column)


def ticked(test: AppTest, table: SentTable, row: int, *, on: bool) -> AppTest:
    """The page after a click on the box of a row, which is ticked then or no longer."""
    return _told(test, table, "ticked", {"row": row, "on": on})


def _told(test: AppTest, table: SentTable, what: str, value: object) -> AppTest:
    return component_reports.told(test, table.key, what, value)


def _named(element: Any, name: str) -> bool:
    return bool(element.proto.component_name.endswith(f"rl_logging_board.{name}"))


def _sent(meta: dict[str, Any], cells: pa.Table, chosen: int | None) -> SentTable:
    numbers = ("number", "bar", "tick")
    frame = pd.DataFrame(
        {
            column["name"]: pd.Series(cells.column(at).to_pylist(), dtype=float if column["kind"] in numbers else object)
            for at, column in enumerate(meta["columns"])
        }
    )
    return SentTable(meta["key"], meta, frame, chosen)
