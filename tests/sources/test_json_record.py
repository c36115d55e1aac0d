"""board.sources.json_record: one line of bytes is one JSON object that can be stored as UTF-8, or a reason why not."""

import json
import math
import re
from collections.abc import Callable
from typing import Any

import numpy as np
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


WAYS = {"a line": json_record.parse, "line after line": json_record.LineParser(frozenset({"logprobs"})).parse}


@pytest.fixture(params=list(WAYS.values()), ids=list(WAYS))
def parse(request: pytest.FixtureRequest) -> Callable[[bytes], json_record.Record]:
    """Both ways to read a line, which differ in speed alone."""
    return request.param


@pytest.mark.parametrize(("data", "expected"), READ.values(), ids=READ)
def test_objects_are_read_and_can_be_stored(
    parse: Callable[[bytes], json_record.Record], data: bytes, expected: dict[str, Any]
) -> None:
    """What is JSON, or what Python writes for it, is read; what UTF-8 cannot hold is written out."""
    parsed = parse(data)

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
def test_everything_else_is_refused_with_the_reason(
    parse: Callable[[bytes], json_record.Record], data: bytes, reason: str
) -> None:
    """One short reason, never another exception."""
    with pytest.raises(RowRefused) as refusal:
        parse(data)

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


@given(st.dictionaries(st.sampled_from(["a", "logprobs", "é"]), JSON, max_size=4), st.booleans(), st.binary(max_size=2))
def test_both_ways_read_the_same(value: dict[str, Any], ascii_only: bool, behind: bytes) -> None:
    """A line read after others gives what it gives alone, numbers under an array's key as float32, or the same refusal."""
    data = json.dumps(value, ensure_ascii=ascii_only).encode() + behind
    try:
        alone = json_record.parse(data)
    except RowRefused as error:
        with pytest.raises(RowRefused, match=re.escape(str(error))):
            WAYS["line after line"](data)
        return

    with np.errstate(over="ignore"):
        found = WAYS["line after line"](data)

    array = found.get("logprobs")
    if isinstance(array, np.ndarray):
        assert array.dtype == np.float32
        with np.errstate(over="ignore"):
            np.testing.assert_array_equal(array, np.array(_numbers(alone.pop("logprobs")), np.float64).astype(np.float32))
        found.pop("logprobs")
    assert repr(found) == repr(alone)


def _numbers(value: Any) -> list[float]:
    """The numbers of a list, those of lists within it too."""
    return [number for one in value for number in _numbers(one)] if isinstance(value, list) else [value]


TABLES: dict[str, tuple[bytes, list[float] | None]] = {
    "numbers": (b"[-0.5, 1, 1e300, 18446744073709551615]", [-0.5, 1.0, math.inf, 2.0**64]),
    "one": (b"[0.1]", [0.1]),
    "none": (b"[]", None),
    "a null": (b"[1, null]", None),
    "true": (b"[1, true]", None),
    "a text": (b'["1"]', None),
    "lists": (b"[[1], [2]]", None),
    "a list at the end": (b"[1, [2]]", None),
    "a list of two": (b"[1, [2, 3], 4]", None),
    "an object": (b'[1, {"a": 1}]', None),
    "too great for 64 bits": (b"[1, 18446744073709551616]", None),
    "beyond float64": (b"[1, 1e999]", None),
}


@pytest.mark.parametrize(("given_list", "expected"), TABLES.values(), ids=TABLES)
def test_token_arrays_are_float32(given_list: bytes, expected: list[float] | None) -> None:
    """A list of numbers under an array's key is float32; whatever else it holds leaves it a list, as under any other key."""
    line = b'{"a": %b, "logprobs": %b}' % (given_list, given_list)

    with np.errstate(over="ignore"):
        found = WAYS["line after line"](line)

    assert repr(found["a"]) == repr(json_record.parse(line)["a"])
    if expected is None:
        assert repr(found["logprobs"]) == repr(found["a"])
    else:
        with np.errstate(over="ignore"):
            np.testing.assert_array_equal(found["logprobs"], np.array(expected, np.float32))


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
