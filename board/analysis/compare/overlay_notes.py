"""Notes on what overlaid runs do not share: scales, estimators, a missing number.

Numbers and settings in, sentences out, fit for the screen, with names as they are given.
"""

from collections.abc import Mapping, Sequence
from typing import Any, Final

from board.analysis.compare.pair_notes import SCALE
from board.analysis.compare.run_settings import KL_ESTIMATORS
from board.text import counting
from board.text.format_number import fmt

_NAMED: Final = 3
"""At most this many runs are named."""


def scale(ranges: Mapping[str, float]) -> str:
    """A sentence where the widest of the ranges of a number, by run, is ten times the narrowest or more; empty elsewhere."""
    known = {name: width for name, width in ranges.items() if width > 0}
    if not known:
        return ""
    least, most = min(known, key=known.__getitem__), max(known, key=known.__getitem__)
    if known[most] < SCALE * known[least]:
        return ""
    return f"It spans {fmt(known[least])} in {least} and {fmt(known[most])} in {most}: these may be on other scales."


def lacking(names: Sequence[str]) -> str:
    """A sentence on the runs that lack a number; empty without any."""
    return f"Not in {listed(names)}." if names else ""


def listed(names: Sequence[str]) -> str:
    """A few names, and how many more."""
    return counting.listed(names, _NAMED)


def estimators(settings: Mapping[str, Mapping[str, Any]]) -> str:
    """A sentence where the settings of runs, by run and dotted name, estimate KL in different ways; empty elsewhere."""
    by_value: dict[str, list[str]] = {}
    for name, values in settings.items():
        for key, value in values.items():
            if key.rpartition(".")[2] in KL_ESTIMATORS:
                by_value.setdefault(str(value), []).append(name)
                break
    if len(by_value) < 2:
        return ""
    which = ", ".join(f"{value} in {listed(names)}" for value, names in by_value.items())
    return f"The trainers estimate KL differently ({which}): KL that they logged, and rewards that hold it, are not comparable."
