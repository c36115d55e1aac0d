"""`python -m board.indexing.frame_worker`: does the work on frames it is told on standard input, a line of JSON each, and answers so."""

import sys

from board.indexing import frame_task
from board.runs.worker import serve

if __name__ == "__main__":
    serve(frame_task.answer, sys.stdin.buffer, sys.stdout.buffer)
