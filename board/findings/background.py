"""One look through a run in a process of its own: what it is asked, how far it is, what it finds.

Knows how to speak with `board.findings.worker`; knows neither who asks nor when.
"""

from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from board.errors import BoardError
from board.findings import messages
from board.findings.contract import FindingsReport
from board.system.child_process import ChildProcess
from board.text.terminal import on_one_line


@dataclass(frozen=True)
class LookOrder:
    """Which run is to be looked through, how it is read, and with which thresholds."""

    location: Path
    within: Path
    """The folder that links in the run may lead to."""
    pads: tuple[str, ...] = ()
    tokenizer: str = ""
    mapping: str = ""
    family: str = ""
    limits: tuple[tuple[str, str, float], ...] = ()
    """(kind, threshold, value) of those that are set otherwise than declared."""

    def written(self) -> dict[str, Any]:
        """As the worker reads it."""
        limits: dict[str, dict[str, float]] = {}
        for kind, name, value in self.limits:
            limits.setdefault(kind, {})[name] = value
        return asdict(self) | {"location": str(self.location), "within": str(self.within), "limits": limits}


class _Unwanted(Exception):
    """Nobody waits for the report any more."""


def look(order: LookOrder, tell: Callable[[float], bool]) -> FindingsReport | None:
    """What is found in the run; None where `tell`, which hears the share that is done every second, says False: the process is ended then.

    Raises BoardError with one line on why there is no report.
    """

    def heard(share: float) -> None:
        if not tell(share):
            raise _Unwanted

    try:
        process = ChildProcess("board.findings.worker")
    except OSError as error:
        raise BoardError(f"No process could be started to look through the run: {error.strerror}.") from error
    with process:
        try:
            said = process.ask(order.written(), tell=heard)
        except _Unwanted:
            return None
        except OSError as error:
            raise BoardError(f"The process that looks for findings said nothing: {error}.") from error
    if "report" not in said:
        raise BoardError(on_one_line(str(said.get("refused") or said.get("failed") or said)))
    return messages.report_from(said["report"])
