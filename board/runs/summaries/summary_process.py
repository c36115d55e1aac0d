"""A process that summarises runs, and its client.

It is started when it is needed, and ended when a run takes too long. A process of its own, so that a run that takes too much time or memory
can be given up without harm to any reader; it gives way to other processes. `python -m board.runs.summaries.summary_process` is its other side.
"""

from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Final

from board.errors import BoardError
from board.runs import child_process
from board.runs.child_process import ChildProcess
from board.runs.summaries.run_summary import RunSummary, from_written, summarise
from board.text.terminal import on_one_line

MOST_SECONDS: Final = 60.0
"""A run that takes longer is given up until it changes."""

NICENESS: Final = 10


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
        self._process: ChildProcess | None = None

    def ask(self, order: SummaryOrder) -> RunSummary:
        """The summary of a run; one with `trouble` where there is none. Never raises for what is wrong with a run."""
        try:
            if self._process is None or not self._process.is_running:
                self.end()
                self._process = ChildProcess("board.runs.summaries.summary_process")
        except OSError as error:
            return RunSummary(trouble=f"No process could be started to look at the run: {error.strerror}.")
        try:
            said = self._process.ask(asdict(order), seconds=self._seconds)
            return RunSummary(trouble=on_one_line(str(said["refused"]))) if "refused" in said else from_written(said["summary"])
        except TimeoutError:
            return RunSummary(trouble=f"Looking at the run took longer than {self._seconds:g} seconds.")
        except (OSError, ValueError, KeyError, TypeError) as error:
            return RunSummary(trouble=on_one_line(f"Looking at the run failed: {error}"))

    def end(self) -> None:
        """Let go of the process."""
        if self._process is not None:
            self._process.close()
            self._process = None


def answer(order: dict[str, Any]) -> dict[str, Any]:
    """In the process: the `summary` of the run that the order names, or `refused` with the reason there is none."""
    try:
        return {"summary": asdict(summarise(Path(order.pop("location")), Path(order.pop("within")), **order))}
    except (BoardError, OSError) as error:
        return {"refused": str(error)}


if __name__ == "__main__":
    child_process.serve(lambda order, _: answer(order), niceness=NICENESS, memory_share=4)
