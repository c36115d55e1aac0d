"""Speaks with a process that summarises runs: starts it when it is needed, gives up a run that takes too long, and starts another then.

Knows `board.runs.summary_worker`; knows neither which runs there are nor what is kept of them.
"""

import json
import os
import subprocess
import threading
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Final

from board.runs.run_summary import RunSummary, from_written
from board.system import child_process
from board.text.terminal import on_one_line

MOST_SECONDS: Final = 60.0
"""A run that takes longer is given up until it changes."""

MOST_BYTES: Final = 1_000_000
"""Of an answer."""

_FRUGAL: Final = {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}


@dataclass(frozen=True)
class SummaryOrder:
    """Which run, and how it is read."""

    location: Path
    within: Path
    """The folder that links in the run may lead to."""
    tokenizer: str = ""
    mapping: str = ""
    family: str = ""


class SummaryProcess:
    """One process, for one thread."""

    def __init__(self, seconds: float = MOST_SECONDS) -> None:
        self._seconds = seconds
        self._process: subprocess.Popen[bytes] | None = None

    def ask(self, order: SummaryOrder) -> RunSummary:
        """The summary of a run; one with `trouble` where there is none. Never raises for what is wrong with a run."""
        try:
            process = self._started()
        except OSError as error:
            return RunSummary(trouble=f"No process could be started to look at the run: {error.strerror}.")
        late = threading.Event()

        def give_up() -> None:
            late.set()
            process.kill()

        timer = threading.Timer(self._seconds, give_up)
        timer.daemon = True
        timer.start()
        try:
            return self._heard(process, order)
        except (OSError, ValueError, KeyError, TypeError) as error:
            self.end()
            if late.is_set():
                return RunSummary(trouble=f"Looking at the run took longer than {self._seconds:g} seconds.")
            return RunSummary(trouble=on_one_line(f"Looking at the run failed: {error}"))
        finally:
            timer.cancel()

    def end(self) -> None:
        """Let go of the process."""
        process, self._process = self._process, None
        if process is not None:
            process.kill()
            with suppress(OSError, ValueError):
                process.communicate()

    def _started(self) -> "subprocess.Popen[bytes]":
        if self._process is not None and self._process.poll() is not None:
            self.end()
        if self._process is None:
            self._process = child_process.start("board.runs.summary_worker", os.environ | _FRUGAL)
        return self._process

    def _heard(self, process: "subprocess.Popen[bytes]", order: SummaryOrder) -> RunSummary:
        """Raises OSError or ValueError where it says nothing that can be used."""
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdin.write(json.dumps(asdict(order), default=str).encode() + b"\n")
        process.stdin.flush()
        line = process.stdout.readline(MOST_BYTES)
        if not line.endswith(b"\n"):
            raise OSError("the process ended, perhaps for lack of memory" if len(line) < MOST_BYTES else "it said too much")
        said = json.loads(line)
        if "refused" in said:
            return RunSummary(trouble=on_one_line(str(said["refused"])))
        return from_written(said["summary"])
