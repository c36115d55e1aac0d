"""Overlap of response and prompt: the longest stretch that both have.

A stretch is found by its 8-grams: consecutive characters of the response whose every 8-gram the prompt has. That is the longest common
substring, but where the prompt has its parts in several places. A Bloom filter of one look (Bloom 1970) rules out most 8-grams, and only what
passes it is looked up.
"""

from typing import Final

import numpy as np
from numpy.typing import NDArray

from board.analysis.texts.text_health.texts import GRAM, Shingles, longer, over, scattered
from board.metrics.formulas import BoolArray, Float64Array
from board.schema import Column

COLUMNS: Final = (
    Column(
        "prompt_echo",
        "number",
        "share of the response's last 10,000 characters that its longest stretch takes which is the prompt's, word for word",
        "share",
        "echo of the prompt",
    ),
    Column(
        "prompt_copied",
        "number",
        "share of the prompt's last 10,000 characters that the same stretch takes",
        "share",
        "prompt copied",
    ),
)

SHINGLE: Final = 2 * GRAM
"""Characters of the n-grams that are looked up."""

_ODD: Final = np.uint64(0xD6E8FEB86659FD93)
_SPARSE: Final = 32
"""Places of the filter for each n-gram in it: one in 32 of the others passes it."""


def measure(response: Shingles, prompt: Shingles) -> dict[str, Float64Array]:
    """The longest piece that response and prompt share, as a share of each, (n,), from the GRAM-grams of both; NaN where either is too short."""
    eight, of_prompt = longer(response), longer(prompt)
    long_enough = (np.diff(eight.offsets) > 0) & (np.diff(of_prompt.offsets) > 0)
    longest = over(np.maximum, run_lengths(eight, of_prompt), eight.offsets).astype(np.int64)
    common = np.where(longest > 0, longest + SHINGLE - 1, 0)
    return {
        name: np.where(long_enough, common / np.maximum(np.diff(text.offsets) + GRAM - 1, 1), np.nan)
        for name, text in (("prompt_echo", response), ("prompt_copied", prompt))
    }


def run_lengths(eight: Shingles, prompts: Shingles) -> NDArray[np.int64]:
    """For each n-gram of some texts, (G,), how many up to it follow each other that their own text's prompt has, too; 0 where it has not it."""
    marks, offsets = _among(eight, prompts), eight.offsets
    at = np.arange(len(marks))
    breaks = np.where(marks, -1, at)
    starts = offsets[:-1][np.diff(offsets) > 0]
    breaks[starts] = np.maximum(breaks[starts], starts - 1)
    return at - np.maximum.accumulate(breaks)


def _among(eight: Shingles, prompts: Shingles) -> BoolArray:
    """Which of the n-grams their own text's prompt has, too. Shape (G,)."""
    own, known = _keys(eight), np.sort(_keys(prompts))
    shift = np.uint64(64 - max(10, int(np.ceil(np.log2(max(len(known), 1) * _SPARSE)))))
    passing = np.zeros(1 << (64 - int(shift)), np.bool_)
    passing[known >> shift] = True
    found: BoolArray = passing[own >> shift]
    doubtful = np.flatnonzero(found)
    if len(doubtful):
        at = np.searchsorted(known, own[doubtful])
        found[doubtful] = known[np.minimum(at, len(known) - 1)] == own[doubtful]
    return found


def _keys(grams: Shingles) -> NDArray[np.uint64]:
    """One hash of 64 bits for each n-gram of each text, (G,)."""
    rows = scattered(np.arange(1, len(grams.offsets), dtype=np.uint64))
    return scattered(grams.keys + np.repeat(rows, np.diff(grams.offsets))) * _ODD
