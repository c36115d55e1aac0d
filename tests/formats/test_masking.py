"""Tests of cutting arrays over the whole sequence to the response."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from board.formats.masking import cut, hide, response_span, spread

SPANS: dict[str, tuple[list[Any], tuple[int, int]]] = {
    "prompt, response, padding": ([0, 0, 1, 1, 0], (2, 4)),
    "a tool's answer within": ([0, 1, 0, 0, 1, 0], (1, 5)),
    "booleans": ([False, True], (1, 2)),
    "nothing sampled": ([0, 0], (0, 0)),
    "empty": ([], (0, 0)),
}


@pytest.mark.parametrize(("mask", "span"), SPANS.values(), ids=SPANS)
def test_response_span(mask: list[Any], span: tuple[int, int]) -> None:
    """From the first sampled token to behind the last, what lies between included."""
    assert response_span(mask) == span
    assert response_span(np.array(mask)) == span


def test_missing_fields_stay_away() -> None:
    """Each list is cut alike, and what a record lacks is not invented."""
    assert cut({"a": [1, 2, 3], "b": None, "c": "xyz"}, 1, 2) == {"a": [2], "c": "y"}


@given(st.lists(st.booleans(), max_size=20))
def test_spread_puts_values_back_in_their_places(mask: list[bool]) -> None:
    """One value per sampled token in order, and none anywhere else."""
    values = list(range(sum(mask)))

    found = spread(values, mask)

    assert found is not None
    assert [value for value in found if value is not None] == values
    assert [value is not None for value in found] == mask
    assert spread([*values, 0], mask) is None


HIDDEN: dict[str, tuple[list[Any], list[int], list[Any]]] = {
    "a tool's answer": ([-1.0, 0.0, -2.0], [1, 0, 1], [-1.0, None, -2.0]),
    "nothing": ([-1.0], [1], [-1.0]),
    "all": ([0.0, 0.0], [0, 0], [None, None]),
    "fewer than the mask": ([-1.0], [1, 0], [-1.0]),
    "more than the mask": ([-1.0, -2.0], [0], [None, -2.0]),
    "empty": ([], [], []),
}


@pytest.mark.parametrize(("values", "mask", "expected"), HIDDEN.values(), ids=HIDDEN)
def test_dummies_are_hidden(values: list[Any], mask: list[int], expected: list[Any]) -> None:
    """A masked token has no number, of the others none is touched, and what was given stays as it was."""
    given, array = list(values), np.array(values, np.float32)

    assert hide(given, mask) == expected
    assert given == values
    np.testing.assert_array_equal(hide(array, np.array(mask, np.float32)), np.array(expected, np.float32))
