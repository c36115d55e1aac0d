"""Numbers that are watched: a declared row each, looked at by `departures`, and a kind of finding made of it.

A number is looked at for the whole, or for each part of the reward, data source or evaluation set. One that comes back is an episode with an
end: it stays a finding as the run goes on.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any, Final

import numpy as np

from board.findings.change_points import Series, clusters, series
from board.findings.checks.contract import Severity
from board.findings.context import Context
from board.findings.contract import Answer, CannotTell, Found, Kind, Limits, declared
from board.findings.departures import OWN, Excursion, departures
from board.metrics.formulas import Float64Array, mean_of_known
from board.text.format_number import fmt

_MOST: Final = 5
"""Departures that are named."""
_AROUND: Final = 5
"""Steps before and after that a sentence gives the means of."""
_MOSTLY: Final = 0.5
"""Share of the steps that must have two prompts, for rollouts of a step to count as drawn one by one."""
_ROUNDING: Final = 1e-9
_NEAR: Final = 2
"""Steps within which two numbers depart together."""


@dataclass(frozen=True)
class Watched:
    """One number of one part of a run, by rollout."""

    name: str
    """As a sentence names it: "the reward", "`accuracy`"."""
    context: Context
    """Whose rollouts they are: those of training, or of an evaluation."""
    values: Float64Array
    """(rows,)"""
    freed: Float64Array
    """(rows,) the values freed from the mix of sources and prompts, whose means by step are the curve."""
    shown: Float64Array | None = None
    """(rows,) what a sentence gives the means of, where it is not the values."""

    @property
    def scale(self) -> float:
        """The standard deviation of the values: what a departure is held against; 0 where they are equal but for rounding."""
        known = self.values[np.isfinite(self.values)]
        return float(known.std()) if len(known) and np.ptp(known) > _ROUNDING * np.abs(known).max() else 0.0


@dataclass(frozen=True)
class Left:
    """A number that left its level."""

    curve: Watched
    how: Excursion
    sudden: bool

    @property
    def steps(self) -> tuple[int, int]:
        """The first and the last step that are off."""
        numbers = self.curve.context.steps.numbers
        return int(numbers[self.how.at]), int(numbers[self.how.end - 1])

    @property
    def wording(self) -> str:
        """A sentence's words: since when, and from where to where."""
        first, last = self.steps
        when = (
            f"from step {first} on" if self.how.stays else f"at step {first}" if first == last else f"from step {first} to {last}"
        )
        verb = "falls" if self.how.change < 0 else "rises"
        back = "" if self.how.stays else ", and comes back"
        return f"{when} {self.curve.name} {verb} from {' to '.join(map(fmt, self.levels))}{back}"

    @property
    def levels(self) -> tuple[float, float]:
        """Means of the rollouts just before it and at its end, as they are; of the freed values where these do not tell of a change."""
        values = self.curve.values if self.curve.shown is None else self.curve.shown
        mean, how = self.curve.context.steps.mean(values), self.how
        end = mean[max(how.at, how.end - _AROUND) : how.end]
        if self.sudden and how.stays:
            end = mean[how.at : how.at + _AROUND]
        elif not how.stays:
            end = mean[how.at : how.end]
        before, after = mean_of_known(mean[max(0, how.at - _AROUND) : how.at]), mean_of_known(end)
        if self.curve.shown is None and not self.sudden:  # of a slow way the steps just before it are on their way already
            before = max(before, how.before, key=lambda level: abs(level - after))
        return (before, after) if (after - before) * how.change > 0 else (how.before, how.after)


@dataclass(frozen=True)
class Watch:
    """A number that is watched."""

    kind: str
    """The name of the kind that says it."""
    curves: Callable[[Context], Iterator[Watched]]
    absent: str
    """Why it cannot tell where there is no curve."""
    direction: int
    within: int | None = None
    """Steps within which it must depart: a KL grows slowly in every sound run."""
    own: float = OWN
    """Standard errors of its own steps that a level must be off by."""
    alike: bool = True
    """Whether rollouts of one prompt are alike in it, as they are in what they earn: then a step has as many draws as prompts."""
    bounded: bool = False
    """Whether it lies between two ends, as a reward does that is a share of what can be had."""
    severity: Callable[[Context, Left], Severity | None] = lambda _context, _left: "warning"
    """How bad a departure is; None where it is none."""
    more: Callable[[Context, Left], str] = lambda _context, _left: ""
    """What else is said of it."""


