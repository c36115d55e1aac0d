"""One line of bytes → one JSON object, or the reason why not.

Takes JSON as it is met in the wild: the literals NaN and Infinity, lone surrogates, bytes that are not UTF-8.
"""

import json
import re
from typing import Any, Final

import orjson

from board.errors import RowRefused

_BOM: Final = b"\xef\xbb\xbf"
"""Stands before a line where files were put end to end."""

_LONE: Final = re.compile("[\ud800-\udfff]")

_LEFT_OVER: Final = re.compile(r",\s*([}\]])")
"""A comma behind the last entry, which JSON forbids and JavaScript and Python allow."""

Record = dict[str, Any]
"""A JSON object as parsed: what a format maps to a rollout."""

COMPANIONS: Final = "companions"
"""Under this key a record has the records of the files that belong to its own, where a trainer keeps a step in several."""


def parse(data: bytes) -> Record:
    r"""The JSON object on one line; every text in it can be stored as UTF-8.

    orjson reads what is strict JSON; what it refuses goes to the standard library, which also takes NaN, Infinity, -Infinity, lone
    surrogates and huge numbers, as Python trainers write them. What UTF-8 cannot hold is written out: a lone surrogate as `\ud800`, a byte
    that was not UTF-8 as `\xe9`. Raises RowRefused with the reason.
    """
    value = parse_value(data.removeprefix(_BOM))
    if not isinstance(value, dict):
        hint = ' of objects: write {"messages": [...]} on each line if they are messages' if _is_objects(value) else ""
        raise RowRefused(f"is not a JSON object but {_describe(value)}{hint}")
    return value


def parse_value(data: bytes) -> Any:
    """Any JSON value, as `parse` reads an object. Raises RowRefused with the reason."""
    try:
        return orjson.loads(data)
    except orjson.JSONDecodeError:
        return _parse_leniently(data)


def _parse_leniently(data: bytes) -> Any:
    if data.startswith((b"\xff\xfe", b"\xfe\xff")):
        raise RowRefused("is not JSON: it is UTF-16, and must be UTF-8")
    text = data.decode("utf-8", errors="surrogateescape")
    try:
        value = json.loads(text)
        return _printable(value) if _LONE.search(text) or "\\ud" in text.lower() else value
    except json.JSONDecodeError as error:
        raise RowRefused(f"is not JSON: {fault(error) or f'{error.msg} at character {error.pos + 1}'}") from error
    except RecursionError as error:
        raise RowRefused("is nested too deeply to be read") from error
    except ValueError as error:
        raise RowRefused("holds an integer of more digits than can be read") from error


def fault(error: ValueError, start: int = 0) -> str | None:
    """Name the comma before a closing bracket and its place, where that is what is wrong with the value at `start`; else None.

    Python says of it that a name or a value was expected, at the bracket, at the comma or between, depending on its release.
    """
    if not isinstance(error, json.JSONDecodeError):
        return None
    at = error.doc.rfind(",", start, error.pos + 1)
    found = _LEFT_OVER.match(error.doc, at) if at >= 0 else None
    if found is None or found.end() <= error.pos:
        return None
    line, column = error.doc.count("\n", start, at), at - error.doc.rfind("\n", start, at)
    place = f"line {line + 1}, column {column}" if line else f"column {at - start + 1}"
    return f"there is a comma before {found[1]} at {place}, which must go"


def _is_objects(value: Any) -> bool:
    return isinstance(value, list) and bool(value) and all(isinstance(item, dict) for item in value)


def _describe(value: Any) -> str:
    names = {list: "a list", str: "text", bool: "true or false", int: "a number", float: "a number", type(None): "null"}
    return names[type(value)]


def _printable(value: Any) -> Any:
    """The same value with lone surrogates written out in every text and key."""
    if isinstance(value, str):
        return _LONE.sub(_escape, value)
    if isinstance(value, list):
        return [_printable(item) for item in value]
    if isinstance(value, dict):
        return {_printable(key): _printable(item) for key, item in value.items()}
    return value


def _escape(match: re.Match[str]) -> str:
    code = ord(match[0])
    return f"\\x{code - 0xDC00:02x}" if 0xDC80 <= code <= 0xDCFF else f"\\u{code:04x}"


def as_text(value: Any) -> str:
    """Any JSON value as text: text as it is, everything else as compact JSON."""
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
