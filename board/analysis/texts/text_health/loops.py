"""The loop at the end of a response: one piece of text repeated.

A stretch has period p if every character is the one p before it. Periods worth a look are the distances from the last characters to the
same ones before them, which are few, so that the search is linear in the text.
"""

from typing import Final

import numpy as np
from numpy.typing import NDArray

from board.analysis.texts.text_health.texts import GRAM, CodeUnits, Shingles
from board.metrics.formulas import Float64Array
from board.schema import Column

TIMES: Final = 3
"""A loop repeats its piece at least so many times."""
SHORTEST: Final = 32
"""Characters of the shortest stretch that is called a loop: a row of dashes under a heading is none."""
MOST_PERIODS: Final = 64
"""Periods tried for one response, the shortest first."""

_ALIKE: Final = SHORTEST - SHORTEST // TIMES
"""Characters at the end of any loop, at the least, that are the same one period before."""

COLUMNS: Final = (
    Column(
        "closing_loop",
        "number",
        "share of the response's last 10,000 characters that is the loop it ends in: one piece of text three times or more; 0 without one",
        "share",
        "closing loop",
    ),
    Column("loop_period", "number", "length of the piece that the closing loop repeats", "characters", "loop period"),
)


def measure(text: CodeUnits, four: Shingles) -> dict[str, Float64Array]:
    """Share of each text that its closing loop takes, 0 without one, and the loop's period, NaN without one; (n,), NaN for an empty text.

    `four` are the grams of the text. Of several periods that of the longest stretch counts, the shortest of equals.
    """
    share = np.where(text.sizes > 0, 0.0, np.nan)
    period = np.full(len(text), np.nan)
    rows, distances = _candidates(four)
    tried, firsts, counts = np.unique(rows, return_index=True, return_counts=True)
    for row, first, count in zip(tried.tolist(), firsts.tolist(), counts.tolist(), strict=True):
        one = text.values[text.offsets[row] : text.offsets[row + 1]]
        length, piece = _longest(one, distances[first : first + min(count, MOST_PERIODS)].tolist())
        if length:
            share[row], period[row] = length / len(one), piece
    return {"closing_loop": share, "loop_period": period}


def _candidates(four: Shingles) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Rows, ascending, and the periods at which their last `_ALIKE` characters could stand before, ascending within a row."""
    filled = np.diff(four.offsets) >= _ALIKE
    counts = np.diff(four.offsets)
    last = np.zeros(len(counts), np.uint64)
    last[filled] = four.keys[four.offsets[1:][filled] - 1]
    same = np.flatnonzero(four.keys == np.repeat(last, counts))
    row = np.searchsorted(four.offsets, same, "right") - 1
    end = four.offsets[row + 1] - 1
    matching = filled[row] & (same < end)
    for back in range(GRAM, _ALIKE - GRAM + 1, GRAM):
        same, row, end = same[matching], row[matching], end[matching]
        matching = same - back >= four.offsets[row]
        matching[matching] = four.keys[same[matching] - back] == four.keys[end[matching] - back]
    order = np.lexsort([(end - same)[matching], row[matching]])
    return row[matching][order], (end - same)[matching][order]


def _longest(text: NDArray[np.uint16], periods: list[int]) -> tuple[int, int]:
    """Length and period of the longest loop at the end with one of these periods, (0, 0) where there is none."""
    best, piece = 0, 0
    for period in periods:
        # two periods of one stretch that is as long as both have a common divisor as a period, which was tried (Fine & Wilf 1965)
        if period * TIMES > len(text) or period <= best - piece:
            continue
        same = text[period:][::-1] == text[:-period][::-1]
        length = period + (len(same) if same.all() else int(same.argmin()))
        if length > best and length >= max(TIMES * period, SHORTEST):
            best, piece = length, period
    return best, piece
