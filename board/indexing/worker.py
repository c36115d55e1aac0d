"""`python -m board.indexing.worker`: has an index hold the sources it is told on standard input, a line of JSON each, and answers so."""

from board.indexing import source_writer
from board.system import child_process

if __name__ == "__main__":
    child_process.serve(source_writer.answer)
