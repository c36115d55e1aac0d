"""Rollouts as rows of Parquet in an index, and back.

A number or id stands under its own name; texts are `text/…`, token arrays `token/…`, what they add up to `sum/…`, what is measured of texts
`measured/…`. Every page of a file has a checksum of its own, and the index has the sum of its footer.
"""

import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, BinaryIO, Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray
from xxhash import xxh3_64_intdigest

from board.runs.cache.parts import COUNTS, PADS, Part
from board.sources.index_file import ROWS

ROLLOUT: Final = "rollout"
"""The column of ids: the number of the source times 2^PLACES, and the row in it."""
LOT: Final = "lot"
"""The column of a number from 0 to 1 for each prompt of each step, by which samples are drawn."""
MEASURED: Final = "measured/"

GROUP: Final = "group"

PLACES: Final = 40

_PREFIXES: Final = {"texts": "text/", "tokens": "token/", "moments": "sum/"}
_NUMBER: Final = "number/"
"""Stands before the name of a number that begins as the names of other columns do."""
_ALWAYS: Final = frozenset({"step", "shard", "line", "offset", "nth", "prompt_key", f"token/{COUNTS}", f"token/{PADS}"})
"""Columns that every part has."""

PART_ROWS: Final = 8_192
PART_BYTES: Final = 64_000_000


def name_of(scalar: str) -> str:
    """The column of a number or id."""
    is_other = scalar.startswith((*_PREFIXES.values(), _NUMBER, MEASURED)) or scalar in (ROLLOUT, LOT)
    return _NUMBER + scalar if is_other else scalar


def text_of(name: str) -> str:
    """The column of a text."""
    return _PREFIXES["texts"] + name


def table_of(part: Part) -> pa.Table:
    """A part as columns for Parquet: what is missing is null, ids are texts."""
    columns = {name_of(name): _open(part.scalars.column(name)) for name in part.scalars.column_names}
    for kind, prefix in _PREFIXES.items():
        table = getattr(part, kind)
        columns |= {prefix + name: table.column(name) for name in table.column_names}
    columns |= {name: _open(column) for name, column in columns.items() if name.startswith("sum/")}
    return pa.table(columns)


def _open(column: pa.ChunkedArray) -> pa.ChunkedArray:
    if pa.types.is_dictionary(column.type):
        return column.cast(pa.string())
    return pc.if_else(pc.is_nan(column), None, column) if pa.types.is_floating(column.type) else column


def part_of(table: pa.Table) -> Part:
    """Rows as a part; columns without any value are left out, but for those that every part has."""
    table = table.combine_chunks()
    kinds: dict[str, dict[str, Any]] = {"scalars": {}, **{kind: {} for kind in _PREFIXES}}
    for name in table.column_names:
        column = table.column(name)
        kind, prefix = next(((kind, prefix) for kind, prefix in _PREFIXES.items() if name.startswith(prefix)), ("scalars", ""))
        if name in (ROLLOUT, LOT) or name.startswith(MEASURED) or (column.null_count == len(table) and name not in _ALWAYS):
            continue
        own = name.removeprefix(prefix or _NUMBER)
        kinds[kind][own] = _closed(column) if kind in ("scalars", "moments") else column
    return Part(**{kind: pa.table(columns) for kind, columns in kinds.items()}, summaries=pa.table({}))


def _closed(column: pa.ChunkedArray) -> pa.ChunkedArray:
    """As parts have it: NaN where a number is missing, ids as a dictionary."""
    if pa.types.is_string(column.type):
        return pa.chunked_array([column.combine_chunks().dictionary_encode()])
    return pc.fill_null(column, np.nan) if pa.types.is_floating(column.type) else column


def sum_of_footer(stream: BinaryIO) -> int:
    """The sum of what Parquet keeps no checksum of: where a file's pages lie, and what is in them. Raises OSError."""
    end = stream.seek(0, os.SEEK_END) - 8  # the length of the metadata stands before the last four bytes
    stream.seek(max(0, end))
    stream.seek(max(0, end - int.from_bytes(stream.read(4), "little")))
    return int(xxh3_64_intdigest(stream.read()))


@dataclass(frozen=True)
class RowFile:
    """A file of Parquet."""

    name: str
    size: int
    sum: int
    """`sum_of_footer`."""
    rows: int
    first: int
    """The id of its first row; the others follow."""


Opened = Callable[[str], BinaryIO]
"""A file of an index, to be read. Raises OSError."""


