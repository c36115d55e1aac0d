"""The command `steps`: list a run's steps, a row each."""

from pathlib import Path
from typing import Any

import click

from board.cli.endings import Command
from board.cli.options import AS_JSON, READING, RunPlace
from board.cli.printing import say
from board.sources import locations


@click.command(cls=Command)
@READING
@AS_JSON
@click.argument("run", type=RunPlace())
@click.option("--metric", "metrics", multiple=True, metavar="KEY", help="A metric by its key, several times for several.")
def steps(run: Path, metrics: tuple[str, ...], as_json: bool, **reading: Any) -> None:
    """List the steps of the folder RUN with their numbers: those of the page Steps unless others are chosen."""
    from board.cli.replies import messages
    from board.cli.replies import steps as step_rows
    from board.runs.opening import open_run

    reply = step_rows.steps(open_run(run, **reading), locations.shown_place(run), metrics)
    say(messages.as_json(reply) if as_json else messages.steps_as_text(reply))
