"""What is known of responses by something else than the reward: whether they are right, and whether they were cut off.

Right by the validation reward, else the ground truth in the response; cut off at a limit of length, as the trainer says or their length shows.
"""

from typing import Final

import numpy as np

from board.findings.context import Context
from board.findings.spreading import FIRST_SHARE, first_rows
from board.metrics.formulas import Float64Array

TELLS: Final = 0.8
"""Chance that a response with the answer earns more than one without, from which on the reward is of the answer: a reward model's is not."""

LEAST: Final = 5
"""Responses with and without the answer that tell what it earns."""


def correctness(context: Context) -> Float64Array | None:
    """(rows,) the validation reward, else whether the ground truth stands in the response (0 or 1), NaN where missing; None without both."""
    for name in ("valid_reward", "answer_present"):
        values = context.number(name)
        if np.isfinite(values).any() and np.nanmin(values) < np.nanmax(values):
            return values
    return None


def lengths(context: Context) -> tuple[Float64Array, str]:
    """(rows,) tokens of each response, else its characters, and which they are."""
    tokens = context.number("response_length")
    return (tokens, "tokens") if np.isfinite(tokens).any() else (context.number("response_chars"), "characters")


def paid(context: Context) -> Float64Array | None:
    """(rows,) 1 where a response is paid like one with the right answer, 0 where not, NaN where it has no reward.

    As much as what those with the ground truth earn about that step, and did at first, less half of what they earn more than those without in
    the run's first steps (in the whole run where those do not tell): a reward that rises or falls for all pays no one. None
    where an answer does not pay, or no ground truth can be looked for.
    """
    reward, present = context.number("reward"), context.number("answer_present")
    both = np.isfinite(reward) & np.isfinite(present)
    for rows in (both & first_rows(context), both):
        right, wrong = reward[rows & (present == 1)], reward[rows & (present == 0)]
        if min(len(right), len(wrong)) >= LEAST and _above(right, wrong) >= TELLS:
            half = float(right.mean() - wrong.mean()) / 2
            usual = _smooth(context.steps.mean(np.where(both & (present == 1), reward, np.nan)))
            enough = reward >= np.maximum(usual, right.mean())[context.steps.row] - half
            return np.where(np.isfinite(reward), enough.astype(np.float64), np.nan)
    return None


def _smooth(curve: Float64Array) -> Float64Array:
    """(k,) medians of some steps around each, NaN ones left out, and carried to where there are none; some value is known."""
    reach = max(2, round(len(curve) * FIRST_SHARE / 4))
    known = np.flatnonzero(np.isfinite(curve))
    medians = [float(np.median(curve[known[abs(known - at) <= reach]])) for at in known]
    return np.interp(np.arange(len(curve)), known, medians)


def _above(some: Float64Array, others: Float64Array) -> float:
    """Chance that one of (n,) is larger than one of (m,), a tie counted half (Mann and Whitney 1947)."""
    ordered = np.sort(others)
    below, up_to = np.searchsorted(ordered, some, "left"), np.searchsorted(ordered, some, "right")
    return float((below + up_to).mean()) / (2 * len(others))


LEAST_AT_LIMIT: Final = 5
"""So many responses of one greatest length make it a limit: among free lengths the greatest is met once."""

_SHARE_AT_LIMIT: Final = 0.005
"""And so large a share of the responses without an end token."""


def cut_off(context: Context) -> Float64Array:
    """(rows,) 1 where a response was cut off, 0 where not, NaN where that is unknown.

    What the trainer says (`cut_off` of text health) comes first. Else a response is cut that has the greatest number of tokens which any has
    without an end token, if several have: T = limit, and no end token. Where no response of the run has an end token, trainers leave it
    out, and the length alone tells.
    """
    said = context.number("cut_off")
    length, ended = context.number("response_length"), context.number("ended")
    unended = np.isfinite(length) & ~(ended == 1)
    found = np.where(np.isfinite(length), 0.0, np.nan)
    if unended.any():
        limit = length[unended].max()
        at = unended & (length == limit)
        beyond = np.isfinite(length) & (length > limit)
        if at.sum() >= max(LEAST_AT_LIMIT, _SHARE_AT_LIMIT * unended.sum()) and not beyond.any():
            found[at] = 1.0
        elif (ended == 1).any():
            found[unended] = np.nan  # neither ended nor at a limit that all have: a limit of another kind, or no end token
    return np.where(np.isfinite(said), said, found)
