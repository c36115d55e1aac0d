"""Model text made ready for reading: previews, visible white space, what fits.

Nothing here interprets a text as HTML or Markdown.
"""

import unicodedata
from typing import Final

import pyarrow as pa
import pyarrow.compute as pc

PREVIEW_CHARS: Final = 56
"""A table cell ships so many characters of a text, which fill two lines; the whole text is one click away."""

_LONGEST_CHARACTER: Final = 32
"""Code points that one character as a reader sees it may have, accents and joined emoji included."""

_VISIBLE: Final = {"\n": "↵", "\t": "→", "\r": "␍", " ": "·"}


def preview(column: pa.ChunkedArray, chars: int = PREVIEW_CHARS) -> pa.ChunkedArray:
    """The beginning of each text on one line, line breaks as ↵, with … where it goes on. Null stays null."""
    short = pc.replace_substring_regex(pc.utf8_slice_codeunits(column, 0, chars), r"\r?\n", "↵")
    on = pc.if_else(pc.greater(pc.utf8_length(column), chars), "…", "")
    return pc.binary_join_element_wise(short, on.cast(short.type), pa.scalar("", short.type))


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


def on_one_line(text: str) -> str:
    """A stretch of text on one line: as it is, but that what ends a line or has no glyph of its own is to be seen."""
    return "".join(character if _joins(text, at) else _mark(character) for at, character in enumerate(text))


def _joins(text: str, at: int) -> bool:
    """Whether this is the joiner inside an emoji of several code points, which would fall apart if it were marked."""
    return text[at] == "\u200d" and 0 < at < len(text) - 1 and not text[at - 1].isascii() and not text[at + 1].isascii()


def _mark(character: str) -> str:
    if character in _VISIBLE and character != " ":
        return _VISIBLE[character]
    if unicodedata.category(character) in ("Cc", "Cf", "Zl", "Zp", "Zs", "Co", "Cn") and character != " ":
        return f"⟨U+{ord(character):04X}⟩"
    return character


def shorten(text: str, limit: int) -> str:
    """At most `limit` code points of a text, cut where no letter loses its marks and no emoji is halved.

    What goes on for _LONGEST_CHARACTER code points is no such thing any more and is cut at the limit.
    """
    if len(text) <= limit:
        return text
    for end in range(limit, max(0, limit - _LONGEST_CHARACTER), -1):
        if not _extends(text[end]) and text[end - 1] != "\u200d":
            return text[:end]
    return text[:limit]


def _extends(character: str) -> bool:
    """Whether the character belongs to the one before it."""
    return bool(unicodedata.combining(character)) or character in "\u200d\ufe0f"
