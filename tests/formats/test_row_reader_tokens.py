"""Tests of a record's tokens as they are read: their texts, their numbers, their alternatives."""

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from read_rows import read
from rows import token_row

from board.formats import row_reader
from board.formats.row import flag_not_finite
from board.formats.row_reader import as_alternatives
from board.sources.json_record import as_text

NAN = math.nan


def test_tokens_alone_will_do() -> None:
    """A row of tokens and a step loads; its response is missing, not empty."""
    read_row = row_reader.read({"step": 0, "response": None, "response_tokens": ["a"]})

    assert read_row.tokens == ["a"]
    assert read_row.texts == {}


TOKENS: dict[str, tuple[list[Any], list[str]]] = {
    "texts": (["a", " b"], ["a", " b"]),
    "ids": ([151, 7, 7], ["151", "7", "7"]),
    "mixed": (["a", 1, None, 0.5, ["x"], {"id": 1}], ["a", "1", "null", "0.5", '["x"]', '{"id": 1}']),
    "empty": ([], []),
    "special": (["", "\n", "<b>", "\0"], ["", "\n", "<b>", "\0"]),
}


@pytest.mark.parametrize(("given", "expected"), TOKENS.values(), ids=TOKENS)
def test_tokens_are_texts(given: list[Any], expected: list[str]) -> None:
    """As many as there are, letter for letter; ids and others as JSON."""
    read_row = read(response_tokens=given)

    assert (read_row.tokens, read_row.flags) == (expected, [])


def test_tokens_that_are_no_list_are_said() -> None:
    """They are missing, and the report quotes them."""
    read_row = read(response_tokens={"a": 1})

    assert read_row.tokens is None
    assert read_row.flags == ['response_tokens is {"a": 1}, not a list: taken as missing']


ALTERNATIVES: dict[str, tuple[Any, Any, str]] = {
    "pairs": ([[["a", -0.5], ["b", -1]], [["c", 0.0]]], [[("a", -0.5), ("b", -1)], [("c", 0)]], ""),
    "nothing at a token": ([None, [["c", 0.0]]], [None, [("c", 0)]], ""),
    "no alternative at a token": ([[], [["c", 0.0]]], [[], [("c", 0)]], ""),
    "ids": ([[[17, -0.5]]], [[("17", -0.5)]], ""),
    "dicts": ([{"a": -0.5, "b": -2.0}], [[("a", -0.5), ("b", -2)]], ""),
    "objects": ([[{"token": "a", "logprob": -0.5, "bytes": [97]}]], [[("a", -0.5)]], ""),
    "vLLM's dicts": (
        [
            {
                "791": {"logprob": -0.5, "rank": 1, "decoded_token": "The"},
                "32": {"logprob": -2.0, "rank": 2, "decoded_token": None},
            }
        ],
        [[("The", -0.5), ("32", -2)]],
        "",
    ),
    "dicts of objects by text": ([{" a": {"logprob": None}}], [[(" a", pytest.approx(NAN, nan_ok=True))]], ""),
    "OpenAI's content": (
        [{"token": "a", "logprob": -0.5, "bytes": [97], "top_logprobs": [{"token": "a", "logprob": -0.5, "bytes": None}]}],
        [[("a", -0.5)]],
        "",
    ),
    "tokens called like keys": ([{"token": -0.5, "top_logprobs": -1.5}], [[("token", -0.5), ("top_logprobs", -1.5)]], ""),
    "a dict without logprob": ([[["a", -1.0]], {"b": {"rank": 1}}], [[("a", -1)], None], "at 1 token, the first at position 1"),
    "no logprob": ([[["a", None]]], [[("a", pytest.approx(NAN, nan_ok=True))]], ""),
    "impossible": ([[["a", -math.inf]]], [[("a", -math.inf)]], ""),
    "some malformed": ([[["a", -1.0]], "x", [["a"]]], [[("a", -1)], None, None], "at 2 tokens, the first at position 1"),
    "logprob is a text": ([[["a", -1.0]], [["a", "b"]]], [[("a", -1)], None], "at 1 token, the first at position 1"),
    "token is a list": ([[["a", -1.0]], [[["a"], 1.0]]], [[("a", -1)], None], "at 1 token, the first at position 1"),
    "three of a pair": ([[["a", -1.0]], [["a", -1.0, 0]]], [[("a", -1)], None], "at 1 token, the first at position 1"),
    "nulls": ([None, None], None, ""),
    "empty": ([], None, ""),
}


