"""An answer cut to a size that any client takes: long texts and long lists first, and a word on what is left out. Knows no run and no tool."""

from typing import Any, Final

from pydantic_core import to_json

MOST_BYTES: Final = 100_000
"""Of an answer as it is written."""
MOST_ERROR: Final = 2_000
"""Characters of an error: it may quote what was asked for, and all names of a run."""

_MOST_FIELDS: Final = 40
"""Objects of so few fields are of a fixed shape, and keep them all."""

_TRIES: Final = (
    *((longest, 1_000_000) for longest in (2_000, 500, 200)),
    *((200, most) for most in (500, 200, 100)),
    *((60, most) for most in (50, 25, 10, 5, 2)),
)
"""Characters of a text and entries of a list, the first that fit are taken."""

_HOW: Final = (
    "This answer was longer than 100 kB. Ask for less at a time: fewer columns or metrics, a condition, a smaller `top`, a later `first`;"
    " the command of the same name prints all of it with --json."
)


def bounded(document: dict[str, Any]) -> dict[str, Any]:
    """The document where it is small enough; else cut, with `left_out`: how many characters and entries, and how to get them."""
    if _size(document) <= MOST_BYTES:
        return document
    for longest, most in _TRIES:
        cut = _Cut(longest, most)
        told = {name: cut.value(value) for name, value in document.items()}
        told["left_out"] = {"characters": cut.characters, "entries": cut.entries, "how": _HOW}
        if _size(told) <= MOST_BYTES:
            return told
    return {"version": document.get("version"), "left_out": {"characters": 0, "entries": len(document), "how": _HOW}}


def short(message: str) -> str:
    """An error's message, cut where it is long."""
    if len(message) <= MOST_ERROR:
        return message
    return f"{message[:MOST_ERROR]}… ({len(message):,} characters in all)"


def _size(document: dict[str, Any]) -> int:
    return len(to_json(document, indent=2))


class _Cut:
    """Cuts values, and counts what it leaves out."""

    def __init__(self, longest: int, most: int) -> None:
        self._longest, self._most = longest, most
        self.characters = self.entries = 0

    def value(self, value: Any) -> Any:
        """The same with short texts and few entries, however deep."""
        if isinstance(value, str):
            return self._text(value)
        if isinstance(value, list):
            self.entries += max(0, len(value) - self._most)
            return [self.value(one) for one in value[: self._most]]
        if isinstance(value, dict):
            fields = [*value.items()][: max(self._most, _MOST_FIELDS)]
            found = {self._text(name): self.value(one) for name, one in fields}
            self.entries += len(value) - len(found)
            return found
        return value

    def _text(self, text: str) -> str:
        if len(text) <= self._longest:
            return text
        self.characters += len(text) - self._longest
        return f"{text[: self._longest]}…"
