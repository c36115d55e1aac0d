"""Examples as plain text, with nothing in it that a terminal, a Markdown page or a JSON writer would take for more than text.

A model writes what it likes: terminal commands, half characters, text that runs backwards. Each such character is shown by its number.
"""

import re
import unicodedata
from collections.abc import Mapping, Sequence
from typing import Final

from board.trackers.contract import Example, Value

_UNUSUAL: Final = re.compile(r"[^ -~\n\t]")

_JOINERS: Final = frozenset("\u200c\u200d")
"""Without them Persian and emoji fall apart."""


def plain(text: str) -> str:
    r"""The text with control, format and half characters written as \u001b; carriage returns before a line feed fall away."""
    return _UNUSUAL.sub(_shown, text.replace("\r\n", "\n"))


def _shown(found: re.Match[str]) -> str:
    character = found[0]
    if character.isprintable() or character in _JOINERS or unicodedata.category(character) == "Zs":
        return character
    code = ord(character)
    return f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"


def plain_values(values: Mapping[str, Value]) -> dict[str, Value]:
    """The same numbers and texts with every name and text made plain."""
    return {plain(name): plain(value) if isinstance(value, str) else float(value) for name, value in values.items()}


def plain_rows(rows: Sequence[Example]) -> list[dict[str, str | int | float]]:
    """The same rows with every name and string made plain."""
    return [{plain(key): plain(value) if isinstance(value, str) else value for key, value in row.items()} for row in rows]


def page(rows: Sequence[Example]) -> str:
    """The rows one after another: each field's name, then its value, a text of several lines set in below its name."""
    return "\n\n".join("\n".join(_field(key, value) for key, value in row.items()) for row in plain_rows(rows))


def _field(name: str, value: str | int | float) -> str:
    text = str(value)
    if "\n" not in text:
        return f"{name}: {text}"
    return f"{name}:\n" + "\n".join(f"    {line}" for line in text.split("\n"))
