"""Formats and findings of other packages, which name their modules as entry points.

In the package's `pyproject.toml`, a line for each module:

    [project.entry-points."rl_logging_board.formats"]
    our_trainer = "our_package.our_trainer"
"""

import warnings
from importlib.metadata import entry_points
from importlib.util import find_spec
from pathlib import Path
from types import ModuleType
from typing import Final, Protocol, TypeVar


class _Named(Protocol):
    @property
    def name(self) -> str: ...


Named = TypeVar("Named", bound=_Named)

FORMATS: Final = "rl_logging_board.formats"
"""Modules that are a format, as `board.formats.contract.Format` says."""
FINDINGS: Final = "rl_logging_board.findings"
"""Modules with kinds of findings, as `board.findings.contract.Kind` says."""


def modules(group: str) -> dict[str, ModuleType]:
    """The modules of a group by the names of their entry points; one that cannot be imported is left out, with a warning."""
    found: dict[str, ModuleType] = {}
    for point in sorted(entry_points(group=group), key=lambda point: point.name):
        try:
            found[point.name] = point.load()
        except Exception as error:  # noqa: BLE001 - the code of another package, without which the board goes on
            leave_out(point.name, f"{type(error).__name__}: {error}")
    return found


def held_by(module: ModuleType, what: type[Named]) -> list[Named]:
    """The objects of a class that a module holds, under names of their own or in its `KINDS`."""
    return [one for one in (*vars(module).values(), *vars(module).get("KINDS", ())) if isinstance(one, what)]


def added(group: str, what: type[Named], taken: set[str]) -> list[Named]:
    """The objects of a class in the modules of a group; one whose name is `taken` is left out, with a warning."""
    names, found = set(taken), []
    for entry, module in modules(group).items():
        for one in held_by(module, what):
            if one.name in names:
                leave_out(entry, f"{one.name} is the name of another")
            else:
                names.add(one.name)
                found.append(one)
    return found


def leave_out(name: str, reason: str) -> None:
    """Warn that what another package adds is not used."""
    warnings.warn(f"{name}, which another package adds to the board, is left out: {reason}", RuntimeWarning, stacklevel=2)


def sources(group: str) -> list[Path]:
    """The files of the modules of a group, in the order of their names; a package counts with all it holds."""
    found: list[Path] = []
    for point in sorted(entry_points(group=group), key=lambda point: point.name):
        try:
            spec = find_spec(point.module)
        except Exception:  # noqa: BLE001 - `modules` says why
            spec = None
        if spec is None or spec.origin is None:
            continue
        file = Path(spec.origin)
        found += sorted(file.parent.rglob("*.py")) if file.name == "__init__.py" else [file]
    return found
