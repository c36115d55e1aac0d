"""W&B's tables of completions, as TRL logs them: `media/table/completions_10_<digest>.table.json` in a run's folder, a table a file.

TRL's RLOO trainer writes its rollouts nowhere else. A row is what TRL's own file has (`board.formats.trainers.trl`); a table that was
logged again has the same digest in its name. An evaluation's completions bear the step of training, and nothing tells them apart.
"""

import re
from collections.abc import Iterable
from typing import Any, Final

from board.errors import RowRefused
from board.formats.contract import Head, Place
from board.formats.renaming import list_or_none
from board.formats.trainers import trl
from board.sources.json_record import Record
from board.text.counting import plural

NAME: Final = "W&B table"
FAMILY: Final = trl.FAMILY
ARRAYS: Final[frozenset[str]] = frozenset()

_FILE: Final = re.compile(r"(?P<table>.*)_[0-9]+_(?P<digest>[0-9a-f]{8,})\.table\.json")
_GLANCE: Final = 8
"""Rows of a table that a note is made of."""

_SAID: Final = {"step", "prompt", "completion"}


def recognise(head: Head) -> bool:
    """Whether a record is a table whose columns are those of completions."""
    return any(_columns(record) >= _SAID for record in head.records)


def _columns(record: Record) -> set[Any]:
    columns = record.get("columns")
    sound = isinstance(columns, list) and isinstance(record.get("data"), list)
    return {name for name in columns if isinstance(name, str)} if sound and columns is not None else set()


def rollouts(record: Record, place: Place) -> list[Record]:
    """The rollouts of a table. Raises RowRefused where it is no table, or a row has not as many values as there are columns."""
    return [one for row in _rows(record) for one in trl.rollouts(row, place)]


def _rows(record: Record) -> list[Record]:
    given, rows = list_or_none(record, "columns"), list_or_none(record, "data")
    if given is None or rows is None:
        raise RowRefused(f"a table of W&B without {'columns' if given is None else 'data'}")
    columns = [str(name) for name in given]
    for number, row in enumerate(rows, 1):
        if not isinstance(row, list) or len(row) != len(columns):
            raise RowRefused(f"row {number:,} of the table has not {plural(len(columns), 'value')}, one for each column")
    return [dict(zip(columns, row, strict=True)) for row in rows]


def _beginning(record: Record) -> list[Record]:
    """The first rows that fit the columns: which others do not is told when they are read."""
    columns = [str(name) for name in record["columns"]]
    fitting = (row for row in record["data"][:_GLANCE] if isinstance(row, list) and len(row) == len(columns))
    return [dict(zip(columns, row, strict=True)) for row in fitting]


def note(head: Head) -> str:
    """That rewards are sums, and of what; that evaluations stand among the training."""
    first = tuple(row for record in head.records if _columns(record) for row in _beginning(record))
    mixed = "A table of W&B does not tell an evaluation's completions from those of training."
    return " ".join(filter(None, [trl.note(Head(head.name, first)) if first else "", mixed]))


def repeated(names: Iterable[str]) -> dict[str, str]:
    """Tables that hold what an earlier one of the same name does, letter for letter: the file, and which it repeats."""
    first: dict[tuple[str, str], str] = {}
    again = {}
    for name in names:
        if found := _FILE.fullmatch(name):
            earlier = first.setdefault((found["table"], found["digest"]), name)
            if earlier != name:
                again[name] = earlier
    return again
