"""The kinds of findings there are: every module of `kinds/`, and the checks of the data, where a check is the cause it is the finding."""

from importlib import import_module
from pkgutil import iter_modules
from typing import Final

import numpy as np

from board import plugins
from board.findings import kinds, populations, throughout
from board.findings.checks.all_checks import CHECKS
from board.findings.checks.contract import Check, ReportedFault
from board.findings.context import Context
from board.findings.contract import Answer, CannotTell, Found, Kind, Limits, Threshold


def _modules() -> tuple[Kind, ...]:
    modules = (import_module(f"{kinds.__name__}.{module.name}") for module in iter_modules(kinds.__path__))
    return tuple(sorted((kind for module in modules for kind in plugins.held_by(module, Kind)), key=lambda kind: kind.name))


def of_check(check: Check) -> Kind:
    """A check of the data as a kind of finding."""

    def run(context: Context, limits: Limits) -> Answer:
        report = context.checks
        reasons = [reason for one, reason in report.unable if one.name == check.name]
        if reasons:
            return CannotTell(reasons[0])
        return [_found(fault, context) for fault in report.findings if fault.check.name == check.name]

    return Kind(
        name=check.name,
        title=check.title,
        severity=check.severity,
        says=check.why,
        formula="A check of the data: page Data, and docs/findings.md.",
        thresholds=(Threshold("any", 0, "rollouts or lines concerned", "a check: one is enough"),),
        means=check.why,
        looks_like="A field that means something else than its name says.",
        next=(("data", check.remedy),),
        run=run,
        explains=check.explains,
    )


def _found(fault: ReportedFault, context: Context) -> Found:
    keys = [key for place in fault.where if (key := context.whole.key_of(place.source)) is not None]
    steps = fault.at_steps or tuple(context.whole.steps[:1].tolist()) or (0,)
    amount, at_steps = float(fault.places or fault.rollouts or 1), fault.at_steps if fault.check.of_steps else ()
    # what is counted is certain: a check has no noise to beat, so the number of places stands in
    return Found(fault.what, steps[0], steps[-1], "any", amount, amount, np.array(keys, np.int64), at_steps=at_steps)


_OURS: Final = (*_modules(), *throughout.LEVELS, *populations.KINDS, *map(of_check, CHECKS))
KINDS: Final[tuple[Kind, ...]] = (*_OURS, *plugins.added(plugins.FINDINGS, Kind, {kind.name for kind in _OURS}))
"""Every kind, by name within its origin; those of other packages (`board.plugins`) last."""
