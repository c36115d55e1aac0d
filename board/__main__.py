"""`python -m board` is the command `rl-logging-board`."""

from board.cli import main

if __name__ == "__main__":
    main(prog_name="python -m board")
