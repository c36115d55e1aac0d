"""`python -m board.indexing.worker`: has an index hold the byte ranges it is told on standard input, a line of JSON each, and answers so."""

import sys

from board.indexing import range_task
from board.runs.worker import serve

if __name__ == "__main__":
    serve(range_task.answer, sys.stdin.buffer, sys.stdout.buffer)
