"""Where a run recovers from something: at these steps kinds look that judge by where a run ends, so that what was found stays found.

Contexts in and out.
"""

from collections.abc import Iterable
from typing import Final

import numpy as np

from board.findings.answers import lengths
from board.findings.context import Context
from board.findings.departures import departures
from board.findings.kinds.turning import entropy_of, kl_of
from board.metrics.formulas import Float64Array

_NUMBERS: Final = ("reward", "valid_reward", "logprob_mean", "value_mean", "engine_ratio")
_SPREADS: Final = 0.3
"""Standard deviations between rollouts that a number must depart by."""
_CLEAR: Final = 3.5
"""Standard errors of it: a kind that looks there asks for more."""
_LEAST: Final = 2
"""Steps that it must be off: of one alone hardly any kind can tell."""
_NEAR: Final = 2
"""Steps within which several come back together."""
_MOST: Final = 3
"""Recoveries that are looked at, the clearest."""


def before_recoveries(context: Context, found: Iterable[int]) -> list[Context]:
    """The run as it was just before numbers came back that had left their level, in the order of the steps.

    `found`: the last steps of what was found there, which count as clear.
    """
    last = len(context.steps.numbers)
    places = np.searchsorted(context.steps.numbers, np.array([*found], np.int64), "right").tolist()
    ends: dict[int, float] = {end: np.inf for end in places if end < last}
    for values in _numbers(context):
        known = values[np.isfinite(values)]
        least = _SPREADS * float(known.std()) if len(known) else 0.0
        curve = context.curve_of(context.like_for_like(values))
        for one in (one for side in (1, -1) for one in departures(curve, side, least, clear=_CLEAR)):
            if least and not one.stays and one.end - one.at >= _LEAST:
                end = next((end for end in ends if abs(end - one.end) <= _NEAR), one.end)
                ends[end] = max(ends.get(end, 0.0), one.z)
    return [context.until(end) for end in sorted(sorted(ends, key=lambda end: -ends[end])[:_MOST])]


def _numbers(context: Context) -> list[Float64Array]:
    """(rows,) each: what rollouts earn and policy and critic say of them, how equal those of a group are, and how long."""
    found = [context.number(name) for name in _NUMBERS]
    found += [kl_of(context), entropy_of(context), np.abs(context.within_groups(found[0])), np.abs(found[0] - found[3])]
    return [*found, np.log(np.maximum(lengths(context)[0], 1.0))]
