"""One line of bytes → the keys and values of its JSON object, a list of numbers as float64, of strings as JSON; None for any unusual line.

What is refused here `board.sources.json_record` reads, or says why it cannot. Knows nothing of rollouts.
"""

from collections.abc import Set as AbstractSet
from typing import Any, Final

import simdjson

from board.sources.json_cutting import MARK, ListCutter
from board.sources.json_strings import Strings

Numbers = memoryview
"""The numbers of a flat list: float64, one-dimensional, no part of the line."""

Keys = tuple[str, ...]

MOST_KEYS: Final = 2_000
"""simdjson looks for each key from the front: an object of more is for a parser that does not."""

_NESTED: Final = frozenset({simdjson.Array, simdjson.Object})


class CellParser:
    """Reads line after line, in one thread. Lists under the keys of `plain` stay lists whatever they hold, that under `strings` stays JSON."""

    def __init__(self, plain: AbstractSet[str] = frozenset(), strings: str | None = None) -> None:
        self._plain, self._strings = plain, strings
        self._cutter = None if strings is None else ListCutter(strings)
        self._parser = simdjson.Parser()

    def parse(self, data: bytes, known: Keys) -> tuple[Keys, list[Any]] | None:
        """The keys of the object on a line, each once, and its values; `known` where these are its keys, in whatever order they stand.

        None for a line that is not strict JSON, holds a number that 64 bits do not, or has a key twice or one with the character 0; what
        `Strings` hold may still be found not to be strict. Nothing of simdjson's outlives the call: it refuses to parse on while one of its
        objects is held.
        """
        if self._cutter and (cut := self._cutter.cut(data)) and (found := self._parsed(cut.line, known)):
            if self._put_back(cut.list, *found):
                return found
            self._cutter.give_up()
        return self._parsed(data, known)

    def _put_back(self, cut: bytes, keys: Keys, values: list[Any]) -> bool:
        """Put a list where its mark is; whether that is under its key, and not under one within an object."""
        at = keys.index(self._strings) if self._strings in keys else -1
        if at >= 0 and values[at] == MARK:
            values[at] = Strings(cut)
            return True
        return False

    def _parsed(self, data: bytes, known: Keys) -> tuple[Keys, list[Any]] | None:
        try:
            found = self._parser.parse(data)
            if type(found) is not simdjson.Object or len(found) > MOST_KEYS:
                return None
            if len(found) == len(known) and (values := self._values(found, known)) is not None:
                return known, values
            keys = tuple(found.keys())
            values = self._values(found, keys) if are_found(keys) else None
        except (ValueError, RuntimeError):
            return None
        return None if values is None else (keys, values)

    def _values(self, found: Any, keys: Keys) -> list[Any] | None:
        """The values under these keys; None where one is not there."""
        try:
            return [value if type(value := found[key]) not in _NESTED else self._nested(key, value) for key in keys]
        except KeyError:
            return None

    def _nested(self, key: str, value: Any) -> Any:
        if type(value) is simdjson.Object:
            return value.as_dict()
        if key == self._strings:
            return Strings(value.mini)
        found = None if key in self._plain else numbers(value)
        return value.as_list() if found is None else found


def are_found(keys: Keys) -> bool:
    """Whether simdjson finds the value of each key: of one that is there twice it finds the first, and reads none beyond the character 0."""
    return len({*keys}) == len(keys) and "\0" not in "".join(keys)


def numbers(value: Any) -> "memoryview[float] | None":
    """The numbers of a flat list; None when it is empty or holds anything else.

    A list hidden between numbers, which no trainer writes, counts as the number in it where it holds one.
    """
    count = len(value)
    if not count or type(value[0]) is simdjson.Array or type(value[count - 1]) is simdjson.Array:
        return None
    try:
        found = memoryview(value.as_buffer(of_type="d")).cast("d")
    except TypeError:
        return None
    return found if len(found) == count else None
