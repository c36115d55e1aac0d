"""board.sources.json_record: one line of bytes is one JSON object that can be stored as UTF-8, or a reason why not."""

import json
import math
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from board.errors import RowRefused
from board.sources import json_record

READ: dict[str, tuple[bytes, dict[str, Any]]] = {
    "plain": (b'{"a": 1, "b": [0.5, null, true], "c": {"d": "x"}}', {"a": 1, "b": [0.5, None, True], "c": {"d": "x"}}),
    "empty object": (b"{}", {}),
    "space around": (b' \t{"a": 1} \r', {"a": 1}),
    "infinities": (b'{"a": [Infinity, -Infinity]}', {"a": [math.inf, -math.inf]}),
    "utf-8": ('{"a": "威é\U0001f600"}'.encode(), {"a": "威é\U0001f600"}),
    "escaped surrogate pair": (rb'{"a": "\ud83d\ude00"}', {"a": "\U0001f600"}),
    "escaped surrogate pair beside infinity": (rb'{"a": "\ud83d\ude00", "b": Infinity}', {"a": "\U0001f600", "b": math.inf}),
    "lone high surrogate": (rb'{"a": "x\ud800y"}', {"a": r"x\ud800y"}),
    "lone low surrogate, upper case": (rb'{"a": "\uDFFF"}', {"a": r"\udfff"}),
    "surrogates the wrong way round": (rb'{"a": "\ude00\ud83d"}', {"a": r"\ude00\ud83d"}),
    "lone surrogate in a key, a list and a dict": (
        rb'{"\ud800": [["\ud801"], {"k": "\ud802"}]}',
        {r"\ud800": [[r"\ud801"], {"k": r"\ud802"}]},
    ),
    "bytes that are not utf-8": (b'{"a": "caf\xe9", "\xff": 1}', {"a": r"caf\xe9", r"\xff": 1}),
    "utf-8 cut in a character": (b'{"a": "\xe5\xa8"}', {"a": r"\xe5\xa8"}),
    "surrogate written as utf-8": (b'{"a": "\xed\xa0\x80"}', {"a": r"\xed\xa0\x80"}),
    "escaped backslash before u": (rb'{"a": "\\ud800"}', {"a": r"\ud800"}),
    "zero byte, escaped": (rb'{"a": "\u0000"}', {"a": "\0"}),
    "zero byte, escaped, in a key": (rb'{"a": 1, "b\u0000c": 2}', {"a": 1, "b\0c": 2}),
    "zero byte, escaped, in a key that begins as another": (rb'{"b": 1, "b\u0000c": 2}', {"b": 1, "b\0c": 2}),
    "byte order mark within": (b'{"a": "\xef\xbb\xbf"}', {"a": "\ufeff"}),
    "64-bit integers": (b'{"a": [18446744073709551615, -9223372036854775808]}', {"a": [2**64 - 1, -(2**63)]}),
    "huge float": (b'{"a": 1e400, "b": -1e400}', {"a": math.inf, "b": -math.inf}),
    "integer beyond 64 bits": (b'{"a": 1' + b"0" * 30 + b"}", {"a": 1e30}),
    "behind a mark of the byte order": (b'\xef\xbb\xbf{"a": 1}', {"a": 1}),
    "last of equal keys": (b'{"a": 1, "a": 2}', {"a": 2}),
    "nested, strictly": (b'{"a": ' + b"[" * 200 + b"]" * 200 + b"}", {"a": json.loads("[" * 200 + "]" * 200)}),
    "nested, leniently": (
        b'{"b": Infinity, "a": ' + b"[" * 200 + b"]" * 200 + b"}",
        {"b": math.inf, "a": json.loads("[" * 200 + "]" * 200)},
    ),
}


@pytest.mark.parametrize(("data", "expected"), READ.values(), ids=READ)
def test_objects_are_read_and_can_be_stored(data: bytes, expected: dict[str, Any]) -> None:
    """What is JSON, or what Python writes for it, is read; what UTF-8 cannot hold is written out."""
    parsed = json_record.parse(data)

    assert parsed == expected
    repr(parsed).encode()


def test_nan_is_read() -> None:
    """The literal NaN, which Python's json writes and orjson refuses, alone and beside others."""
    parsed = json_record.parse(b'{"a": NaN, "b": [1.5, NaN, null]}')

    assert math.isnan(parsed["a"])
    assert repr(parsed["b"]) == "[1.5, nan, None]"


