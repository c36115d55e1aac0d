"""JSON values one after another, alone or in one list → each value's bytes.

They are read in pieces, however many lines each takes. No more than one value is in memory, of at most so many bytes.
"""

import codecs
import json
import re
from collections.abc import Iterator
from typing import BinaryIO, Final, cast

from board.errors import RowRefused
from board.sources.json_record import fault

_PIECE: Final = 1 << 16
_BETWEEN: Final = re.compile(r"[\s,]*")
_SPACE: Final = re.compile(r"\s*")
_UNENDED: Final = "-+0123456789.eE"
"""What a number at the end of what was read may go on with."""


def texts(stream: BinaryIO, most: int) -> Iterator[str]:
    """The text of each value, bytes that are no UTF-8 as lone surrogates. Raises RowRefused at what is none, or longer than `most` bytes."""
    text = _Text(stream, most)
    text.skip(_SPACE)
    listed = text.starts_with("[")
    if listed:
        text.pass_by("[")
    between = _BETWEEN if listed else _SPACE
    while True:
        text.skip(between)
        if text.is_at_end:
            if listed:
                raise RowRefused("the list ends early: cut off, or still being written")
            return
        if listed and text.starts_with("]"):
            return
        yield text.value()


class _Text:
    """The part of a stream's text that is needed now."""

    def __init__(self, stream: BinaryIO, most: int) -> None:
        self._stream, self._most = stream, most
        self._decode = codecs.getincrementaldecoder("utf-8-sig")("surrogateescape").decode
        self._decoder = json.JSONDecoder()
        self._text, self._at, self._ended = "", 0, False

    def _more(self, size: int = _PIECE) -> None:
        data = self._stream.read(size)
        self._ended = len(data) < size
        self._text = self._text[self._at :] + self._decode(data, self._ended)
        self._at = 0

    def skip(self, passed: re.Pattern[str]) -> None:
        """Pass over what the pattern matches."""
        while True:
            self._at = cast("re.Match[str]", passed.match(self._text, self._at)).end()
            if self._at < len(self._text) or self._ended:
                return
            self._more()

    @property
    def is_at_end(self) -> bool:
        """Whether nothing is left."""
        return self._at >= len(self._text)

    def starts_with(self, character: str) -> bool:
        """Whether that is the next character."""
        return self._text.startswith(character, self._at)

    def pass_by(self, character: str) -> None:
        """Pass over it."""
        self._at += len(character)

    def value(self) -> str:
        """The text of the value that begins here: tried anew whenever as much again has been read, so that time grows as its length does."""
        while True:
            try:
                _, end = self._decoder.raw_decode(self._text, self._at)
                if self._ended or end < len(self._text) or self._text[end - 1] not in _UNENDED:
                    found, self._at = self._text[self._at : end], end
                    return found
            except RecursionError as error:
                raise RowRefused("is nested too deeply to be read") from error
            except ValueError as error:
                if self._ended:
                    raise RowRefused(f"is not JSON from here on: {fault(error, self._at) or error}") from error
            if len(self._text) - self._at > self._most:
                raise RowRefused(f"is longer than {self._most:,} bytes (RL_BOARD_LONGEST_LINE), or is not JSON")
            self._more(max(_PIECE, len(self._text) - self._at))
