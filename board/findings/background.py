"""One look through a run in a process of its own: what it is asked, how far it is, what it finds.

Knows how to speak with `board.findings.worker`; knows neither who asks nor when.
"""

import json
import os
import subprocess
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Final

from board.errors import BoardError
from board.findings import messages
from board.findings.contract import FindingsReport
from board.system import child_process
from board.text.terminal import on_one_line

MOST_BYTES: Final = 64_000_000
"""Of what one look may say."""

_FRUGAL: Final = {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
"""For numpy, which else has a thread for each core: this is work in the background."""


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


def look(order: LookOrder, tell: Callable[[float], bool]) -> FindingsReport | None:
    """What is found in the run; None where `tell`, which hears the share that is done every second, says False: the process is ended then.

    Raises BoardError with one line on why there is no report.
    """
    try:
        process = child_process.start("board.findings.worker", os.environ | _FRUGAL)
    except OSError as error:
        raise BoardError(f"No process could be started to look through the run: {error.strerror}.") from error
    with process:
        try:
            return _heard(process, order, tell)
        finally:
            process.kill()


def _heard(process: "subprocess.Popen[bytes]", order: LookOrder, tell: Callable[[float], bool]) -> FindingsReport | None:
    assert process.stdin is not None
    with suppress(BrokenPipeError):  # then it ended, and says nothing
        process.stdin.write(json.dumps(order.written()).encode() + b"\n")
        process.stdin.close()
    for said in _lines(process):
        if "share" in said:
            if not tell(float(said["share"])):
                return None
        elif "report" in said:
            return messages.report_from(said["report"])
        else:
            raise BoardError(on_one_line(str(said.get("refused") or said.get("failed") or said)))
    code = process.wait()
    ended = f"it was ended by signal {-code}, perhaps for lack of memory" if code < 0 else f"it ended with exit status {code}"
    raise BoardError(f"The process that looks for findings said nothing: {ended}.")


def _lines(process: "subprocess.Popen[bytes]") -> Iterator[Mapping[str, Any]]:
    """What it says, until it ends. Raises BoardError for what is no line of its own."""
    assert process.stdout is not None
    while line := process.stdout.readline(MOST_BYTES + 1):
        if len(line) > MOST_BYTES:
            raise BoardError("The process that looks for findings said too much.")
        if not line.endswith(b"\n"):  # it was ended while it spoke
            return
        try:
            said = json.loads(line)
        except ValueError as error:
            raise BoardError("The process that looks for findings said what is no JSON.") from error
        if isinstance(said, dict):
            yield said
