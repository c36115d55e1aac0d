"""A list of strings in a line of JSON, cut out as it stands there: what parses the line need neither make texts of it nor write it again.

Whether it is such a list is for `board.sources.json_strings` to find out, which reads it. Knows nothing of rollouts.
"""

import re
import secrets
from typing import Final, NamedTuple

MARK: Final = secrets.token_hex(16)
"""The string that stands in a line instead of what was cut out of it: no line can know it, so that it is nowhere else."""

_WRITTEN: Final = b'"%s"' % MARK.encode()

_STRING: Final = rb'"(?:[^"\\]++|\\.)*+"'

_LIST: Final = rb'"%s"\s*+:\s*+(\[%s(?:, ?+%s)*+\])'
"""A key and its list, which holds a string at least."""

_BEHIND: Final = re.compile(rb'\s*+,\s*+"[^"\\]*+"\s*+:')
"""What stands between a list and the value behind it."""

_LINES: Final = 32
"""So many are looked at until one has the list."""

_BRACKETS: Final = 32
"""So many of a line are looked at one by one: to find one character is ten times faster than to find several, where there are few of it."""


LEAST_BYTES: Final = 1_000
"""Shorter lists are parsed and written again in the time that it takes to cut them out."""


class Cut(NamedTuple):
    """A line in two."""

    line: bytes
    """With the mark in place of the list."""
    list: bytes
    """As it stood in the line."""


class ListCutter:
    """Cuts the list under one key out of line after line, where it stands between the same characters as in the first where it is long."""

    def __init__(self, key: str) -> None:
        self._pattern = re.compile(_LIST % (re.escape(key.encode()), _STRING, _STRING), re.DOTALL)
        self._before = self._behind = b""
        self._lines_left = _LINES

    def cut(self, line: bytes) -> Cut | None:
        """The line in two; None where nothing is known yet, or the list stands between other characters."""
        if not self._before:
            self._look_at(line)
            return None
        opened = _place(line, self._before, len(self._before) - 2, 0)
        closed = _place(line, self._behind, 1, opened + len(self._before) - 1) if opened >= 0 else -1
        if closed < 0:
            return None
        start, stop = opened + len(self._before) - 2, closed + 2
        with memoryview(line) as view:
            return Cut(b"".join((view[:start], _WRITTEN, view[stop:])), line[start:stop])

    def _look_at(self, line: bytes) -> None:
        """Take from a line what lists stand between; nothing where they are not to be cut out.

        That is so where the list is short, is the last value, or writes characters by their number, which are read sooner by who parses
        the line.
        """
        if not self._lines_left:
            return
        self._lines_left -= 1
        found = self._pattern.search(line)
        behind = found and _BEHIND.match(line, found.end())
        if found and rb"\u" in found[1]:
            self.give_up()
        elif found and behind and len(found[1]) >= LEAST_BYTES:
            self._before, self._behind = line[found.start() : found.start(1)] + b'["', b'"]' + behind[0]

    def give_up(self) -> None:
        """Cut nothing more: it was another list."""
        self._before = self._behind = b""
        self._lines_left = 0


def _place(line: bytes, wanted: bytes, bracket: int, start: int) -> int:
    """Where some characters begin, from `start` on, of which the one numbered `bracket` is a bracket; -1 where they are not."""
    rare, at = wanted[bracket : bracket + 1], start + bracket - 1
    for _ in range(_BRACKETS):
        at = line.find(rare, at + 1)
        if at < 0 or line.startswith(wanted, at - bracket):
            return at - bracket if at >= 0 else -1
    return line.find(wanted, at + 1 - bracket)
