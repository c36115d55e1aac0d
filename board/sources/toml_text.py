"""TOML out of a run's folder: tomllib's reader, bounded, with one error.

Each part of a dotted name is a table of its own, and takes as long as the parts before it: 100 kB of one name take gigabytes.
"""

import tomllib
from typing import Any, Final

from board.errors import RowRefused

MOST_DOTS: Final = 20_000
"""In the whole text, those of numbers and texts among them."""

MOST_IN_LINE: Final = 2_000
"""In one line, which holds the whole of a name."""


def parse(text: str) -> dict[str, Any]:
    """The values of a text. Raises RowRefused that says why it is none, RecursionError where they lie too deep in each other."""
    if text.count(".") > MOST_DOTS or any(line.count(".") > MOST_IN_LINE for line in text.split("\n")):
        raise RowRefused(f"has more than {MOST_DOTS:,} dots, or {MOST_IN_LINE:,} in a line, as no settings do")
    try:
        return tomllib.loads(text)
    except ValueError as error:  # also of a number of more digits than Python takes
        raise RowRefused(f"is not TOML: {error}") from error
