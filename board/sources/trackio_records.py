"""A trackio database → records: a trace each, and a table of completions each.

They are marked with a `_type` as trackio marks them. A table that was logged again is given once.
"""

from collections.abc import Iterator
from pathlib import Path

import orjson

from board.errors import RowRefused
from board.sources import trackio_rollouts
from board.sources.json_record import Record, parse_value
from board.sources.trackio_rollouts import TABLE, TRACE, Stored, completions


def rows(path: Path, longest: int, within: Path | None = None) -> Iterator[tuple[Record | RowRefused, int]]:
    """Each record, or why it is none, and the bytes it took. Raises BoardError that names the database."""
    logged: set[bytes] = set()
    for stored in trackio_rollouts.rows(path, longest, within):
        size = sum(len(text or b"") for text in stored.texts.values())
        try:
            found = _records(stored, longest)
        except RowRefused as error:
            yield error, size
            continue
        for record in found:
            if record["_type"] == TABLE:
                table = orjson.dumps([record["key"], record["rows"]], default=str)
                if table in logged:
                    continue
                logged.add(table)
            yield record, size


def _records(stored: Stored, longest: int) -> list[Record]:
    """The records in a row: the trace that it is, or the tables that it holds. Raises RowRefused."""
    parsed = {name: _value(stored, name, text, longest) for name, text in stored.texts.items()}
    if "metrics" not in parsed:
        return [{"_type": TRACE, **stored.plain, **parsed}]
    metrics = parsed["metrics"] if isinstance(parsed["metrics"], dict) else {}
    return [{"_type": TABLE, **stored.plain, "key": key, "rows": table} for key, table in completions(metrics)]


def _value(stored: Stored, name: str, text: bytes | None, longest: int) -> object:
    row = f"the row `{str(stored.plain.get('id'))[:80]}` of trackio"
    if text is None:
        raise RowRefused(f"{row} is longer than {longest:,} bytes (RL_BOARD_LONGEST_LINE): it is left out")
    try:
        return parse_value(text)
    except RowRefused as error:
        raise RowRefused(f"{row}: `{name}` {error}") from error
