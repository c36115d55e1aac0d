"""W&B's tables of completions, as TRL logs them: `media/table/completions_10_<digest>.table.json` in a run's folder, a table a file.

TRL's RLOO trainer writes its rollouts nowhere else. A row is what TRL's own file has (`board.formats.trainers.trl`); a table that was
logged again has the same digest in its name. An evaluation's completions bear the step of training, and nothing tells them apart.
"""

import re
from collections.abc import Iterable
from typing import Final

from board.errors import RowRefused
from board.formats.contract import Head, Place
from board.formats.renaming import list_or_none
from board.formats.trainers import trl
from board.sources.json_record import Record
from board.text.counting import plural

NAME: Final = "W&B table"
FAMILY: Final = trl.FAMILY

_FILE: Final = re.compile(r"(?P<table>.*)_(?P<step>[0-9]{1,18})_(?P<digest>[0-9a-f]{8,})\.table\.json")
_GLANCE: Final = 8
"""Rows of a table that a note is made of."""

_SAID: Final = {"step", "prompt", "completion"}


def recognise(head: Head) -> bool:
    """Whether a record is a table whose columns are those of completions."""
    return any(columns(record) >= _SAID for record in head.records)


def columns(record: Record) -> set[str]:
    """The names of a table's columns; none of what is no table."""
    named = record.get("columns")
    sound = isinstance(named, list) and isinstance(record.get("data"), list)
    return {name for name in named if isinstance(name, str)} if sound and named is not None else set()


def rollouts(record: Record, place: Place) -> list[Record]:
    """The rollouts of a table. Raises RowRefused where it is no table, or a row has not as many values as there are columns."""
    return [one for row in rows(record) for one in trl.rollouts(row, place)]


def rows(record: Record) -> list[Record]:
    """The rows of a table as objects. Raises RowRefused where it is none, or a row has not as many values as there are columns."""
    given, data = list_or_none(record, "columns"), list_or_none(record, "data")
    if given is None or data is None:
        raise RowRefused(f"a table of W&B without {'columns' if given is None else 'data'}")
    names = [str(name) for name in given]
    for number, row in enumerate(data, 1):
        if not isinstance(row, list) or len(row) != len(names):
            raise RowRefused(f"row {number:,} of the table has not {plural(len(names), 'value')}, one for each column")
    return [dict(zip(names, row, strict=True)) for row in data]


def step_of(name: str) -> int:
    """The step of W&B at which a table was logged, by the name of its file; 0 where that says none."""
    found = _FILE.fullmatch(name)
    return int(found["step"]) if found else 0


def _beginning(record: Record) -> list[Record]:
    """The first rows that fit the columns: which others do not is reported when they are read."""
    count = len(record["columns"])
    return rows({**record, "data": [row for row in record["data"][:_GLANCE] if isinstance(row, list) and len(row) == count]})


def note(head: Head) -> str:
    """That rewards are sums, and of what; that evaluations stand among the training."""
    first = tuple(row for record in head.records if columns(record) for row in _beginning(record))
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
