"""A filter as chips: conditions in SQL that all have to hold, each of which can be negated or switched off. Text in, text out.

A filter is written as lines, a chip each, as a link carries it: `reward > 0.5`; negated `NOT (reward > 0.5)`; switched off, it is the comment
`-- reward > 0.5`. So what stands there is SQL, but for the AND between the lines.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from board.errors import BoardError

MOST: Final = 50
"""So many chips a filter may have."""

_OFF: Final = "-- "
_NEGATED: Final = re.compile(r"NOT \((.*)\)")

_PIECES: Final = re.compile(
    r"""(?P<text>'(?:[^']|'')*')|(?P<name>"(?:[^"]|"")*")|(?P<space>(?:\s|--[^\n]*|/\*.*?(?:\*/|\Z))+)|(?P<open>[(])|(?P<close>[)])"""
    r"""|(?P<other>.)""",
    re.DOTALL,
)
"""What a text of SQL is made of, as far as lines and brackets go. A quote that is not closed is one of the others: DuckDB says so."""

_LINE_ENDS: Final = re.compile(r"[\r\n\v\f\x1c-\x1e\x85\u2028\u2029]")
"""What ends a line for Python."""


@dataclass(frozen=True)
class Chip:
    """One condition of a filter."""

    condition: str
    """SQL on one line, as may stand behind WHERE."""
    on: bool = True
    negated: bool = False

    @property
    def sql(self) -> str:
        """The condition in SQL, under NOT where the chip is negated."""
        return f"NOT ({self.condition})" if self.negated else self.condition


def chip(typed: str) -> Chip:
    """What a reader typed as a chip. Raises BoardError for what is no condition by its brackets alone, or empty."""
    line = one_line(typed)
    found = _parsed(line)
    if not found.condition:
        raise BoardError("There is no condition: write one, such as reward > 0.5.")
    return found


def parsed(text: str) -> list[Chip]:
    """The chips of a filter as a link carries it. Raises BoardError for one that is no condition by its brackets alone, or for too many."""
    lines = [line for line in text.split("\n") if line.strip(" -")]
    if len(lines) > MOST:
        raise BoardError(f"The filter has {len(lines):,} conditions, and {MOST} is the most.")
    return [
        Chip(inner.condition, on=False, negated=inner.negated) if off else inner
        for line in lines
        for off, inner in [(line.startswith(_OFF), chip(line.removeprefix(_OFF)))]
    ]


def written(chips: Sequence[Chip]) -> str:
    """The filter as a link carries it; `parsed` reads it back."""
    return "\n".join(one.sql if one.on else f"{_OFF}{one.sql}" for one in chips)


def condition(chips: Sequence[Chip]) -> str:
    """The SQL that holds where all of the chips do that are on; empty where none is."""
    return "\nAND ".join(f"({one.sql})" for one in chips if one.on)


def one_line(sql: str) -> str:
    """SQL on one line, without comments; line ends within a text are written as chr(…).

    Raises BoardError where brackets are not in pairs: such a condition could not be combined with others.
    """
    line, depth = [], 0
    for piece in _PIECES.finditer(sql.strip().rstrip(";")):
        kind, text = str(piece.lastgroup), piece.group()
        depth += {"open": 1, "close": -1}.get(kind, 0)
        if depth < 0:
            raise BoardError("The condition closes a bracket that it did not open.")
        line.append(" " if kind == "space" else _LINE_ENDS.sub(_chr, text) if kind == "text" else text)
    if depth:
        raise BoardError("The condition opens a bracket that it does not close.")
    return "".join(line).strip(" ")


def _chr(end: re.Match[str]) -> str:
    return f"'||chr({ord(end.group())})||'"


def _parsed(line: str) -> Chip:
    inner = _NEGATED.fullmatch(line)
    if inner is None or not _is_whole(inner[1]):
        return Chip(line)
    return Chip(inner[1].strip(), negated=True)


def _is_whole(inner: str) -> bool:
    """Whether the brackets around a text are a pair: not those of `NOT (a) AND (b)`."""
    try:
        one_line(inner)
    except BoardError:
        return False
    return bool(inner.strip())