def as_kind(row: Watch) -> Kind:
    """The row as a kind of finding."""

    def look(context: Context, limits: Limits) -> Answer:
        curves = [curve for curve in row.curves(context) if np.isfinite(curve.values).any()]
        if not curves:
            return CannotTell(row.absent)
        left = [
            Left(curve, how, row.within is not None)
            for curve in curves
            if curve.scale > 0
            for how in _departures(row, curve, limits)
        ]
        judged = [(one, severity) for one in left if (severity := row.severity(context, one)) is not None]
        return [_found(row, context, some) for some in _together(judged)]

    return declared(row.kind, look)


def _departures(row: Watch, curve: Watched, limits: Limits) -> list[Excursion]:
    context = curve.context
    each = context.clusters if row.alike else clusters(context.steps, np.arange(len(curve.values)))
    line = series(context.steps, curve.freed, each)
    # where a step's rollouts are all the same its own error is none: that of so many rollouts drawn from the run stands in, or of so many
    # prompts where a step has one or two, whose rollouts are alike
    floor = float(np.sqrt(np.nanmean(context.steps.variance(curve.values)) / max(np.median(line.count[line.count > 0]), 1.0)))
    if np.isfinite(line.error).mean() < _MOSTLY:
        floor = curve.scale
    least = max(limits["spreads"] * curve.scale, limits.get("least", 0.0))
    settings = row.direction, least, floor, row.within, limits.get("share", 0.0), row.own, limits["z"]
    return _of_shares(line, curve.values, *settings) if row.bounded else departures(line, *settings)


def _of_shares(line: Series, values: Float64Array, direction: int, least: float, floor: float, *settings: Any) -> list[Excursion]:
    """Departures of what lies between two ends, as a share of the way between them whose noise is the same at any level.

    A share of about 0 has hardly any noise, one of a half most: its arcsine of the root, which moves by no less than the share, has one.
    """
    low, wide = float(np.nanmin(values)), float(np.nanmax(values) - np.nanmin(values))
    share = ((line.mean - low) / wide).clip(0, 1)
    most = float(np.nanmean(share))
    # where all are the same the slope is that of half a rollout; prompts that differ may have an error that is wider than the way to the end
    slope = 2 * np.sqrt(np.maximum(share * (1 - share), 0.5 / np.maximum(line.count, 2)))
    sides = [np.arcsin(np.sqrt((share + one * line.error / wide).clip(0, 1))) for one in (-1, 1)]
    even = replace(line, mean=np.arcsin(np.sqrt(share)), error=np.minimum(line.error / wide / slope, (sides[1] - sides[0]) / 2))
    floor = floor / wide / max(2 * np.sqrt(most * (1 - most)), 1e-9)
    found = departures(even, direction, least / wide, floor, *settings)
    ends = [[low + wide * float(np.sin(level)) ** 2 for level in (one.before, one.after)] for one in found]
    found = [replace(one, before=before, after=after) for one, (before, after) in zip(found, ends, strict=True)]
    return [one for one in found if abs(one.change) >= least]


def _together(judged: list[tuple[Left, Severity]]) -> list[list[tuple[Left, Severity]]]:
    """Those that begin together are one finding, and so are the episodes of one number."""
    groups: list[list[tuple[Left, Severity]]] = []
    for one in sorted(judged, key=lambda pair: (pair[0].steps[0], -pair[0].how.z)):
        for group in groups:
            begins = abs(group[0][0].steps[0] - one[0].steps[0]) <= _NEAR and group[0][0].how.stays == one[0].how.stays
            again = group[0][0].curve.name == one[0].curve.name and not (group[0][0].how.stays or one[0].how.stays)
            if begins or again:
                group.append(one)
                break
        else:
            groups.append([one])
    return groups


def _found(row: Watch, context: Context, some: list[tuple[Left, Severity]]) -> Found:
    lead = max((left for left, _ in some), key=lambda left: left.how.z)
    listed = [left for left, _ in some]
    worded = [lead, *(one for one in listed if one is not lead)][:_MOST]
    more = f"; and {len(listed) - _MOST} more" if len(listed) > _MOST else ""
    # the step at which most is seen to begin: of several that begin together the clearest dates it
    episodes = [one for one in listed if one.curve.name == lead.curve.name]
    first, last = min(one.steps[0] for one in episodes), max(one.steps[1] for one in listed)
    within = lead.curve.context
    marks = (within.steps.of_rows >= lead.steps[0]) & (within.steps.of_rows <= lead.steps[1]) & np.isfinite(lead.curve.values)
    severity: Severity = "warning" if any(severity == "warning" for _, severity in some) else "note"
    effect = "; ".join(one.wording for one in worded) + more + row.more(context, lead)
    measured, shown = abs(lead.how.change) / lead.curve.scale, within.clearest(marks, row.direction * lead.curve.values)
    return Found(effect, first, last, "spreads", measured, lead.how.z, shown, severity=severity)
