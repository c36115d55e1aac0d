"""`python -m board.findings.worker`: scans one run for findings, in a process of its own whose interpreter lock delays no reader.

Standard input is one line of JSON, the order; standard output is lines of JSON: the share that is done at least once a second, then the
report, or in one line why there is none. It runs at low priority, takes no more memory than it may, and is gone a
second after its reader is gone. What pages take long to count is counted on the way, and cached.
"""

import traceback
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

from board.analysis.texts import phrases, vocabulary
from board.errors import BoardError
from board.findings import messages, scan
from board.runs import child_process
from board.runs.cache import run_tables
from board.runs.child_process import Tell
from board.runs.opening import open_run

NICENESS: Final = 10
_LOOKING: Final = 0.85
"""The share of the work that looking is; the rest is what Words shows."""


def answer(order: Mapping[str, Any], tell: Tell) -> dict[str, Any]:
    """The `report` of the run that the order names, or `refused` with the reason it cannot be opened; `tell` receives the share that is done."""
    try:
        run = open_run(
            Path(order["location"]),
            within=Path(order["within"]),
            extra_pads=order["pads"],
            tokenizer=order["tokenizer"] or None,
            mapping=order["mapping"] or None,
            family=order["family"],
        )
        report = scan.find_all(run, order["limits"], lambda done: tell(_LOOKING * done))
        if run_tables.is_cacheable(run.trained):  # what the page Words shows is there then
            phrases.of_run(run.trained)
            vocabulary.of_run(run.trained, lambda done: tell(_LOOKING + (1 - _LOOKING) * done))
        return {"report": messages.as_document(report, run.address)}
    except BoardError as error:
        return {"refused": str(error)}
    except MemoryError:
        return {"refused": "It needed more memory than it may take."}


def _answered(order: Mapping[str, Any], tell: Tell) -> dict[str, Any]:
    """Report a fault of the board to the reader in one line, and its traceback on the server."""
    try:
        return answer(order, tell)
    except Exception as error:  # noqa: BLE001 - it is printed here, and said there
        traceback.print_exc()
        return {"failed": f"{type(error).__name__}: {error}"}


if __name__ == "__main__":
    child_process.serve(_answered, niceness=NICENESS, memory_share=2)
