"""Formats that other packages add to the board (`board.plugins`)."""

from collections.abc import Iterable
from types import ModuleType
from typing import Any, cast

from board import plugins
from board.errors import RowRefused
from board.formats.contract import Format, Head, Place
from board.sources.json_record import Record


class AddedFormat:
    """A format of another package. What it raises costs the row at which it is raised, not the run."""

    def __init__(self, module: ModuleType) -> None:
        """Raises AttributeError where the module lacks a part of a format."""
        self._format = cast(Format, module)
        self.NAME, self.FAMILY = str(self._format.NAME), str(self._format.FAMILY)
        for function in (self._format.recognise, self._format.rollouts, self._format.note):
            if not callable(function):
                raise AttributeError(f"{function!r} is no function")

    def recognise(self, head: Head) -> bool:
        """Whether the file is of this format; where the format fails at it, it is not, with a warning."""
        try:
            return bool(self._format.recognise(head))
        except Exception as error:  # noqa: BLE001 - anybody's code
            plugins.leave_out(self.NAME, f"at {head.name}: {type(error).__name__}: {error}")
            return False

    def rollouts(self, record: Record, place: Place) -> Iterable[Record | RowRefused]:
        """The rollouts in a record. Raises RowRefused, which names the format where it failed."""
        try:
            yield from self._format.rollouts(record, place)
        except (RowRefused, RecursionError):
            raise
        except Exception as error:
            raise RowRefused(f"cannot be read by {self.NAME}: {type(error).__name__}: {error}") from error

    def note(self, head: Head) -> str:
        """What a reader must know of the numbers; where the format fails at it, that it does."""
        try:
            return str(self._format.note(head))
        except Exception as error:  # noqa: BLE001 - anybody's code
            return f"{self.NAME} cannot say what to know of its numbers: {type(error).__name__}: {error}."


def added(taken: Iterable[str]) -> tuple[Format, ...]:
    """The formats of other packages whose names are not `taken`; others are left out, with a warning."""
    names, found = set(taken), []
    for name, module in plugins.modules(plugins.FORMATS).items():
        try:
            one: Any = AddedFormat(module)
        except AttributeError as error:
            plugins.leave_out(name, f"it is no format: {error}")
            continue
        if one.NAME in names:
            plugins.leave_out(name, f"a format is named {one.NAME} already")
            continue
        names.add(one.NAME)
        found.append(cast(Format, one))
    return tuple(found)
