"""Rows of a CSV file with a header → records: a cell is the JSON value that is written exactly so, else text; an empty one is missing.

So a number that some program wrote in another way stays the text that it was. Knows cells; knows no key.
"""

import csv
from collections.abc import Iterator
from typing import Any, BinaryIO, Final

from board.errors import RowRefused
from board.sources.json_record import Record, as_text, parse_value

_MAY_BE_JSON: Final = tuple("-0123456789[{tfNI")


def rows(stream: BinaryIO, most: int) -> Iterator[Record | RowRefused]:
    """The records in order; for a row that does not fit the header, the reason. `most` bounds the bytes of a line and of a cell.

    Raises RowRefused where the file can be read no further.
    """
    csv.field_size_limit(min(most, 2**31 - 1))
    reader = csv.reader(_lines(stream, most))
    try:
        header = next(reader, [])
        if len(set(header)) < len(header):
            raise RowRefused("has a header that names a column twice")
        for cells in reader:
            if not cells:
                continue
            if len(cells) != len(header):
                yield RowRefused(f"has {len(cells):,} cells for the {len(header):,} columns of the header")
                continue
            yield {name: value(cell) for name, cell in zip(header, cells, strict=True) if cell}
    except csv.Error as error:
        raise RowRefused(f"cannot be read further: {error}") from error


def value(cell: str) -> Any:
    """The JSON value that a cell is when it is written exactly so; else its text. `null` is text: an empty cell is what is missing."""
    if not cell.startswith(_MAY_BE_JSON):
        return cell
    try:
        found = parse_value(cell.encode())
        return found if as_text(found) == cell else cell
    except (RowRefused, ValueError):
        return cell


def _lines(stream: BinaryIO, most: int) -> Iterator[str]:
    """Lines as text, a byte that is no UTF-8 written out."""
    first = True
    while line := stream.readline(most + 1):
        if len(line) > most:
            raise RowRefused(f"has a line of more than {most:,} bytes (RL_BOARD_LONGEST_LINE)")
        yield line.decode("utf-8-sig" if first else "utf-8", "backslashreplace")
        first = False
