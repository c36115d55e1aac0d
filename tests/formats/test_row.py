"""board.formats.row: arrays as long as the tokens, and what was missing or left over."""

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from board.formats.row import Row, align, flag_not_finite
from board.text.counting import plural

NAN = math.nan


def array(values: list[float]) -> np.ndarray[Any, np.dtype[np.float32]]:
    """Numbers as a row holds them."""
    return np.array(values, np.float32)


ALIGN: dict[str, tuple[list[str] | None, list[float], list[str] | None, list[float], str]] = {
    "as long": (["a", "b"], [1, 2], ["a", "b"], [1, 2], ""),
    "too short": (
        ["a", "b", "c"],
        [1],
        ["a", "b", "c"],
        [1, NAN, NAN],
        "x has 1 number for 3 tokens: 2 tokens at the end without one",
    ),
    "too long": (["a"], [1, 2, 3], ["a"], [1], "x has 3 numbers for 1 token: 2 numbers at the end left over"),
    "none at all": (["a", "b"], [], ["a", "b"], [NAN, NAN], "x has 0 numbers for 2 tokens: 2 tokens at the end without one"),
    "no tokens to speak of": ([], [1.0], [], [], "x has 1 number for 0 tokens: 1 number at the end left over"),
    "both empty": ([], [], [], [], ""),
    "no tokens field": (None, [1, 2], None, [1, 2], ""),
}


@pytest.mark.parametrize(("tokens", "values", "kept", "expected", "flag"), ALIGN.values(), ids=ALIGN)
def test_arrays_are_as_long_as_the_tokens(
    tokens: list[str] | None, values: list[float], kept: list[str] | None, expected: list[float], flag: str
) -> None:
    """From the first token on; what is missing is NaN, what is left over goes, and each is said."""
    row = Row(0, tokens=tokens, arrays={"x": array(values)})

    align(row)

    assert row.tokens == kept
    np.testing.assert_array_equal(row.arrays["x"], array(expected))
    assert row.arrays["x"].dtype == np.float32
    assert row.flags == ([flag] if flag else [])
    assert row.length == len(expected)


def test_arrays_of_different_length_without_tokens_are_as_long_as_the_longest() -> None:
    """No token text is no reason to lose a number."""
    row = Row(0, arrays={"x": array([1]), "y": array([1, 2, 3])})

    align(row)

    np.testing.assert_array_equal(row.arrays["x"], array([1, NAN, NAN]))
    np.testing.assert_array_equal(row.arrays["y"], array([1, 2, 3]))
    assert row.flags == ["x has 1 number for 3 tokens: 2 tokens at the end without one"]


@given(
    st.none() | st.lists(st.sampled_from(["a", "<pad>", "</s>"]), max_size=6),
    st.dictionaries(st.sampled_from("xyz"), st.lists(st.floats(width=32), max_size=6), max_size=3),
)
def test_after_aligning_everything_has_one_length(tokens: list[str] | None, values: dict[str, list[float]]) -> None:
    """Whatever the lengths: one length for all, numbers keep their place, and every difference is said once."""
    row = Row(0, tokens=tokens, arrays={name: array(one) for name, one in values.items()})

    align(row)

    assert {one.size for one in row.arrays.values()} <= {row.length}
    for name, one in values.items():
        shared = min(len(one), row.length)
        np.testing.assert_array_equal(row.arrays[name][:shared], array(one)[:shared])
        assert np.isnan(row.arrays[name][shared:]).all()
        assert sum(flag.startswith(f"{name} has") for flag in row.flags) == (len(one) != row.length)
    assert row.tokens == tokens


PLURALS = {"none": (0, "0 tokens"), "one": (1, "1 token"), "two": (2, "2 tokens"), "thousands": (33_000, "33,000 tokens")}


@pytest.mark.parametrize(("count", "text"), PLURALS.values(), ids=PLURALS)
def test_counts_are_said_in_words(count: int, text: str) -> None:
    """One is singular, thousands are grouped."""
    assert plural(count, "token") == text


KNOWN = [("a", -1.0)]
ALTERNATIVES: dict[str, tuple[Row, list[object], list[str]]] = {
    "as long": (Row(0, tokens=["a", "b"], alternatives=[KNOWN, None]), [KNOWN, None], []),
    "too short": (
        Row(0, tokens=["a", "b"], alternatives=[KNOWN]),
        [KNOWN, None],
        ["top_logprobs has 1 list for 2 tokens: 1 token at the end without one"],
    ),
    "too long": (
        Row(0, tokens=["a"], alternatives=[KNOWN, KNOWN]),
        [KNOWN],
        ["top_logprobs has 2 lists for 1 token: 1 list at the end left over"],
    ),
    "nothing is left over": (Row(0, tokens=["a"], alternatives=[KNOWN, None, None]), [KNOWN], []),
    "no tokens": (Row(0, alternatives=[KNOWN]), [], ["top_logprobs has 1 list for 0 tokens: 1 list at the end left over"]),
}


@pytest.mark.parametrize(("given", "expected", "flags"), ALTERNATIVES.values(), ids=ALTERNATIVES)
def test_alternatives_are_aligned(given: Row, expected: list[object], flags: list[str]) -> None:
    """They become as long as the tokens, from the first token on, and what is lost or missing is said."""
    align(given)

    assert (given.alternatives, given.flags) == (expected, flags)


FINITE: dict[str, tuple[list[float], list[float] | None, list[str]]] = {
    "no mask": ([NAN, 1], None, ["x has no finite number at 1 token, the first at position 0"]),
    "trained on": ([NAN, 1], [1, 0], ["x has no finite number at 1 token, the first at position 0"]),
    "masked": ([NAN, math.inf, 1], [0, 0, 1], []),
    "beyond the mask": ([NAN, NAN], [0], ["x has no finite number at 1 token, the first at position 1"]),
    "a mask that is longer": ([NAN], [0, 1], []),
}


@pytest.mark.parametrize(("values", "mask", "flags"), FINITE.values(), ids=FINITE)
def test_masked_tokens_need_no_number(values: list[float], mask: list[float] | None, flags: list[str]) -> None:
    """Only where a token is trained on is a missing number news."""
    row = Row(0, arrays={"x": array(values)} | ({"loss_mask": array(mask)} if mask else {}))

    flag_not_finite([row])

    assert row.flags == flags
