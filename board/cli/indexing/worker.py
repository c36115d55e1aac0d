"""`python -m board.cli.indexing.worker`: writes the sources named on standard input, a line of JSON each, to an index, and answers likewise."""

from board.cli.indexing import source_writer
from board.runs import child_process

if __name__ == "__main__":
    child_process.serve(source_writer.answer)
