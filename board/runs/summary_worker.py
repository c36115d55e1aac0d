"""`python -m board.runs.summary_worker`: summarises the runs it is told on standard input, a line of JSON each, and answers in lines of JSON.

A process of its own, so that a run that takes too long or too much memory can be given up without harm to any reader. It gives way to
whoever else wants the processors. Knows no cache of summaries.
"""

from pathlib import Path
from typing import Any, Final

from board.errors import BoardError
from board.runs.run_summary import summarise
from board.system import child_process

NICENESS: Final = 10


def answer(order: dict[str, Any]) -> dict[str, Any]:
    """The `summary` of the run that the order names, or `refused` with the reason there is none, in one line."""
    try:
        told = summarise(
            Path(order["location"]),
            Path(order["within"]),
            tokenizer=order["tokenizer"],
            mapping=order["mapping"],
            family=order["family"],
        )
    except (BoardError, OSError) as error:
        return {"refused": str(error)}
    return {"summary": told.written()}


if __name__ == "__main__":
    child_process.serve(lambda order, _: answer(order), niceness=NICENESS, memory_share=4)
