"""Lines of the board's own rows → a block of rollouts, a conversion a column; None where anything in them is unusual.

Numbers, texts and names are those that `board.formats.row_reader` gives for the same lines, which also reads what is refused here and
says what is odd about it: two and a half times as long for short rollouts. Knows the row as it is declared; knows no part.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, TypeVar

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from board.formats import chat
from board.formats.row_reader import EXACT, array_name, as_id, kept_name, parts, spoken
from board.formats.token_names import IDS, PROMPT_IDS
from board.metrics.formulas import BoolArray
from board.runs.rollout_block import PER_TOKEN, TEXT, Block, TokenNumbers
from board.schema import BY_NAME, MOST_COLUMNS, PADDED, TEXTS, TOKENS
from board.sources.json_record import Keys, Numbers, as_text, cells
from board.sources.shards import Line
from board.text.padding import COMMON_PADS, unpadded

_PLAIN: Final = frozenset({PROMPT_IDS, TOKENS, *TEXTS})
"""Fields whose lists are no numbers per token."""

LEFT_ALONE: Final = 8
"""So few lines, one of which is unusual, are not looked at one by one."""

_DENSE: Final = 64
"""Of so few lines nothing more is tried where neither half goes: there is too much that is unusual."""

_LONGEST_PAUSE: Final = 31
"""So many stretches are not tried where most of those before was refused."""

_Item = TypeVar("_Item")

_Piece = tuple[Sequence[_Item], Block | None]

_Cells = tuple[Keys, list[Any]]
"""The keys and values of a line."""

_Values = list[Any]
"""A value of each rollout, None where it has none."""

_Place = tuple[int, int]
"""The first rollout that has a value, and where in it the value stands."""


class _Unusual(Exception):
    """The lines hold something that is left to `row_reader`."""


class ColumnReader:
    """Reads the lines of a shard a stretch at a time, in one thread. Tries less often where most is refused again and again."""

    def __init__(self, pads: frozenset[str] = COMMON_PADS, *, trains_ends: bool = False) -> None:
        self._how = pads, trains_ends
        self._pause = self._skipped = 0

    def read(self, lines: Sequence[_Item]) -> list[_Piece[_Item]]:
        """The lines in pieces, in their order: each with its rollouts, or with None where one of it is unusual, or no line."""
        if self._skipped < self._pause:
            self._skipped += 1
            return [(lines, None)]
        read: list[_Cells | None] = []
        keys: Keys = ()
        for line in lines:
            found = self._cells(line, keys)
            keys = keys if found is None else found[0]
            read.append(found)
        block = _block(lines, read, *self._how)
        pieces = [(lines, block)] if block or not lines else self._refused(lines, read)
        refused = sum(len(piece) for piece, block in pieces if block is None)
        self._pause, self._skipped = min(2 * self._pause + 1, _LONGEST_PAUSE) if 2 * refused > len(lines) else 0, 0
        return pieces

    def _cells(self, line: object, known: Keys) -> _Cells | None:
        return cells(line.data, known, _PLAIN) if isinstance(line, Line) else None

    def _refused(self, lines: Sequence[_Item], cells: list[_Cells | None]) -> list[_Piece[_Item]]:
        """What goes of lines that do not go as a whole: of a few unusual ones others need not suffer."""
        if len(lines) <= LEFT_ALONE:
            return [(lines, None)]
        half = len(lines) // 2
        second = [self._cells(lines[half], ()), *cells[half + 1 :]]  # in its own order of keys, as that of a first line counts
        halves = [(lines[:half], cells[:half]), (lines[half:], second)]
        blocks = [_block(*one, *self._how) for one in halves]
        if len(lines) <= _DENSE and not any(blocks):
            return [(lines, None)]
        found = [[(half[0], block)] if block else self._refused(*half) for half, block in zip(halves, blocks, strict=True)]
        return [piece for pieces in found for piece in pieces]


def _block(lines: Sequence[object], cells: Sequence[_Cells | None], pads: frozenset[str], trains_ends: bool) -> Block | None:
    """The rollouts on some lines; None when one of them is unusual, or no line."""
    found = [line for line in lines if isinstance(line, Line)]
    read = [one for one in cells if one is not None]
    if len(found) < len(lines) or len(read) < len(cells):
        return None
    shapes: dict[Keys, _Shape] = {}
    if len({key for keys in {keys for keys, _ in read} for key in keys}) > MOST_COLUMNS:
        return None
    for at, (keys, values) in enumerate(read):
        shape = shapes.get(keys) or shapes.setdefault(keys, _Shape())
        shape.rows.append(at)
        shape.values.append(values)
    try:
        return _Builder(_columns(shapes, len(found)), len(found), pads, trains_ends).block(found)
    except (_Unusual, RecursionError, pa.ArrowException):
        return None


@dataclass(frozen=True, slots=True)
class _Shape:
    """The rollouts of a block that have the same keys."""

    rows: list[int] = field(default_factory=list)
    values: list[list[Any]] = field(default_factory=list)
    """Of each of them, in the order of the keys."""


@dataclass(slots=True)
class _Column:
    """What the rollouts of a block have under one name, of which one at least has something."""

    values: _Values
    first: _Place


def _columns(shapes: Mapping[Keys, _Shape], count: int) -> dict[str, _Column]:
    """The columns of rollouts of several shapes by their kept names, in the order in which they first appear.

    Raises _Unusual for a name that is there twice, and where two columns begin in a rollout whose own order of keys was not looked at.
    """
    columns: dict[str, _Column] = {}
    for keys, shape in shapes.items():
        names = [kept_name(key, keys) for key in keys]
        cells = [*zip(*shape.values, strict=True)]
        firsts = [*map(_first, cells)]
        late = [at for at in firsts if at]
        if len({*names}) < len(names) or len({*late}) < len(late):
            raise _Unusual
        for nth, (name, values, at) in enumerate(zip(names, cells, firsts, strict=True)):
            if at is not None:
                _put(columns, name, shape.rows, values, (shape.rows[at], nth), count)
    return dict(sorted(columns.items(), key=lambda item: item[1].first))


def _first(values: Sequence[Any]) -> int | None:
    """Which is the first that is not None."""
    return next((at for at, value in enumerate(values) if value is not None), None)


def _put(columns: dict[str, _Column], name: str, rows: Sequence[int], values: Sequence[Any], first: _Place, count: int) -> None:
    """Add what the rollouts of one shape have under a name."""
    if len(rows) == count:
        columns[name] = _Column([*values], first)
        return
    column = columns.setdefault(name, _Column([None] * count, first))
    column.first = min(column.first, first)
    for at, value in zip(rows, values, strict=True):
        column.values[at] = value


class _Builder:
    """Columns of values → a block. Every method raises _Unusual for what it leaves to `row_reader`."""

    def __init__(self, columns: Mapping[str, _Column], count: int, pads: frozenset[str], trains_ends: bool) -> None:
        self._columns, self._count, self._pads, self._trains_ends = columns, count, pads, trains_ends
        self._texts: dict[str, pa.Array] = {}
        self._ids: dict[str, pa.Array] = {}
        self._numbers: dict[str, NDArray[np.float64]] = {}
        self._token_numbers: dict[str, _Values] = {}

    def block(self, lines: Sequence[Line]) -> Block:
        """The block of these lines."""
        self._check_required()
        chat.PADS.set(self._pads)
        self._unpad()
        steps, tokens = _steps(self._values("step")), self._tokens()
        named = np.full(self._count, -1) if tokens is None else _lengths(tokens)
        for name, column in self._columns.items():
            if name not in ("step", TOKENS):
                self._take(name, column.values, named)
        lengths = self._lengths(named)
        arrays = {name: _flat(values, lengths) for name, values in self._token_numbers.items()}
        sources = {
            "line": np.array([line.number for line in lines], np.int64),
            "offset": np.array([line.offset for line in lines], np.int64),
            "nth": np.zeros(self._count, np.int64),
        }
        per_token = {} if tokens is None else {TOKENS: tokens}
        return Block(steps, sources, lengths, self._texts, self._ids, self._numbers, arrays, per_token)

    def _values(self, name: str) -> _Values:
        return self._columns[name].values if name in self._columns else [None] * self._count

    def _check_required(self) -> None:
        """A rollout needs a response or tokens; ids are made tokens and prompts of by `token_names`."""
        tokens, ids, prompt_ids = (self._values(name) for name in (TOKENS, IDS, PROMPT_IDS))
        for response, token, prompt, given, asked in zip(
            self._values("response"), tokens, self._values("prompt"), ids, prompt_ids, strict=True
        ):
            if token is None and (response is None or given is not None):
                raise _Unusual
            if prompt is None and asked is not None:
                raise _Unusual

    def _tokens(self) -> pa.LargeListArray | None:
        if TOKENS not in self._columns:
            return None
        values = self._columns[TOKENS].values
        if not _types(values) <= {list}:
            raise _Unusual
        tokens = pa.array(values, PER_TOKEN[TOKENS])  # which refuses anything but texts and nulls
        if tokens.values.null_count:
            raise _Unusual
        return tokens

    def _unpad(self) -> None:
        """Take padding off, rollout by rollout."""
        if PROMPT_IDS in self._columns and any(pad.isdecimal() for pad in self._pads):
            raise _Unusual
        names, columns = [*self._columns], [column.values for column in self._columns.values()]
        for at, values in enumerate(zip(*columns, strict=True)):
            record = dict(zip(names, values, strict=True))
            left = unpadded(record, self._pads, PADDED, trains_ends=self._trains_ends)
            for column, value in zip(columns, left.values(), strict=True) if left is not record else ():
                column[at] = [] if type(value) is Numbers and not len(value) else value

    def _take(self, name: str, values: _Values, named: NDArray[np.int64]) -> None:
        """Keep a column as what its name is declared to be, or as what its values are."""
        declared = BY_NAME.get(name)
        kind = declared.kind if declared else "unknown"
        if kind == "unknown":
            self._take_unknown(name, values, named)
        elif kind == "text":
            self._texts[name] = _text(values, lambda value: spoken(name, value))
        elif kind == "id":
            self._ids[name] = _id(values)
        elif kind == "number":
            self._numbers[name] = _number(values)
        elif kind == "token_metric":
            self._token_numbers[name] = values
        else:
            raise _Unusual

    def _take_unknown(self, name: str, values: _Values, named: NDArray[np.int64]) -> None:
        types = _types(values)
        if types <= {float, int, bool}:
            if any(type(value) is int and abs(value) > EXACT for value in values):
                raise _Unusual
            self._numbers[name] = _number(values)
        elif types == {Numbers}:
            self._take_array(array_name(name), values, named)
        elif types == {str} or name == PROMPT_IDS:
            self._texts[name] = _text(values, as_text)
        elif types == {dict}:
            self._texts[name] = _text(values, as_text)
            self._take_parts(name, values)
        else:
            raise _Unusual

    def _take_array(self, name: str, values: _Values, named: NDArray[np.int64]) -> None:
        """An array of as many numbers as there are tokens; of another length it is text."""
        lengths = np.array([0 if value is None else len(value) for value in values])
        having = lengths > 0
        if name in self._token_numbers or not np.array_equal(lengths[having], named[having]):
            raise _Unusual
        self._token_numbers[name] = values

    def _take_parts(self, name: str, values: _Values) -> None:
        """The numbers in the objects of a column, as columns of their own."""
        found = [{} if value is None else parts(name, value) for value in values]
        first = next(one for one, value in zip(found, values, strict=True) if value is not None)
        if (
            any(one.keys() - first.keys() for one in found)
            or first.keys() & self._columns.keys() | first.keys() & self._numbers.keys()
        ):
            raise _Unusual
        self._numbers.update({part: np.array([one.get(part, math.nan) for one in found]) for part in first})

    def _lengths(self, named: NDArray[np.int64]) -> NDArray[np.int64]:
        """How many tokens each rollout has: as many as it names, else as it has numbers for."""
        counted = [_numbers_of(values) for values in self._token_numbers.values()]
        longest = np.maximum.reduce([np.zeros(self._count, np.int64), *counted])
        lengths: NDArray[np.int64] = np.where(named < 0, longest, named)
        if any((one[one >= 0] != lengths[one >= 0]).any() for one in counted):
            raise _Unusual
        return lengths


def _types(values: _Values) -> set[type]:
    """Of the values that there are."""
    return {*map(type, values)} - {type(None)}


def _steps(values: _Values) -> NDArray[np.int64]:
    if {*map(type, values)} != {int}:
        raise _Unusual
    try:
        return np.array(values, np.int64)
    except OverflowError as error:
        raise _Unusual from error


def _text(values: _Values, written: Callable[[Any], str]) -> pa.Array:
    if _types(values) == {str} and not any(value and value[0] == "[" for value in values):  # messages may be written as JSON text
        return pa.array(values, TEXT)
    return pa.array([None if value is None else written(value) for value in values], TEXT)


def _id(values: _Values) -> pa.Array:
    if Numbers in _types(values):
        raise _Unusual
    return pa.array([None if value is None else as_id(value) for value in values], pa.string())


def _number(values: _Values) -> NDArray[np.float64]:
    if not _types(values) <= {float, int, bool}:
        raise _Unusual
    return np.array(values, np.float64)  # None becomes NaN


def _lengths(tokens: pa.LargeListArray) -> NDArray[np.int64]:
    """Tokens of each rollout, -1 where it has none."""
    found: NDArray[np.int64] = np.diff(tokens.offsets.to_numpy())
    if tokens.null_count:
        found[tokens.is_null().to_numpy(zero_copy_only=False)] = -1
    return found


def _numbers_of(values: _Values) -> NDArray[np.int64]:
    """How many numbers each rollout has, -1 where it has no list."""
    types = {*map(type, values)}
    if types == {Numbers}:
        return np.array([*map(len, values)])
    if not types <= {Numbers, list, type(None)} or any(type(value) is list and value for value in values):
        raise _Unusual
    return np.array([-1 if value is None else len(value) for value in values])


def _flat(values: _Values, lengths: NDArray[np.int64]) -> TokenNumbers:
    """The numbers of all rollouts end to end, NaN for a rollout without any list."""
    given = [value for value in values if value is not None]
    with np.errstate(over="ignore"):
        numbers = np.concatenate([np.zeros(0), *given]).astype(np.float32)  # an empty list is no Numbers, and has none
    if not np.isfinite(numbers).all():
        raise _Unusual
    if len(given) == len(values):
        return TokenNumbers(numbers, np.ones(len(values), bool))
    present: BoolArray = np.array([value is not None for value in values])
    spread = np.full(int(lengths.sum()), np.nan, np.float32)
    spread[np.repeat(present, lengths)] = numbers
    return TokenNumbers(spread, present)
