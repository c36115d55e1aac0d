"""`python -m board` is the command `rl-logging-board`. Knows only what to say where what it is made with is not installed."""

import sys

from board.errors import missing_library


def main(name: str | None = None) -> None:
    """Run the command; ends the process. `name` is what its help calls it: the file it was started by unless given."""
    try:
        from board.cli.main import main as command
    except ModuleNotFoundError as error:
        sys.stderr.write(f"Error: {missing_library(error, 'The command rl-logging-board')}\n")
        sys.exit(2)
    command(prog_name=name)


if __name__ == "__main__":
    main("python -m board")
