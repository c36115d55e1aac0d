"""board.text.format_number: how numbers read on the screen."""

import math

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from board.text.format_number import column_format, exact, fmt, with_all_digits

READS = {
    "zero": (0.0, "0"),
    "negative zero": (-0.0, "0"),
    "whole": (64.0, "64"),
    "whole and long": (12_345.0, "12,345"),
    "a fraction": (0.5, "0.500"),
    "three digits": (0.123456, "0.123"),
    "rounds up a digit": (9.999, "10.0"),
    "rounds up to one": (0.9996, "1.00"),
    "digits before the point stay": (1234.56, "1,235"),
    "negative": (-12.345, "-12.3"),
    "smallest fixed": (0.001, "0.00100"),
    "tiny": (1.234e-5, "1.23e-5"),
    "tiny and negative": (-1.5e-9, "-1.50e-9"),
    "smallest of all": (5e-324, "4.94e-324"),
    "large fraction": (3e7 + 0.5, "3.00e7"),
    "huge": (1e20, "1.00e20"),
    "none": (None, "–"),
    "NaN": (math.nan, "–"),
    "infinite": (math.inf, "∞"),
    "minus infinite": (-math.inf, "-∞"),
}


@pytest.mark.parametrize(("value", "expected"), READS.values(), ids=READS)
def test_numbers_read_in_three_digits(value: float | None, expected: str) -> None:
    """Fixed notation where it is short, scientific where it is not, a dash where there is no number."""
    assert fmt(value) == expected


def test_more_digits_on_request() -> None:
    """The number of significant digits is the caller's choice."""
    assert fmt(math.pi, digits=5) == "3.1416"


@settings(deadline=None)
@given(st.floats(-1e307, 1e307).filter(bool))
def test_a_number_that_is_not_zero_never_reads_as_zero(value: float) -> None:
    """Read back, it has the sign and, to three digits, the size of the number."""
    assert float(fmt(value).replace(",", "")) == pytest.approx(value, rel=0.0051)


@settings(deadline=None)
@given(st.floats(allow_nan=False, allow_infinity=False))
def test_exact_loses_nothing(value: float) -> None:
    """Full precision reads back as the same float."""
    assert float(exact(value)) == value


@pytest.mark.parametrize(
    ("value", "expected"),
    [(0.12345, "0.123 nats (0.12345)"), (2.0, "2 nats"), (1e-9, "1.00e-9 nats (1e-09)"), (math.nan, "– nats"), (None, "– nats")],
)
def test_told_gives_the_digits_left_out(value: float | None, expected: str) -> None:
    """Three digits and the unit, all digits in brackets where there are more."""
    assert with_all_digits(value, "nats") == expected


def test_exact_of_what_is_not_a_number() -> None:
    """Missing and infinite read as in fmt; whole numbers carry no ".0"."""
    assert [exact(value) for value in (None, math.nan, math.inf, 3.0)] == ["–", "–", "∞", "3"]


COLUMNS: dict[str, tuple[list[float], list[str]]] = {
    "whole": ([64, 3, 0, -2], ["64", "3", "0", "-2"]),
    "thirds": ([8 / 3, 3, 11 / 3], ["2.67", "3.00", "3.67"]),
    "below one": ([0.1111, 0.09091, 0.5], ["0.111", "0.091", "0.500"]),
    "large with a fraction": ([1234.5, 1500.25], ["1234", "1500"]),
    "a small one among others": ([1.5, 0.0004], ["1.5000", "0.0004"]),
    "a tiny one among others": ([1.5, 2e-9, 0], ["1.50e+00", "2.00e-09", "0.00e+00"]),
    "huge": ([1.5, 3e7], ["1.50e+00", "3.00e+07"]),
    "close together": ([0.9991, 0.9998, 1.0], ["0.99910", "0.99980", "1.00000"]),
    "apart by rounding alone": ([0.1 + 0.2, 0.3], ["0.300", "0.300"]),
    "huge and whole": ([1e20, 1], ["1.00e+20", "1.00e+00"]),
    "missing and infinite": ([math.nan, math.inf, 0.25], ["nan", "inf", "0.250"]),
    "nothing known": ([math.nan], []),
    "empty": ([], []),
}


@pytest.mark.parametrize("name", COLUMNS)
def test_numbers_of_a_column_share_their_decimals(name: str) -> None:
    """One format for all of them, made for the usual one, in which nothing but zero reads as zero."""
    values, expected = COLUMNS[name]

    written = column_format(np.array(values, np.float64))

    assert [written % value for value in values[: len(expected)]] == expected


@example([8.988465674311579e307, 8.98846567431158e307])  # whose sum is beyond what a float holds
@given(st.lists(st.floats(), max_size=30))
def test_no_number_of_a_column_reads_as_zero_but_zero(values: list[float]) -> None:
    """Whatever stands beside it."""
    written = column_format(np.array(values, np.float64))

    for value in values:
        if math.isfinite(value) and value != 0:
            assert float(written % value) != 0
