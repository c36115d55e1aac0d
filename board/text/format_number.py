"""Numbers as text: three significant digits, and only zero reads as zero."""

import math
from typing import Final

import numpy as np
from numpy.typing import NDArray

MISSING: Final = "–"
"""What stands for a number that is not there."""

SMALLEST_FIXED: Final = 1e-3
LARGEST_FIXED: Final = 1e6
LARGEST_WHOLE: Final = 1e15
"""Whole numbers below it are written whole. Outside the other magnitudes a fraction is written as 1.23e-5."""


def fmt(value: float | None, digits: int = 3) -> str:
    """A number for the screen with `digits` significant digits: 0.123, 12.3, 1,235, 1.23e-5.

    Whole numbers are written whole (64, 12,345) and digits before the point are never rounded away below a million.
    None and NaN are "–", infinities "∞" and "-∞".
    """
    if value is None or math.isnan(value):
        return MISSING
    if math.isinf(value):
        return "∞" if value > 0 else "-∞"
    if value == int(value) and abs(value) < LARGEST_WHOLE:
        return f"{int(value):,}"
    mantissa, exponent = f"{value:.{digits - 1}e}".split("e")
    power = int(exponent)  # after rounding: 0.9996 has the power 0, not -1
    if SMALLEST_FIXED <= abs(value) < LARGEST_FIXED:
        return f"{value:,.{max(0, digits - 1 - power)}f}"
    return f"{mantissa}e{power}"


MOST_DECIMALS: Final = 6
"""A column that needs more of them to tell its smallest number from zero is written with powers of ten."""


def column_format(values: NDArray[np.floating]) -> str:
    """One printf format for all numbers of a column, so that they share their decimals and can be compared: "%d", "%.2f" or "%.2e".

    The median has three significant digits, the distance between the ends two where decimals can show it, and what is not zero
    does not read as zero. NaN and infinities have no say.
    """
    known = values[np.isfinite(values)]
    sizes = np.abs(known[known != 0])
    if not (sizes % 1).any() and (sizes < LARGEST_WHOLE).all():
        return "%d"
    ordered = np.sort(sizes)
    below, above = float(ordered[(ordered.size - 1) // 2]), float(ordered[ordered.size // 2])
    median = below + (above - below) / 2  # not their sum, which may be beyond what a float holds
    usual, smallest = (math.floor(math.log10(size)) for size in (median, float(ordered[0])))
    apart = 1 - math.floor(math.log10(spread)) if 0 < (spread := float(np.ptp(known / 2)) * 2) < math.inf else 0
    decimals = max(0, 2 - usual, -smallest, apart if apart <= MOST_DECIMALS else 0)
    return f"%.{decimals}f" if decimals <= MOST_DECIMALS and sizes.max() < LARGEST_FIXED else "%.2e"


def with_all_digits(value: float | None, unit: str = "") -> str:
    """A number as hovering shows it, with all its digits in brackets where there are more: "0.123 nats (0.12345)"."""
    short, whole = fmt(value), exact(value)
    return f"{short} {unit}".rstrip() + (f" ({whole})" if whole != short else "")


def exact(value: float | None) -> str:
    """All digits of a number, so that reading it back gives the same float; "–" and "∞" as in `fmt`."""
    if value is None or not math.isfinite(value):
        return fmt(value)
    return repr(float(value)).removesuffix(".0")


def size(count: float) -> str:
    """A number of bytes in decimal units: 12 B, 3.4 kB, 1.02 GB."""
    for unit, factor in (("TB", 1e12), ("GB", 1e9), ("MB", 1e6), ("kB", 1e3)):
        if count >= factor:
            return f"{count / factor:.3g} {unit}"
    return f"{count:.0f} B"


def signed(value: float) -> str:
    """A difference with its sign."""
    return f"{'+' if value > 0 else ''}{fmt(value)}"
