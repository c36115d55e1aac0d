"""A reader's settings for the findings of a run: own thresholds, muted kinds, understood findings.

They are stored under a run's address.
"""

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Final, TypeVar

from board.settings.json_settings import JsonSettings, exactly

LONGEST_REASON: Final = 500
"""Characters that a reader can type."""

_Set = TypeVar("_Set")

Thresholds = Mapping[str, Mapping[str, float]]
"""By kind and name, those that are not as declared."""


@dataclass(frozen=True)
class FindingSettings:
    """Of one run; nothing is set at first."""

    thresholds: Thresholds = field(default_factory=dict)
    muted: Mapping[str, str] = field(default_factory=dict)
    """Kind → why its findings are not to be shown."""
    understood: Mapping[str, str] = field(default_factory=dict)
    """Name of one finding → what the reader knows of it."""


def read(run: str) -> FindingSettings:
    """What is set for a run; nothing while nothing is stored for it. Raises BoardError where that cannot be read."""
    return FINDINGS.read().get(run, FindingSettings())


def parsed_thresholds(given: Any) -> Thresholds:
    """Thresholds as a file holds them, {"kind": {"name": 0.5}}, alone or under "thresholds". Raises ValueError for anything else."""
    kinds = given.get("thresholds", given) if isinstance(given, dict) else None
    if not isinstance(kinds, dict) or not all(isinstance(names, dict) for names in kinds.values()):
        raise ValueError("they are no object of kinds, each with its thresholds by name")
    values = [value for names in kinds.values() for value in names.values()]
    if not all(isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value) for value in values):
        raise ValueError("a threshold is no number")
    return {kind: {name: float(value) for name, value in names.items()} for kind, names in kinds.items()}


def set_threshold(run: str, kind: str, name: str, value: float | None) -> FindingSettings:
    """Set one threshold of a kind, or with None leave it as declared. Raises BoardError where that cannot be stored."""

    def changed(before: FindingSettings) -> FindingSettings:
        names = _with(before.thresholds.get(kind, {}), name, value)
        return replace(before, thresholds=_with(before.thresholds, kind, names or None))

    return _change(run, changed)


def mute(run: str, kind: str, reason: str | None) -> FindingSettings:
    """Mute a kind of findings for a reason; with None show them again. Raises BoardError where that cannot be stored."""
    return _change(run, lambda before: replace(before, muted=_with(before.muted, kind, reason)))


def understand(run: str, finding: str, reason: str | None) -> FindingSettings:
    """Mark one finding as understood, which hides it; with None show it again. Raises BoardError where that cannot be stored."""
    return _change(run, lambda before: replace(before, understood=_with(before.understood, finding, reason)))


def _with(settings: Mapping[str, _Set], key: str, value: _Set | None) -> dict[str, _Set]:
    """A copy of the mapping with a value under a key, or with None without the key."""
    return {name: setting for name, setting in {**settings, key: value}.items() if setting is not None}


def _change(run: str, changed: Callable[[FindingSettings], FindingSettings]) -> FindingSettings:
    return FINDINGS.update(lambda entries: entries | {run: changed(entries.get(run, FindingSettings()))})[run]


def _parsed(given: Any) -> FindingSettings:
    muted, understood = ({key: exactly(str, why) for key, why in given[part].items()} for part in ("muted", "understood"))
    return FindingSettings(parsed_thresholds(given["thresholds"]), muted, understood)


FINDINGS: Final = JsonSettings("findings", "settings of findings", _parsed)
