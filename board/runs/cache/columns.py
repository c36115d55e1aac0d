"""Columns by name, in an Arrow table or in a mapped file that is verified on access."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol, runtime_checkable

import pyarrow as pa


class Columns(Protocol):
    """The interface of a table; an Arrow table has it."""

    @property
    def column_names(self) -> list[str]:
        """Names of the columns, in order."""

    @property
    def num_rows(self) -> int:
        """How many rows each has."""

    def column(self, name: str, /) -> pa.ChunkedArray:
        """A column, in one chunk. Raises KeyError where there is none of that name."""


@dataclass(frozen=True)
class ColumnInFile:
    """Where a column lies on the disk: who maps the file has it without a copy."""

    path: Path
    """An Arrow IPC file."""
    column: str
    """Its name there."""
    inode: int
    """Of the file that was verified: another of that name is not the same."""


@runtime_checkable
class OnDisk(Protocol):
    """Columns that may lie in a file."""

    def in_file(self, name: str, /) -> ColumnInFile | None:
        """Where a column lies, verified; None where it lies in memory alone."""


def column_in_file(columns: Columns, name: str) -> ColumnInFile | None:
    """Where a column lies on the disk; None where it lies in memory alone."""
    return columns.in_file(name) if isinstance(columns, OnDisk) else None


class Overlaid:
    """Columns with some put in the place of those of the same name, or behind all; the others stay untouched where they are."""

    def __init__(self, under: Columns, over: Mapping[str, pa.ChunkedArray]) -> None:
        self._under, self._over = under, over

    @property
    def column_names(self) -> list[str]:
        """Those beneath, then those that are new."""
        return list(dict.fromkeys([*self._under.column_names, *self._over]))

    @property
    def num_rows(self) -> int:
        """As beneath."""
        return self._under.num_rows

    def column(self, name: str) -> pa.ChunkedArray:
        """The column put in its place, else the one beneath."""
        return self._over[name] if name in self._over else self._under.column(name)

    def in_file(self, name: str) -> ColumnInFile | None:
        """As beneath; what was put in its place lies in memory."""
        return None if name in self._over else column_in_file(self._under, name)


def as_table(columns: Columns, names: Sequence[str] | None = None) -> pa.Table:
    """Some of the columns, or all, as an Arrow table."""
    return pa.table({name: columns.column(name) for name in (columns.column_names if names is None else names)})
