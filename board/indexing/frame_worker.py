"""`python -m board.indexing.frame_worker`: does the work on frames it is told on standard input, a line of JSON each, and answers so."""

from board.indexing import frame_task
from board.system import child_process

if __name__ == "__main__":
    child_process.serve(frame_task.answer)
