"""Scan a run for every kind of finding: answers become findings, merged and ranked.

Kinds that judge by where a run ends look, too, at where it recovers from something, so that what was found stays found.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Final

import numpy as np

from board.analysis.rollouts.rollout_measures import RolloutMeasure
from board.analysis.texts.tagged_responses import MEASURES
from board.findings import ranking
from board.findings.all_kinds import KINDS
from board.findings.answers import lengths
from board.findings.checks.all_checks import place_of
from board.findings.checks.contract import failed
from board.findings.context import Context
from board.findings.contract import (
    MOST_SHOWN,
    Answer,
    CannotTell,
    Finding,
    FindingsReport,
    Found,
    Kind,
    Limits,
    SetLimits,
    TokenPlace,
)
from board.findings.departures import departures
from board.findings.kinds.turning import entropy_of, kl_of
from board.runs.run import Run
from board.text.format_number import fmt

NEWEST_STEP: Final = "newest-step"
"""What stands in the place of a kind where the newest step is said to be left out."""

_MEASURING: Final = 0.6
"""The share of the work that measuring the rollouts is, before any kind runs."""

_RECOVERING: Final = ("reward", "valid_reward", "logprob_mean", "value_mean", "engine_ratio")
_LEFT_BY: Final = 0.3
"""Standard deviations between rollouts that a number must depart by."""
_CLEAR: Final = 3.5
"""Standard errors of it: a kind that looks there asks for more."""
_LEAST_OFF: Final = 2
"""Steps that it must be off: of one alone hardly any kind can tell."""
_NEAR: Final = 2
"""Steps within which several come back together."""
_MOST: Final = 3
"""Recoveries that are looked at, the clearest."""


def find_all(
    run: Run,
    limits: SetLimits | None = None,
    progress: Callable[[float], None] | None = None,
    kinds: Sequence[Kind] = KINDS,
    measures: Mapping[str, RolloutMeasure] = MEASURES,
) -> FindingsReport:
    """All findings of a run; `progress` receives the share that is done, 0 to 1."""
    tell = progress or (lambda _: None)
    context = Context(run, measures, lambda share: tell(_MEASURING * share))
    context.measure()
    found: list[Finding] = []
    unable: list[tuple[str, str]] = []
    earlier: list[Context] | None = None
    if context.unfinished:
        step, rows, usual = context.unfinished
        reason = f"step {step} has {rows:,} of the usual {usual:,} rollouts so far: it is looked at once it is complete"
        unable.append((NEWEST_STEP, reason))
    explains = {kind.name: kind.explains for kind in kinds}
    order = [kind.name for kind in kinds]
    # last those that look, too, at where others end
    for number, kind in enumerate(sorted(kinds, key=lambda kind: kind.judges_end)):
        try:
            given = {**kind.limits, **(limits or {}).get(kind.name, {})}
            answer = _answer(kind, context, given)
            if kind.judges_end and not isinstance(answer, CannotTell) and not _found_in(answer):
                if earlier is None:
                    earlier = before_recoveries(context, [one.last_step for one in found if one.metrics])
                over = [some for one in earlier if (some := _over(_answer(kind, one, given)))]
                answer = min(over, key=lambda some: (some[0].first_step, -some[0].last_step), default=None)
            named = [(_finding(kind, one, run, limits or {}), one) for one in _found_in(answer)]
        except Exception as error:  # noqa: BLE001 - a kind may be anybody's, and the others still tell
            answer, named = CannotTell(failed(error)), []
        if isinstance(answer, CannotTell):
            unable.append((kind.name, answer.reason))
        found += [finding for finding, _ in named]
        explains |= {finding.id: _explained(kind, one, kinds) for finding, one in named}
        tell(_MEASURING + (1 - _MEASURING) * (number + 1) / len(kinds))
    moving = {kind.name for kind in kinds if kind.general}
    found.sort(key=lambda finding: order.index(finding.kind))
    unable.sort(key=lambda one: order.index(one[0]) if one[0] in order else -1)
    events = ranking.ranked(ranking.merged(found, explains, context.steps.numbers.tolist(), moving))
    cannot = {name for name, _ in unable}
    return FindingsReport(tuple(events), tuple(kind.name for kind in kinds if kind.name not in cannot), tuple(unable))


def before_recoveries(context: Context, found: Iterable[int]) -> list[Context]:
    """The run as it was just before numbers came back that had left their level, in the order of the steps.

    `found`: the last steps of what was found there, which count as clear.
    """
    last = len(context.steps.numbers)
    places = np.searchsorted(context.steps.numbers, np.array([*found], np.int64), "right").tolist()
    ends: dict[int, float] = {end: np.inf for end in places if end < last}
    # what rollouts earn and policy and critic say of them, how equal those of a group are, and how long
    looked = [context.number(name) for name in _RECOVERING]
    looked += [kl_of(context), entropy_of(context), np.abs(context.within_groups(looked[0])), np.abs(looked[0] - looked[3])]
    for values in (*looked, np.log(np.maximum(lengths(context)[0], 1.0))):
        known = values[np.isfinite(values)]
        least = _LEFT_BY * float(known.std()) if len(known) else 0.0
        curve = context.curve_of(context.like_for_like(values))
        for one in (one for side in (1, -1) for one in departures(curve, side, least, clear=_CLEAR)):
            if least and not one.stays and one.end - one.at >= _LEAST_OFF:
                end = next((end for end in ends if abs(end - one.end) <= _NEAR), one.end)
                ends[end] = max(ends.get(end, 0.0), one.z)
    return [context.until(end) for end in sorted(sorted(ends, key=lambda end: -ends[end])[:_MOST])]


def _explained(kind: Kind, found: Found, kinds: Sequence[Kind]) -> tuple[str, ...]:
    """The kinds that a finding explains: what it declares, and the general ones that do not explain it, unless it is a note or a check."""
    declared = kind.explains if found.explains is None else found.explains
    if kind.general or not kind.metrics or (found.severity or kind.severity) == "note":
        return declared
    return (*declared, *(one.name for one in kinds if one.general and kind.name not in one.explains))


def _answer(kind: Kind, context: Context, limits: Limits) -> Answer:
    if context.frame.empty and kind.needs:
        return CannotTell("there are no rollouts of training")
    absent = [name for name in kind.needs if not context.has(name)]
    if absent:
        return CannotTell(f"no rollout has {' or '.join(absent)}")
    return kind.run(context, limits)


def _over(answer: Answer) -> list[Found]:
    """What was found before something came back, with a word on that."""
    return [replace(one, effect=f"{one.effect}; after step {one.last_step} it is as it was") for one in _found_in(answer)]


def _found_in(answer: Answer) -> Sequence[Found]:
    if isinstance(answer, Found):
        return (answer,)
    return answer if isinstance(answer, Sequence) else ()


def _finding(kind: Kind, found: Found, run: Run, limits: SetLimits) -> Finding:
    crossed = next(one for one in kind.thresholds if one.name == found.crossed)
    keys = [int(key) for key in found.rollouts[:MOST_SHOWN]]
    stretches, tokens = found.where(run, keys) if found.where else ({}, [])
    value = {**kind.limits, **limits.get(kind.name, {})}[crossed.name]
    return Finding(
        kind=kind.name,
        severity=found.severity or kind.severity,
        title=found.title or kind.title,
        threshold=f"{fmt(value)}: {crossed.meaning}",
        source=crossed.source if value == crossed.value else "set by the reader",
        rollouts=tuple(replace(place_of(key, run), stretch=stretches.get(key)) for key in keys),
        tokens=tuple(TokenPlace(place_of(int(key), run), int(at)) for key, at in (found.tokens or tokens)[:MOST_SHOWN]),
        **{name: getattr(found, name) for name in ("effect", "first_step", "last_step", "measured", "strength", "at_steps")},
        **{name: getattr(kind, name) for name in ("means", "looks_like", "next", "metrics")},
    )
