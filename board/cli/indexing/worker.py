"""`python -m board.cli.indexing.worker`: has an index hold the sources it is told on standard input, a line of JSON each, and answers so."""

from board.cli.indexing import source_writer
from board.runs import child_process

if __name__ == "__main__":
    child_process.serve(source_writer.answer)
