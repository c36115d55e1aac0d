"""board.recorder.values: numbers and texts are read back exactly, in few bytes."""

import itertools
import json
import math
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from recorded import DeviceTensor, same

from board.recorder.values import compact, encode

TEXT = st.text(st.characters(exclude_categories=[]), max_size=20).filter(
    # JSON itself cannot tell a surrogate pair written as two code points from the character it encodes
    lambda text: not any("\ud800" <= a <= "\udbff" and "\udc00" <= b <= "\udfff" for a, b in itertools.pairwise(text))
)
VALUE = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**70), 2**70) | st.floats() | TEXT,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(TEXT, inner, max_size=4),
    max_leaves=12,
)


@given(VALUE)
def test_any_json_value_is_read_back_exactly(value: Any) -> None:
    """Python's json reads back exactly what was given, whatever its floats, integers and characters."""
    assert same(json.loads(encode(value)), value)


@given(
    hnp.arrays(
        st.sampled_from([np.float16, np.float32, np.float64, np.int8, np.int64, np.uint64, np.bool_]),
        hnp.array_shapes(max_dims=2, max_side=5),
    ),
    st.booleans(),
)
def test_arrays_are_read_back_bit_for_bit(array: np.ndarray, reverse: bool) -> None:
    """An array of any dtype, contiguous or not, is the same array after a round trip through text."""
    array = array[::-1] if reverse else array

    back = np.array(json.loads(encode(array)), dtype=array.dtype)

    np.testing.assert_array_equal(array, back)
    assert np.array_equal(np.signbit(array.astype(float)), np.signbit(back.astype(float))) or np.isnan(array.astype(float)).any()


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        pytest.param([0.1, -2.5], "[0.1,-2.5]", id="list"),
        pytest.param((1, "a"), '[1,"a"]', id="tuple"),
        pytest.param(np.array([0.1, -0.0], np.float32), "[0.1,-0.0]", id="float32 is shortest"),
        pytest.param(np.array([0.1, np.nan], np.float32), "[0.1, NaN]", id="float32 is shortest beside NaN"),
        pytest.param(np.float32(0.1), "0.1", id="float32 scalar"),
        pytest.param(np.int64(3), "3", id="integer scalar"),
        pytest.param(np.array(7), "7", id="array of no dimension"),
        pytest.param(np.array([[1, 2], [3, 4]]).T, "[[1, 3], [2, 4]]", id="not contiguous"),
        pytest.param([math.nan, math.inf, -math.inf], "[NaN, Infinity, -Infinity]", id="literals"),
        pytest.param({"a": [None, math.nan]}, '{"a": [null, NaN]}', id="null and NaN told apart"),
        pytest.param("null", '"null"', id="a text that says null"),
        pytest.param(DeviceTensor([0.1, 2.0]), "[0.1,2.0]", id="foreign tensor"),
        pytest.param([DeviceTensor([0.5]), DeviceTensor([1.5])], "[[0.5],[1.5]]", id="list of tensors"),
    ],
)
def test_encoding(value: object, expected: str) -> None:
    """Numbers are written short and exact, and what is not finite as a literal."""
    assert encode(value).decode().replace(" ", "") == expected.replace(" ", "")


@given(st.lists(st.floats(), min_size=1))
def test_compact_is_float32(numbers: list[float]) -> None:
    """Floats become the float32 nearest to them, and stay as they are where one of them would overflow."""
    with np.errstate(over="ignore"):
        narrow = np.array(numbers).astype(np.float32)
    overflows = bool((np.isinf(narrow) & np.isfinite(numbers)).any())

    np.testing.assert_array_equal(compact(numbers), numbers if overflows else narrow)
    np.testing.assert_array_equal(compact(np.array(numbers)), numbers if overflows else narrow)


@pytest.mark.parametrize(
    "value", [[], [1, 2], [1.5, None], [True, 0.5], ["a"], "text", None, 0.1, np.array([1, 2]), np.array([True])], ids=str
)
def test_compact_leaves_the_rest(value: object) -> None:
    """What is not floats alone is not rounded: ids stay exact and null stays null."""
    assert compact(value) is value


def test_compact_numbers_take_half_the_bytes() -> None:
    """A list of float32 log-probabilities, as `tolist` gives it, is written in at most 60 % of Python's digits."""
    numbers = (-np.random.default_rng(0).exponential(size=1000).astype(np.float32)).tolist()

    assert len(encode(compact(numbers))) < 0.6 * len(json.dumps(numbers))


def test_what_vllm_reports() -> None:
    """A dict from token ids to objects with a log-probability and a text, as vLLM gives it per token, is written as the board reads it."""
    given = [
        {11: SimpleNamespace(logprob=-0.5, rank=1, decoded_token=" a"), 7: SimpleNamespace(logprob=-math.inf, decoded_token=None)}
    ]

    assert json.loads(encode(given)) == [
        {"11": {"logprob": -0.5, "decoded_token": " a"}, "7": {"logprob": -math.inf, "decoded_token": None}}
    ]
