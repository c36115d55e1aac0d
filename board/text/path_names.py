r"""The names of files and folders as they are shown, linked and stored ⇄ their paths.

A name is bytes, and not all bytes are text. What is no UTF-8, and what would not be seen or would turn the text around (control characters,
line separators, marks of direction), is written out as its bytes: `bad\xff`, `a\x0ab`. A real backslash before `x` and two digits is
written `\x5c`, so that no two names look the same for it, and `path_of` finds the file again.
"""

import os
import re
import unicodedata
from pathlib import PurePath
from typing import Final

_UNSEEN: Final = frozenset({"Cc", "Cs", "Zl", "Zp"})
"""Categories of characters that are written out: control characters, odd bytes, separators of lines and paragraphs."""

_TURNING: Final = frozenset("\u061c\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069")

_WRITTEN: Final = re.compile(rb"\\x([0-9a-f]{2})")
_LOOKS_WRITTEN: Final = re.compile(r"\\(?=x[0-9a-f]{2})")


def shown(path: PurePath | str) -> str:
    """A path, or a part of one, as text that UTF-8 can hold, with `/` between its parts."""
    text = path.as_posix() if isinstance(path, PurePath) else path
    if text.isascii() and text.isprintable() and "\\" not in text:
        return text
    return "".join(map(_seen, _LOOKS_WRITTEN.sub(r"\\x5c", text)))


def encodable(text: str) -> str:
    """A message that may quote a path, as text that UTF-8 can hold: odd bytes written out, all else as it is."""
    return "".join(_seen(character) if unicodedata.category(character) == "Cs" else character for character in text)


def path_of(name: str) -> str:
    """The path that is shown so. Any other text that a link may hold becomes a path too, which need not be there."""
    return os.fsdecode(_WRITTEN.sub(lambda written: bytes([int(written[1], 16)]), os.fsencode(_encodable(name))))


def _seen(character: str) -> str:
    if unicodedata.category(character) not in _UNSEEN and character not in _TURNING:
        return character
    return "".join(
        f"\\x{byte:02x}" for byte in character.encode("utf-8", "surrogateescape" if _is_byte(character) else "surrogatepass")
    )


def _is_byte(character: str) -> bool:
    """Whether it stands for a byte that is no UTF-8."""
    return "\udc80" <= character <= "\udcff"


def _encodable(name: str) -> str:
    """The text without lone surrogates that stand for no byte: no path has one."""
    return name.encode("utf-8", "surrogateescape" if all(map(_may_be_encoded, name)) else "replace").decode(
        "utf-8", "surrogateescape"
    )


def _may_be_encoded(character: str) -> bool:
    return unicodedata.category(character) != "Cs" or _is_byte(character)