class RowFiles:
    """The files of an index. What is read of them is verified; what is not as it was written raises OSError or ValueError."""

    def __init__(self, sources: Mapping[str, Mapping[str, Any]], opened: Opened, folder: str = f"{ROWS}/") -> None:
        """`sources` as the file of the index has them, `opened` gives a file of the index; those of the sources lie in a `folder` of it."""
        self._opened = opened
        self.by_source = {name: _files_of(source, folder) for name, source in sources.items()}

    @property
    def files(self) -> list[RowFile]:
        """All of them, in the order of sources."""
        return [one for files in self.by_source.values() for one in files]

    def check(self, file: RowFile) -> None:
        """Look at a file's size and footer. Raises OSError, ValueError."""
        with self._opened(file.name) as stream:
            _check(stream, file)

    def scan(
        self, columns: Sequence[str], steps: tuple[int, int] | None = None, sources: Iterable[str] | None = None
    ) -> Iterator[pa.Table]:
        """Some columns, where a file has them, of all rows or of those of steps from the first to the last; group by group of rows."""
        for file in self.files if sources is None else [one for name in sources for one in self.by_source[name]]:
            with self._opened(file.name) as stream:
                found = _parquet(stream, file)
                own = {*found.schema_arrow.names}
                held = [name for name in columns if name in own]
                for group in range(found.num_row_groups):
                    if steps is None:
                        yield found.read_row_group(group, held, use_threads=False)
                    elif _meets(found, group, steps):
                        read = found.read_row_group(group, list({*held, "step"}), use_threads=False)
                        step = read.column("step")
                        yield read.filter(pc.and_(pc.greater_equal(step, steps[0]), pc.less_equal(step, steps[1])))

    def columns(self) -> set[str]:
        """Of all files together."""
        found = set[str]()
        for file in self.files:
            with self._opened(file.name) as stream:
                found |= {*_parquet(stream, file).schema_arrow.names}
        return found

    def tables(self, ids: NDArray[np.int64]) -> Iterator[pa.Table]:
        """All columns of the rows with these rising ids, in tables that are no larger than a part should be."""
        held, rows, size = list[pa.Table](), 0, 0
        for table in self._groups_of(ids):
            if held and (rows + len(table) > PART_ROWS or size + table.nbytes > PART_BYTES):
                yield pa.concat_tables(held, promote_options="default")
                held, rows, size = [], 0, 0
            held.append(table)
            rows, size = rows + len(table), size + table.nbytes
        if held:
            yield pa.concat_tables(held, promote_options="default")

    def _groups_of(self, ids: NDArray[np.int64]) -> Iterator[pa.Table]:
        for file in sorted(self.files, key=lambda one: one.first):
            start, stop = np.searchsorted(ids, [file.first, file.first + file.rows])
            if start == stop:
                continue
            own = ids[start:stop] - file.first
            with self._opened(file.name) as stream:
                found = _parquet(stream, file)
                ends = np.cumsum([found.metadata.row_group(group).num_rows for group in range(found.num_row_groups)])
                for group in np.unique(np.searchsorted(ends, own, side="right")).tolist():
                    first = int(ends[group - 1]) if group else 0
                    rows = own[(own >= first) & (own < ends[group])] - first
                    yield found.read_row_group(group, use_threads=False).take(pa.array(rows))


def _files_of(source: Mapping[str, Any], folder: str) -> list[RowFile]:
    if source["number"] >= 1 << 63 - PLACES:
        raise ValueError("a source has too large a number")
    first, found = source["number"] << PLACES, list[RowFile]()
    for file in source["files"]:
        found.append(RowFile(folder + file["name"], file["size"], file["sum"], file["rows"], first))
        first += file["rows"]
    return found


def _parquet(stream: BinaryIO, file: RowFile) -> Any:
    # here alone: opening a run that is no index starts sooner without it
    import pyarrow.parquet as pq

    _check(stream, file)
    found = pq.ParquetFile(stream, page_checksum_verification=True, pre_buffer=True)
    if found.metadata.num_rows != file.rows:
        raise ValueError(f"{file.name} has other rows than were written")
    return found


def _check(stream: BinaryIO, file: RowFile) -> None:
    if stream.seek(0, os.SEEK_END) != file.size or sum_of_footer(stream) != file.sum:
        raise ValueError(f"{file.name} is not as it was written")


def _meets(found: Any, group: int, steps: tuple[int, int]) -> bool:
    known = found.metadata.row_group(group).column(found.schema_arrow.names.index("step")).statistics
    return known is None or (known.min <= steps[1] and known.max >= steps[0])