DEEP = 100_000
REFUSED = {
    "garbage": (b"not json", "is not JSON: Expecting value at character 1"),
    "cut object": (b'{"a": [1, 2', "is not JSON: Expecting ',' delimiter at character 12"),
    "two objects": (b'{"a": 1}{"a": 2}', "is not JSON: Extra data at character 9"),
    "python's repr": (b"{'a': 1}", "is not JSON: Expecting property name"),
    "comma before a brace": (b'{"a": 1,}', "is not JSON: there is a comma before } at column 8, which must go"),
    "comma and blanks before a brace": (b'{"a": [1], \t }', "is not JSON: there is a comma before } at column 10, which must go"),
    "comma before a bracket": (b'{"a": [1, 2,]}', "is not JSON: there is a comma before ] at column 12, which must go"),
    "comma before a brace in a text, another fault after": (b'{"a": "1,}", b}', "is not JSON: Expecting property name"),
    "bytes": (bytes(range(256)), "is not JSON: Expecting value at character 1"),
    "utf-16": ('{"a": 1}'.encode("utf-16"), "is not JSON: "),
    "line break in a text": (b'{"a": "x\ty"}', "is not JSON: Invalid control character"),
    "a list": (b"[]", "is not a JSON object but a list"),
    "a number": (b"42", "is not a JSON object but a number"),
    "a float": (b"4.2", "is not a JSON object but a number"),
    "not a number": (b"NaN", "is not a JSON object but a number"),
    "a text": (b'"x"', "is not a JSON object but text"),
    "null": (b"null", "is not a JSON object but null"),
    "true": (b"true", "is not a JSON object but true or false"),
    "too deep": (b'{"a": ' + b"[" * DEEP + b"]" * DEEP + b"}", "is nested too deeply to be read"),
    "deep beside a lone surrogate": (
        rb'{"b": "\ud800", "a": ' + b"[" * 900 + b"]" * 900 + b"}",
        "is nested too deeply to be read",
    ),
    "an integer without end": (b'{"a": ' + b"1" * 5_000 + b"}", "holds an integer of more digits than can be read"),
    "an integer without end beside NaN": (b'{"b": NaN, "a": ' + b"1" * 5_000 + b"}", "holds an integer of more digits"),
}


@pytest.mark.parametrize(("data", "reason"), REFUSED.values(), ids=REFUSED)
def test_everything_else_is_refused_with_the_reason(data: bytes, reason: str) -> None:
    """One short reason, never another exception."""
    with pytest.raises(RowRefused) as refusal:
        json_record.parse(data)

    assert str(refusal.value).startswith(reason)
    assert len(str(refusal.value)) < 120


@given(st.binary(max_size=40) | st.text(max_size=20).map(lambda text: b'{"a": "' + text.encode("utf-8", "surrogatepass") + b'"}'))
def test_any_bytes_are_read_or_refused(data: bytes) -> None:
    """Nothing but RowRefused comes out, and what is read can be stored."""
    try:
        parsed = json_record.parse(data)
    except RowRefused:
        return

    assert all(isinstance(key, str) for key in parsed)
    repr(parsed).encode()


JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**63), 2**64 - 1) | st.floats() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner, max_size=3),
    max_leaves=8,
)


@given(st.dictionaries(st.text(max_size=5), JSON, max_size=4), st.booleans())
def test_what_python_writes_is_read_back(value: dict[str, Any], ascii_only: bool) -> None:
    """Whatever the values, not-a-number included, escaped or not."""
    data = json.dumps(value, ensure_ascii=ascii_only).encode()

    assert repr(json_record.parse(data)) == repr(value)


TEXTS: dict[str, tuple[Any, str]] = {
    "text": ("威 <b>", "威 <b>"),
    "number": (42, "42"),
    "float": (0.1, "0.1"),
    "not a number": (math.nan, "NaN"),
    "null": (None, "null"),
    "true": (True, "true"),
    "list": (["威", 1], '["威", 1]'),
    "dict": ({"k": [None]}, '{"k": [null]}'),
}


@pytest.mark.parametrize(("value", "text"), TEXTS.values(), ids=TEXTS)
def test_values_as_text(value: Any, text: str) -> None:
    """Text stays as it is, everything else is JSON in its own script."""
    assert json_record.as_text(value) == text
