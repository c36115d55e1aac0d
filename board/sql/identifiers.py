"""Names and values in DuckDB's SQL, and which names a text may mean."""

import math
import re
from collections.abc import Iterable, Mapping
from typing import Final

from board.errors import BoardError

_PLAIN: Final = re.compile(r"[a-z_][a-z0-9_]*")

_WORDS: Final = (
    "all analyse analyze and any array as asc asymmetric both case cast check collate column constraint create default deferrable desc "
    "describe distinct do else end except false fetch for foreign from group having in initially intersect into lambda lateral leading "
    "limit not null offset on only or order pivot pivot_longer pivot_wider placing primary qualify references returning select show some "
    "summarize symmetric table then to trailing true union unique unpivot using variadic when where window with"
)

_RESERVED: Final = frozenset(_WORDS.split())
"""Words that are no names unless quoted, as DuckDB's `duckdb_keywords()` lists them: reserved."""

_EVERY: Final = re.compile(r"\*|columns", re.IGNORECASE)
"""What may stand for columns that are not named."""


_NAMED: Final = re.compile(
    r"""'(?:[^']|'')*'|--[^\n]*|/\*.*?(?:\*/|\Z)|\bAS\s+(?:"(?:[^"]|"")*"|\w+)|(?P<name>"(?:[^"]|"")+"|[^\W\d]\w*(?!\w|\s*\())""",
    re.DOTALL | re.IGNORECASE,
)
"""A name in a text of SQL, which is neither a function's nor given by AS; texts and comments are passed over."""


def column(name: str) -> str:
    """A column's name as SQL writes it: quoted where it has to be."""
    if _PLAIN.fullmatch(name) and name not in _RESERVED:
        return name
    return '"' + name.replace('"', '""') + '"'


def literal(value: str | float | bool | None) -> str:
    """A value as SQL writes it; a number so that it is read back as the same one."""
    if value is None:
        return "NULL"
    if isinstance(value, bool):
        return "TRUE" if value else "FALSE"
    if isinstance(value, str):
        return "'" + value.replace("'", "''") + "'"
    if isinstance(value, float) and not math.isfinite(value):
        return f"'{value}'::DOUBLE"
    return repr(value)


def may_be_named(names: Iterable[str], sql: str) -> list[str]:
    """The columns that a text of SQL may mean: those whose name stands in it anywhere, in any case; all of them where it has a `*`.

    Never too few: a text that names a column without spelling it has `*` or COLUMNS.
    """
    if _EVERY.search(sql):
        return list(names)
    lowered = sql.lower()
    return [name for name in names if name.lower().replace('"', '""') in lowered]


def exact_names(sql: str, columns: Mapping[str, str]) -> str:
    """A text of SQL in which each of several columns that differ in case alone is meant by its exact name, which SQL itself does not tell.

    `columns`: what SQL may name, in which each name is unlike the others in more than case, and what that is in the run. Raises BoardError
    for a name that is none of theirs exactly.
    """
    alike: dict[str, dict[str, str]] = {}
    for name, given in columns.items():
        alike.setdefault(given.lower(), {}).setdefault(given, name)
    several = {lowered: names for lowered, names in alike.items() if len(names) > 1}

    def meant(found: re.Match[str]) -> str:
        written = found["name"]
        name = written[1:-1].replace('""', '"') if written and written.startswith('"') else written or ""
        names = several.get(name.lower())
        if names is None:
            return found.group()
        if name not in names:
            listed = " or ".join(map(column, names))
            raise BoardError(f"{written} may be {listed}, which differ in case alone: write one of them as it is spelled here.")
        return column(names[name])

    return _NAMED.sub(meant, sql) if several else sql
