"""The command `summary`: print what a run holds."""

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
def summary(run: Path, as_json: bool, **reading: Any) -> None:
    """Tell what there is of the folder RUN: rollouts, steps, how the reward goes, columns, texts, token metrics."""
    from board.cli.replies import messages
    from board.cli.replies import summary as summaries
    from board.runs.opening import open_run

    reply = summaries.summary(open_run(run, **reading), locations.shown_place(run))
    say(messages.as_json(reply) if as_json else messages.summary_as_text(reply))
