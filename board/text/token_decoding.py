"""Tokens read without a tokenizer: byte-level BPE ("Ġthe") and sentencepiece ("▁the").

The token view does the same in the browser (`token_view/bytes.js`), for what is drawn there; a test holds the two together.
"""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Final, Literal

Codec = Literal["plain", "byte-level", "sentencepiece"]
"""How tokens name their bytes; "plain" when they are the text itself."""

_REACH: Final = 3
"""A character has at most four bytes, so it reaches at most three tokens further."""

_MARKS_NEEDED: Final = 2
"""A text that holds one Ġ is text."""

_SPECIAL: Final = re.compile("<[|｜][^\n\r\u2028\u2029]*[|｜]>")
_BYTE_NAME: Final = re.compile("<0x([0-9A-Fa-f]{2})>")
_FRAGILE: Final = re.compile("^\\ufeff|[\\ud800-\\udfff]")

_LONG_CHARACTER: Final = (
    rb"[\xc2-\xdf][\x80-\xbf]|\xe0[\xa0-\xbf][\x80-\xbf]|[\xe1-\xec\xee\xef][\x80-\xbf]{2}|\xed[\x80-\x9f][\x80-\xbf]"
    rb"|\xf0[\x90-\xbf][\x80-\xbf]{2}|[\xf1-\xf3][\x80-\xbf]{3}|\xf4[\x80-\x8f][\x80-\xbf]{2}"
)
"""A well-formed character of several bytes (Unicode, table 3-7)."""

_PIECES: Final = re.compile(b"(" + _LONG_CHARACTER + rb")|([\x80-\xff])|([\x00-\x7f])")
_LONG_PIECES: Final = re.compile(b"(" + _LONG_CHARACTER + rb")|[\x80-\xff]")


def _byte_level_alphabet() -> dict[str, int]:
    """GPT-2's letters for bytes: printable Latin-1 stands for itself, the rest for the letters from U+0100 on, in order."""
    themselves = {*range(0x21, 0x7F), *range(0xA1, 0xAD), *range(0xAE, 0x100)}
    others = [byte for byte in range(0x100) if byte not in themselves]
    return {chr(byte): byte for byte in themselves} | {chr(0x100 + i): byte for i, byte in enumerate(others)}


_BYTE_OF: Final = _byte_level_alphabet()
_ALPHABET: Final = frozenset(_BYTE_OF)


@dataclass(frozen=True)
class Unit:
    """A piece of a token: text, its share of a character that several tokens make up, or a byte that belongs to none."""

    text: str
    part: int = 0
    """Which share of the character this token has, from 0."""
    parts: int = 1
    broken: bool = False
    """The text is the name of a byte, `\\xE4`."""


def codec_of(tokens: Sequence[str]) -> Codec:
    """How the tokens of one response name their bytes: encoded only if all fit the alphabet and several bear its marks."""
    whole = "".join(tokens)
    if " " in whole or (not whole.isascii() and any(map(_FRAGILE.search, tokens))):
        return "plain"
    if _is_byte_level(tokens, whole):
        return "byte-level"
    marked = (token for token in tokens if token.startswith("▁") or _BYTE_NAME.fullmatch(token))
    return "sentencepiece" if _several(marked) else "plain"


def codec_of_several(responses: Iterable[Sequence[str]]) -> Codec:
    """How the tokens of one tokenizer's responses name their bytes: the commonest codec but plain, since a short one may bear no marks."""
    codecs = Counter(codec for one in responses if (codec := codec_of(one)) != "plain")
    return codecs.most_common(1)[0][0] if codecs else "plain"


def bytes_of(codec: Codec, name: str) -> bytes:
    """The bytes a token stands for."""
    if codec == "plain" or _SPECIAL.fullmatch(name):
        return name.encode(errors="replace")
    if codec == "byte-level":
        return bytes(_BYTE_OF.get(letter, 0x3F) for letter in name)
    byte = _BYTE_NAME.fullmatch(name)
    return bytes([int(byte[1], 16)]) if byte else name.replace("▁", " ").encode(errors="replace")


def spell(codec: Codec, tokens: Sequence[str], at: int) -> list[Unit]:
    """What token `at` reads as, with its neighbours' help where a character is spread over several tokens."""
    if codec == "plain":
        return [Unit(tokens[at])]
    around = range(max(0, at - _REACH), min(len(tokens), at + _REACH + 1))
    pieces = [(t, bytes_of(codec, tokens[t])) for t in around]
    owners = [t for t, piece in pieces for _ in piece]
    found: list[Unit] = []
    for match in _PIECES.finditer(b"".join(piece for _, piece in pieces)):
        sharing = sorted(set(owners[match.start() : match.end()]))
        if at in sharing:
            _add(found, match, sharing, at)
    return found


def token_text(codec: Codec, tokens: Sequence[str], at: int) -> str:
    """Token `at` as text for a table: a shared character with this token's share of it, "今 (2 of 3)", a lost byte as `\\xE4`."""
    return "".join(
        unit.text if unit.parts == 1 else f"{unit.text} ({unit.part + 1} of {unit.parts})" for unit in spell(codec, tokens, at)
    )


def decoded(codec: Codec, name: str) -> str:
    """One name as text, without neighbours: of an alternative to a token, for example. What does not read as text is left as it stands.

    Some engines list text next to the tokenizer's names.
    """
    if codec == "byte-level" and not _ALPHABET.issuperset(name):
        return name
    units = spell(codec, [name], 0)
    return name if any(unit.broken for unit in units) else "".join(unit.text for unit in units)


def _add(found: list[Unit], match: re.Match[bytes], sharing: list[int], at: int) -> None:
    if match[2]:
        found.append(Unit(f"\\x{match[2][0]:02X}", broken=True))
        return
    text = match[0].decode()
    if len(sharing) > 1:
        found.append(Unit(text, sharing.index(at), len(sharing)))
    elif found and not found[-1].broken and found[-1].parts == 1:
        found[-1] = Unit(found[-1].text + text)
    else:
        found.append(Unit(text))


def _is_byte_level(tokens: Sequence[str], whole: str) -> bool:
    if not set(whole) <= _ALPHABET:
        ordinary = [token for token in tokens if not _SPECIAL.fullmatch(token)]
        if not set("".join(ordinary)) <= _ALPHABET:
            return False
    marked = (token for token in tokens if ("Ġ" in token or "Ċ" in token) and not _SPECIAL.fullmatch(token))
    return _several(marked) or _reads_as_characters(b"".join(_all_bytes(tokens)))


def _several(marked: Iterator[str]) -> bool:
    return len(list(islice(marked, _MARKS_NEEDED))) == _MARKS_NEEDED


def _all_bytes(tokens: Sequence[str]) -> Iterator[bytes]:
    known: dict[str, bytes] = {}
    for token in tokens:
        if token not in known:
            known[token] = bytes_of("byte-level", token)
        yield known[token]


def _reads_as_characters(stream: bytes) -> bool:
    """Without a space or a line end (Chinese, say), the bytes must make whole characters of several bytes, broken only at the ends."""
    long = 0
    for match in _LONG_PIECES.finditer(stream):
        if match[1]:
            long += 1
        elif _REACH < match.start() < len(stream) - _REACH:
            return False
    return long >= _MARKS_NEEDED
