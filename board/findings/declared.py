"""Kinds of findings as `kinds.toml` declares them: their words, thresholds and signs are data, what looks for them is code. Knows no kind."""

import tomllib
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

from board.findings.contract import Answer, CannotTell, Kind, Limits, Threshold
from board.findings.dossier import Dossier

ENTRIES: Final[dict[str, dict[str, Any]]] = tomllib.loads(Path(__file__).with_name("kinds.toml").read_text(encoding="utf-8"))
"""By the kind's name, in the order in which they are listed."""


def declared(name: str, run: Callable[[Dossier, Limits], Answer]) -> Kind:
    """The kind of that name, which `run` looks for. Raises KeyError or TypeError where the table lacks it, or says what no kind has."""
    entry: dict[str, Any] = {key: tuple(value) if isinstance(value, list) else value for key, value in ENTRIES[name].items()}
    entry["thresholds"] = tuple(Threshold(*one) for one in entry["thresholds"])
    entry["next"] = tuple(map(tuple, entry["next"]))
    trained = entry.pop("of_training", False)

    def look(dossier: Dossier, limits: Limits) -> Answer:
        if trained and not dossier.is_training:
            return CannotTell("these are evaluations, on which nothing is trained")
        return run(dossier, limits)

    return Kind(name=name, run=look, **entry)
