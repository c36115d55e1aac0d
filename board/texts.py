"""Model text made ready for reading, always as text: previews, visible whitespace, hidden padding and system prompts.

Nothing here interprets a text as HTML or Markdown. Knows neither frames nor screens.
"""

import re
import unicodedata
from collections.abc import Iterable
from typing import Final

import pyarrow as pa
import pyarrow.compute as pc

PREVIEW_CHARS: Final = 200
"""A table cell ships so many characters of a text; the whole text is one click away."""

_VISIBLE: Final = {"\n": "↵", "\t": "→", "\r": "␍", " ": "·"}


def preview(column: pa.ChunkedArray, chars: int = PREVIEW_CHARS) -> pa.ChunkedArray:
    """The beginning of each text on one line, line breaks as ↵. Null stays null."""
    short = pc.utf8_slice_codeunits(column, 0, chars)
    return pc.replace_substring_regex(short, r"\r?\n", "↵")


def visible(token: str) -> str:
    """A token with every character to be seen: ↵ → · for white space, U+200B and the like for what has no glyph of its own.

    Spaces within a word stay as they are; a token of spaces alone, or a leading space, becomes dots.
    """
    lead = len(token) - len(token.lstrip(" "))
    marked = "·" * lead + token[lead:]
    if token.strip(" "):
        trail = len(token) - len(token.rstrip(" "))
        marked = marked[: len(marked) - trail] + "·" * trail
    return "".join(character if _joins(marked, at) else _mark(character) for at, character in enumerate(marked))


def _joins(text: str, at: int) -> bool:
    """Whether this is the joiner inside an emoji of several code points, which would fall apart if it were marked."""
    return text[at] == "\u200d" and 0 < at < len(text) - 1 and not text[at - 1].isascii() and not text[at + 1].isascii()


def _mark(character: str) -> str:
    if character in _VISIBLE and character != " ":
        return _VISIBLE[character]
    if unicodedata.category(character) in ("Cc", "Cf", "Zl", "Zp", "Co", "Cn"):
        return f"⟨U+{ord(character):04X}⟩"
    return character


def without_padding(text: str, pads: Iterable[str]) -> tuple[str, int]:
    """The text without the pad tokens' texts, and how many were taken out."""
    pattern = "|".join(re.escape(pad) for pad in sorted(filter(None, pads), key=len, reverse=True))
    return re.subn(pattern, "", text) if pattern else (text, 0)


def without_system_prompt(prompt: str, marker: str) -> tuple[str, bool]:
    """The prompt after the first `marker` (the text that ends the system prompt), and whether there was one."""
    if not marker or marker not in prompt:
        return prompt, False
    return prompt.split(marker, 1)[1], True


def shorten(text: str, limit: int) -> str:
    """At most `limit` characters of a text, never half a surrogate pair or a combining sequence's base without its marks."""
    if len(text) <= limit:
        return text
    end = limit
    while end < len(text) and (unicodedata.combining(text[end]) or text[end] in "\u200d\ufe0f"):
        end += 1
    return text[:end]
