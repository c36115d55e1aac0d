"""Settings as texts: as the screen writes and searches them."""

import json
from typing import Any, Final

from board.analysis.compare.run_settings import UNSET
from board.text.display import shorten

LONGEST: Final = 2_000
"""Characters of a value that are shown."""


def matches(query: str, name: str, *values: Any) -> bool:
    """Whether every word of the query stands in a setting's name or in one of its values, in any case."""
    words = query.casefold().split()
    if not words:
        return True
    searched = "\n".join([name, *(as_text(value) for value in values)]).casefold()
    return all(word in searched for word in words)


def as_text(value: Any) -> str:
    """A value as JSON writes it, texts as they are, no longer than LONGEST; empty where it is not set."""
    if value is UNSET:
        return ""
    return shorten(value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=str), LONGEST)