@pytest.mark.parametrize(("given", "expected", "flag"), ALTERNATIVES.values(), ids=ALTERNATIVES)
def test_alternatives_are_pairs(given: Any, expected: Any, flag: str) -> None:
    """Tokens and log-probabilities in the order given, whichever way they are written; a malformed one is missing and flagged."""
    read_row = read(top_logprobs=given)

    assert read_row.alternatives == expected
    assert [flag in one for one in read_row.flags] == ([True] if flag else [])
    assert "top_logprobs" not in read_row.texts


_ANY_TOKEN = st.text(st.characters(codec="utf-8"), max_size=4)
_ANY_JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | _ANY_TOKEN,
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(["token", "logprob", "top_logprobs", "a"]), inner)
    ),
    max_leaves=8,
)


@given(pairs=st.lists(st.tuples(_ANY_TOKEN, st.floats(-1e6, 0)), max_size=5, unique_by=lambda pair: pair[0]))
def test_every_engine_says_the_same(pairs: list[tuple[str, float]]) -> None:
    """Pairs, a dict, vLLM's dict and OpenAI's objects of the same alternatives are read alike."""
    objects = [{"token": token, "logprob": number, "bytes": None} for token, number in pairs]
    shapes: list[Any] = [
        [list(pair) for pair in pairs],
        dict(pairs),
        objects,
        {"token": "x", "logprob": 0, "top_logprobs": objects},
    ]
    shapes.append({token: {"logprob": number, "rank": 1} for token, number in pairs})
    shapes.append({str(i): {"logprob": number, "decoded_token": token} for i, (token, number) in enumerate(pairs)})

    assert [as_alternatives(shape) for shape in shapes] == [pairs] * len(shapes)


@given(st.lists(_ANY_JSON, max_size=4))
def test_no_alternatives_break_a_row(value: list[Any]) -> None:
    """Whatever stands there, the row loads with a list per token or keeps it as text and says so."""
    read_row = read(top_logprobs=value)

    assert read_row.alternatives is None or len(read_row.alternatives) == len(value)
    kept = read_row.alternatives or [None] * len(value)
    malformed = [one for one, found in zip(value, kept, strict=True) if one is not None and found is None]
    assert bool(read_row.flags) == bool(malformed)


@pytest.mark.parametrize("given", ["x", {"a": -1.0}, [1.0, 2.0], [["a", -1.0]], 7, ["a"]], ids=str)
def test_alternatives_that_are_none_are_kept_as_text(given: Any) -> None:
    """The row loads, says so, and loses nothing."""
    read_row = read(top_logprobs=given)

    assert read_row.alternatives is None
    assert read_row.flags == ["top_logprobs is not a list of [token, logprob] lists: read as text"]
    assert read_row.texts["top_logprobs"] == as_text(given)


ARRAYS: dict[str, tuple[list[Any], list[float], str]] = {
    "numbers": ([-0.5, 1, 2.5], [-0.5, 1, 2.5], ""),
    "null": ([-0.5, None], [-0.5, NAN], "no finite number at 1 token, the first at position 1"),
    "nulls first": ([None, None, 1.0], [NAN, NAN, 1], "no finite number at 2 tokens, the first at position 0"),
    "not a number": ([NAN, 1.0], [NAN, 1], "no finite number at 1 token, the first at position 0"),
    "infinite": ([1.0, -math.inf], [1, -math.inf], "no finite number at 1 token, the first at position 1"),
    "true and false": ([True, False], [1, 0], ""),
    "beyond float32": ([1e300], [math.inf], "no finite number at 1 token"),
    "below float32": ([1e-300, -0.0], [0.0, -0.0], ""),
    "empty": ([], [], ""),
}


