"""`python -m board.runs.summary_worker`: summarises the runs it is told on standard input, a line of JSON each, and answers in lines of JSON.

A process of its own, so that a run that takes too long or too much memory can be given up without harm to any reader. It gives way to
whoever else wants the processors. Knows no cache of summaries.
"""

import json
import os
import sys
from pathlib import Path
from typing import Any, Final

from board.errors import BoardError
from board.runs.run_summary import summarise
from board.system import memory_limit

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


def main() -> None:
    """Answer until there is nothing more to do; what is wrong with us, or more memory than we may take, ends the process."""
    os.nice(NICENESS)
    memory_limit.bound(share=4)
    for line in sys.stdin:
        said = json.dumps(answer(json.loads(line))) + "\n"
        try:
            sys.stdout.write(said)
            sys.stdout.flush()
        except OSError:  # nobody hears it any more
            os._exit(0)


if __name__ == "__main__":
    main()
