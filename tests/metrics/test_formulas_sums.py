"""board.metrics.formulas: sums to the end of segments against a plain loop."""

import math

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from board.metrics import formulas


@given(
    st.lists(
        st.lists(st.floats(-1e300, 1e300) | st.sampled_from([0.0, -0.0, math.inf, math.nan]), max_size=9)
        | st.sampled_from([[0.1] * 63, [0.1] * 64, [0.1] * 65, [0.1, -0.3] * 70]),
        max_size=5,
    )
)
def test_sums_to_the_end_are_those_of_a_loop(segments: list[list[float]]) -> None:
    """To the last bit, in whatever order they are computed: each is the next one and its own number."""
    offsets = np.concatenate([[0], np.cumsum([len(one) for one in segments])]).astype(np.int64)
    expected = []
    for one in segments:
        total, backwards = None, []
        for number in reversed(one):
            total = number if total is None else total + number
            backwards.append(total)
        expected += backwards[::-1]

    found = formulas.sums_to_end(np.array([number for one in segments for number in one], np.float64), offsets)

    np.testing.assert_array_equal(found, np.array(expected, np.float64))