@pytest.mark.parametrize(("given", "expected", "flag"), ARRAYS.values(), ids=ARRAYS)
def test_token_metrics_are_float32(given: list[Any], expected: list[float], flag: str) -> None:
    """Null is NaN, and what is not finite is flagged with its place."""
    read_row = read(logprobs=given)

    np.testing.assert_array_equal(read_row.arrays["logprobs"], np.array(expected, np.float32))
    assert read_row.arrays["logprobs"].dtype == np.float32
    flag_not_finite([read_row])
    assert [flag in one for one in read_row.flags] == ([True] if flag else [])


NO_ARRAYS: dict[str, tuple[Any, str]] = {
    "text": ("abc", "abc"),
    "number": (0.5, "0.5"),
    "dict": ({"a": 1}, '{"a": 1}'),
    "texts": (["a"], '["a"]'),
    "numbers as texts": (["1", "2"], '["1", "2"]'),
    "nested": ([[0.1], [0.2]], "[[0.1], [0.2]]"),
    "ragged": ([0.1, [0.2]], "[0.1, [0.2]]"),
    "dicts": ([0.1, {"a": 1}], '[0.1, {"a": 1}]'),
}


@pytest.mark.parametrize(("given", "text"), NO_ARRAYS.values(), ids=NO_ARRAYS)
def test_token_metrics_that_are_none_are_kept_as_text(given: Any, text: str) -> None:
    """Nothing is thrown away: the value is there as text, and the report says so."""
    read_row = read(logprobs=given)

    assert read_row.arrays == {}
    assert read_row.texts["logprobs"] == text
    assert read_row.flags == ["logprobs is not a list of numbers: read as text"]


LOGGED: dict[str, tuple[dict[str, Any], str]] = {
    "a derived metric": ({"kl": [0.1, 0.2]}, "kl (logged)"),
    "another derived metric": ({"log_ratio": [0.1, 0.2]}, "log_ratio (logged)"),
    "the title of a field the row has": ({"entropy": [0.1, 0.2], "entropies": [0.3, 0.4]}, "entropy (logged)"),
    "the title of a field the row lacks": ({"entropy": [0.1, 0.2]}, "entropy"),
    "the board's token marks": ({"counts": [1, 2]}, "counts (logged)"),
    "the other token mark": ({"pads": [1, 2]}, "pads (logged)"),
    "a column of the token table": ({"position": [7, 8]}, "position (logged)"),
    "another column of the token table": ({"token": [7, 8]}, "token (logged)"),
}


@pytest.mark.parametrize(("fields", "name"), LOGGED.values(), ids=LOGGED)
def test_token_metrics_that_clash_are_renamed(fields: dict[str, Any], name: str) -> None:
    """A trainer's field the board means something else by is kept as `(logged)`."""
    read_row = row_reader.read(token_row(**fields))

    assert read_row.arrays[name].tolist() == pytest.approx(next(iter(fields.values())))
    assert (next(iter(fields)) in read_row.arrays) == (name == next(iter(fields)))


def test_arrays_keep_their_own_length_until_aligned() -> None:
    """Reading reports no mismatch and cuts nothing: that is aligning's work."""
    read_row = read(response_tokens=["a"], logprobs=[1, 2, 3])

    assert read_row.arrays["logprobs"].size == 3
    assert read_row.flags == []


def test_ids_of_the_prompt_are_no_metric() -> None:
    """A prompt that happens to have as many tokens as the response stays the prompt."""
    found = read(response_tokens=["a", "b"], prompt_token_ids=[1, 17])

    assert found.texts["prompt_token_ids"] == "[1, 17]"
    assert found.arrays == {}
