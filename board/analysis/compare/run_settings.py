"""Settings of runs as dotted names, and what differs between runs. Reads no file."""

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from board.sources.settings_files import SettingsFile

KL_ESTIMATORS: Final = frozenset({"kl_estimator", "kl_penalty", "kl_penalty_type", "kl_loss_type", "kl_type"})
"""What trainers call the setting of how KL is estimated (verl, ROLL, TRL, OpenRLHF, slime)."""

UNSET: Final = object()
"""Stands where a run does not set what another sets, or sets to nothing."""


def flat(values: Any) -> dict[str, Any]:
    """Dictionaries in dictionaries as one by dotted names; a list that holds dictionaries by `name[0]`, any other is a value of its own."""
    return dict(_flat(values, ""))


def _flat(value: Any, name: str) -> Iterator[tuple[str, Any]]:
    if isinstance(value, dict) and value:
        for key, one in value.items():
            yield from _flat(one, f"{name}.{key}" if name else str(key))
    elif isinstance(value, list) and any(isinstance(one, dict) for one in value):
        for at, one in enumerate(value):
            yield from _flat(one, f"{name}[{at}]")
    elif name:
        yield name, value


def together(files: Sequence[SettingsFile]) -> dict[str, Any]:
    """All that the files of a run set, by dotted names; of what several set the first file's, which is likeliest the trainer's own."""
    found: dict[str, Any] = {}
    for file in files:
        found = {**flat(file.values), **found}
    return found


def compared(a: Sequence[SettingsFile], b: Sequence[SettingsFile]) -> dict[str, dict[str, Any]]:
    """What differs between the settings of two runs, as `differing` gives it; nothing where those of either are not known."""
    return differing(together(a), together(b)) if _any(a) and _any(b) else {}


def _any(files: Sequence[SettingsFile]) -> bool:
    return any(not file.refused for file in files)


def differing(a: Mapping[str, Any], b: Mapping[str, Any]) -> dict[str, dict[str, Any]]:
    """What differs, by name in alphabetical order: {"a": value, "b": value}, without the one that does not set it.

    1 and 1.0 are equal, 1 and true are not; NaN equals NaN.
    """
    names = sorted({*a, *b})
    return {
        name: {side: values[name] for side, values in (("a", a), ("b", b)) if name in values}
        for name in names
        if not (name in a and name in b and _same(a[name], b[name]))
    }


def differing_among(runs: Sequence[Mapping[str, Any]]) -> dict[str, tuple[Any, ...]]:
    """What differs between any of several runs, by name in alphabetical order: the value of each, UNSET of one that does not set it.

    Values are equal as for `differing`.
    """
    names = sorted({name for run in runs for name in run})
    found = {name: tuple(run.get(name, UNSET) for run in runs) for name in names}
    return {name: values for name, values in found.items() if not all(_same(values[0], one) for one in values[1:])}


def _same(one: Any, other: Any) -> bool:
    if one is UNSET or other is UNSET:
        return one is other
    if isinstance(one, list) and isinstance(other, list):
        return len(one) == len(other) and all(map(_same, one, other))
    if isinstance(one, bool) or isinstance(other, bool):
        return one is other
    if isinstance(one, float) and isinstance(other, float) and math.isnan(one):
        return math.isnan(other)
    return bool(one == other)


def notes(a: Sequence[SettingsFile], b: Sequence[SettingsFile], differences: Mapping[str, Mapping[str, Any]]) -> tuple[str, ...]:
    """What of the settings of two runs could not be compared, and what in them forbids comparing the runs' numbers."""
    found = [f"{side}: {file.name} {file.refused}." for side, files in (("A", a), ("B", b)) for file in files if file.refused]
    without = [side for side, files in (("A", a), ("B", b)) if not _any(files)]
    found += [f"No settings were found beside {' and '.join(without)}: none are compared."] if without else []
    return (*found, *pair_estimator_notes(differences))


def pair_estimator_notes(differences: Mapping[str, Mapping[str, Any]]) -> tuple[str, ...]:
    """Which settings of A and B forbid comparing their KL; `differences` as `differing` has it."""
    estimators = [name for name, sides in differences.items() if name.rpartition(".")[2] in KL_ESTIMATORS and len(sides) == 2]
    values = {name: " and ".join(f"{differences[name][side]!s} in {side.upper()}" for side in "ab") for name in estimators}
    return tuple(
        f"KL is estimated by {which} ({name}): KL that the trainers logged, and rewards that hold it, are not comparable."
        for name, which in values.items()
    )


def estimator_notes(differing: Mapping[str, Sequence[Any]]) -> tuple[str, ...]:
    """Which settings of several runs forbid comparing their KL; `differing` as `differing_among` has it."""
    found = []
    for setting, values in differing.items():
        given = dict.fromkeys(str(value) for value in values if value is not UNSET)
        if setting.rpartition(".")[2] in KL_ESTIMATORS and len(given) > 1:
            found.append(
                f"KL is estimated by {', '.join(given)} ({setting}): KL that the trainers logged, and rewards that hold it, are not comparable."
            )
    return tuple(found)
