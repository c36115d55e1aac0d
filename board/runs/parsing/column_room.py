"""Which undeclared fields of a run have columns: the first of each kind.

What is left over is one text of each rollout. A part gives columns to the first fields of its rows, a run to the first fields of its parts:
so the choice is the same however a run was cut into parts, and stays when rows are added at the end.
"""

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Final

import numpy as np
import orjson
import pyarrow as pa
from numpy.typing import NDArray

from board.formats.row import Row
from board.formats.row_reader import EXACT
from board.runs.cache.columns import ColumnInFile, Columns, column_in_file
from board.runs.cache.parts import SOURCE, Part
from board.runs.cache.rollout import NO_METRIC
from board.runs.cache.rollout_block import TEXT
from board.schema import BY_NAME, MOST_COLUMNS, MOST_OWN_METRICS, OTHER_FIELDS, title
from board.sources.flatten import SPECIAL
from board.sources.shards import Problem
from board.text.counting import plural

_MOST: Final = {"numbers": MOST_COLUMNS // 2, "texts": MOST_COLUMNS // 2, "arrays": MOST_OWN_METRICS}
"""How many fields of each kind have a column."""

_ALWAYS: Final = frozenset({*BY_NAME, *SOURCE, *NO_METRIC, OTHER_FIELDS})
"""Names that always have one."""

Names = dict[str, dict[str, None]]
"""Undeclared fields by kind, as in `_MOST`, in the order in which they came."""


class ColumnRoom:
    """Gives columns to the fields of the rows of one part, in their order, while there is room."""

    def __init__(self) -> None:
        self._held: Names = {kind: {} for kind in _MOST}

    def fit(self, row: Row) -> None:
        """Move the fields for which there is no room into the text `OTHER_FIELDS` of the row."""
        left: dict[str, Any] = {}
        for kind, held in self._held.items():
            fields: dict[str, Any] = getattr(row, kind)
            for name in [name for name in fields if name not in held and name not in _ALWAYS]:
                if len(held) < _MOST[kind]:
                    held[name] = None
                else:
                    left[name] = fields.pop(name)
        if left:
            row.texts[OTHER_FIELDS] = _written(_read(row.texts.get(OTHER_FIELDS)) | left)


def own_fields(scalars: Iterable[str], texts: Iterable[str], tokens: Iterable[str]) -> Names:
    """The undeclared fields among the names of columns."""
    lists = [*tokens]
    means = {f"{name}_mean" for one in lists for name in (title(one), f"{title(one)} (logged)")}
    named = {"numbers": (name for name in scalars if name not in means), "texts": texts, "arrays": lists}
    return {kind: dict.fromkeys(name for name in names if name not in _ALWAYS) for kind, names in named.items()}


def beyond(scalars: Iterable[str], texts: Iterable[str], tokens: Iterable[str]) -> Names:
    """The fields among the names of columns for which a run has no room; a list per token beyond takes its mean along."""
    own = own_fields(scalars, texts, tokens)
    fitting = _fitting(own)
    return _with_means({kind: dict.fromkeys(name for name in own[kind] if name not in fitting[kind]) for kind in own})


def _fitting(names: Names) -> Names:
    return {kind: dict.fromkeys([*fields][: _MOST[kind]]) for kind, fields in names.items()}


def _with_means(hidden: Names) -> Names:
    return {**hidden, "numbers": hidden["numbers"] | dict.fromkeys(f"{name}_mean" for name in hidden["arrays"])}


def fitted(parts: Sequence[Part]) -> tuple[list[Part], list[Problem]]:
    """The parts with the columns for which their run has room, and a word on what has none."""
    chosen: Names = {kind: {} for kind in _MOST}
    for part in parts:
        own = _fields_of(part)
        chosen = _fitting({kind: chosen[kind] | own[kind] for kind in _MOST})
    found = [refitted(part, chosen) for part in parts]
    return found, problems(found)


def problems(parts: Iterable[Part]) -> list[Problem]:
    """What is said of parts that are fitted: once for all, how many of their rollouts have fields without a column."""
    rows, shard = 0, ""
    for part in parts:
        if OTHER_FIELDS in part.texts.column_names:
            column = part.texts.column(OTHER_FIELDS)
            rows += len(column) - int(column.null_count)
            shard = shard or str(part.scalars.column("shard")[0].as_py())
    reason = (
        f"the run has more fields than columns: {plural(rows, 'rollout')}, the first in this shard, keep what is beyond the first"
        f" {_MOST['numbers']:,} numbers, {_MOST['texts']:,} texts and {_MOST['arrays']} lists of a number per token in {OTHER_FIELDS}"
    )
    return [Problem(shard, None, reason, "flagged")] if rows else []


def refitted(part: Part, chosen: Names) -> Part:
    """The part with columns for the chosen fields alone; what it has of these in its `OTHER_FIELDS` becomes columns, but for lists."""
    own = _fields_of(part)
    hidden = _with_means({kind: dict.fromkeys(name for name in own[kind] if name not in chosen[kind]) for kind in own})
    added: Names = {kind: {} for kind in _MOST}
    if OTHER_FIELDS in part.texts.column_names:
        added |= {kind: dict.fromkeys(name for name in chosen[kind] if name not in own[kind]) for kind in ("numbers", "texts")}
    if not any(hidden.values()) and not any(added.values()):
        return part
    made = _Refitting(part, hidden, added)
    texts = {**added["texts"], OTHER_FIELDS: None}
    return replace(
        part,
        scalars=_Refitted(part.scalars, hidden["numbers"], added["numbers"], lambda name: made.numbers[name]),
        texts=_Refitted(part.texts, hidden["texts"], texts, lambda name: made.texts[name]),
        tokens=_Refitted(part.tokens, hidden["arrays"], {}, lambda name: part.tokens.column(name)),
    )


def _fields_of(part: Part) -> Names:
    return own_fields(part.scalars.column_names, part.texts.column_names, part.tokens.column_names)


@dataclass(frozen=True)
class _Refitted:
    """A table of a part without some of its columns, and with others that are made on access."""

    under: Columns
    hidden: Mapping[str, None]
    over: Mapping[str, None]
    made: Callable[[str], pa.ChunkedArray]

    @property
    def column_names(self) -> list[str]:
        """Those beneath that are not hidden, then those that are new."""
        return [*dict.fromkeys(name for name in (*self.under.column_names, *self.over) if name not in self.hidden)]

    @property
    def num_rows(self) -> int:
        """As beneath."""
        return self.under.num_rows

    def column(self, name: str) -> pa.ChunkedArray:
        """A column. Raises KeyError for one that is hidden."""
        if name in self.hidden:
            raise KeyError(name)
        return self.made(name) if name in self.over else self.under.column(name)

    def in_file(self, name: str) -> ColumnInFile | None:
        """As beneath; what is made lies in memory."""
        return None if name in self.over or name in self.hidden else column_in_file(self.under, name)


class _Refitting:
    """What moves between the columns of a part and its `OTHER_FIELDS`."""

    def __init__(self, part: Part, hidden: Names, added: Names) -> None:
        self._part, self._hidden, self._added = part, hidden, added

    @property
    def numbers(self) -> dict[str, pa.ChunkedArray]:
        """The added numbers."""
        return self._moved[0]

    @property
    def texts(self) -> dict[str, pa.ChunkedArray]:
        """The added texts, and `OTHER_FIELDS`."""
        return self._moved[1]

    @cached_property
    def _moved(self) -> tuple[dict[str, pa.ChunkedArray], dict[str, pa.ChunkedArray]]:
        rows = self._left()
        numbers: dict[str, NDArray[np.float64]] = {}
        texts: dict[str, list[str | None]] = {}
        for at, row in enumerate(rows):
            for name, value in [*row.items()]:
                number = SPECIAL.get(value, value) if isinstance(value, str) else value
                if name in self._added["numbers"] and isinstance(number, int | float):
                    if name not in numbers:
                        numbers[name] = np.full(len(rows), np.nan)
                    numbers[name][at] = number
                elif name in self._added["texts"] and isinstance(value, str):
                    if name not in texts:
                        texts[name] = [None] * len(rows)
                    texts[name][at] = value
                else:
                    continue
                del row[name]
        texts[OTHER_FIELDS] = [_written(row) if row else None for row in rows]
        # where each row has a field of its own, nearly all columns are empty: those of a part are the same one
        no_number, no_text = pa.array(np.full(len(rows), np.nan)), pa.nulls(len(rows), TEXT)
        return (
            dict.fromkeys(self._added["numbers"], pa.chunked_array([no_number]))
            | {name: pa.chunked_array([pa.array(values)]) for name, values in numbers.items()},
            dict.fromkeys(self._added["texts"], pa.chunked_array([no_text]))
            | {name: pa.chunked_array([pa.array(values, TEXT)]) for name, values in texts.items()},
        )

    def _left(self) -> list[dict[str, Any]]:
        """What each rollout has in `OTHER_FIELDS` and in columns that are hidden."""
        part = self._part
        rows = [dict[str, Any]() for _ in range(len(part))]
        if OTHER_FIELDS in part.texts.column_names:
            rows = [_read(text) for text in part.texts.column(OTHER_FIELDS).to_pylist()]
        for name in self._hidden["numbers"]:
            if name.removesuffix("_mean") not in self._hidden["arrays"]:
                values = part.scalars.column(name).to_numpy()
                _put(rows, name, np.flatnonzero(~np.isnan(values)), values.__getitem__)
        for table, kind in ((part.texts, "texts"), (part.tokens, "arrays")):
            for name in self._hidden[kind]:
                column = table.column(name)
                there = np.flatnonzero(column.is_valid().to_numpy())
                _put(rows, name, there, lambda at, column=column: column[int(at)].as_py())  # type: ignore[misc]
        return rows


def _put(rows: list[dict[str, Any]], name: str, there: NDArray[np.int64], value: Callable[[int], Any]) -> None:
    for at in there.tolist():
        rows[at][name] = value(at)


def _written(fields: Mapping[str, Any]) -> str:
    return orjson.dumps(
        {name: _plain(value) for name, value in fields.items()}, option=orjson.OPT_SERIALIZE_NUMPY | orjson.OPT_SORT_KEYS
    ).decode()


def _plain(value: Any) -> Any:
    """A number as it was most likely written: whole ones without a point, infinite ones as words, which JSON has no numbers for."""
    if not isinstance(value, float):
        return value
    if not math.isfinite(value):
        return next((word for word, number in SPECIAL.items() if number == value), "NaN")
    return int(value) if value.is_integer() and abs(value) <= EXACT else float(value)


def _read(text: str | None) -> dict[str, Any]:
    """What `_written` wrote; another text that a trainer has under that name stays as it is."""
    try:
        fields = orjson.loads(text or "{}")
    except ValueError:
        fields = None
    return fields if isinstance(fields, dict) else {OTHER_FIELDS: text}
