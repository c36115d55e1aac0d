"""Examples as plain text, with nothing in it that a terminal, a Markdown page or a JSON writer would take for more than text.

A model writes what it likes: terminal commands, half characters, text that runs backwards. Each such character is shown by its number.
"""

import re
import unicodedata
from collections.abc import Mapping, Sequence
from typing import Any, Final

Row = Mapping[str, str | int | float]

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


def plain_rows(rows: Sequence[Row]) -> list[dict[str, str | int | float]]:
    """The same rows with every name and string made plain."""
    return [{plain(key): plain(value) if isinstance(value, str) else value for key, value in row.items()} for row in rows]


def page(rows: Sequence[Row]) -> str:
    """Plain rows one after another: each field's name, then its value, a text of several lines set in below its name."""
    return "\n\n".join("\n".join(_field(key, str(value)) for key, value in row.items()) for row in rows)


def _field(name: str, text: str) -> str:
    return f"{name}: {text}" if "\n" not in text else "\n    ".join([f"{name}:", *text.split("\n")])


def table(rows: Sequence[Row]) -> dict[str, Any]:
    """Plain rows as the arguments of a table of W&B or trackio."""
    columns = list(dict.fromkeys(key for row in rows for key in row))
    return {"columns": columns, "data": [[row.get(key) for key in columns] for row in rows]}
