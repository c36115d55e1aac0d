"""`python -m board.indexing.worker`: has an index hold the byte ranges it is told on standard input, a line of JSON each, and answers so."""

from board.indexing import range_task
from board.system import child_process

if __name__ == "__main__":
    child_process.serve(range_task.answer)
