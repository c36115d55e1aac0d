"""The command `metrics`: list what of a run can be drawn over its steps."""

from pathlib import Path
from typing import Any

import click

from board.cli.endings import Command
from board.cli.options import AS_JSON, READING, SCALARS, RunPlace
from board.cli.printing import say
from board.sources import locations


@click.command(cls=Command)
@READING
@AS_JSON
@click.argument("run", type=RunPlace())
@click.option(
    "--curve", "curves", multiple=True, metavar="KEY", help="This metric alone, or logged name, with its value at every step."
)
@SCALARS
def metrics(run: Path, curves: tuple[str, ...], as_json: bool, scalars: Path | None, **reading: Any) -> None:
    """List the metrics that the folder RUN can give: first, last, lowest and highest value, and what each means.

    Below them stands what trackers logged in or next to the run.
    """
    from board.cli.replies import messages, metric_rows
    from board.runs.opening import open_run

    reply = metric_rows.metrics(open_run(run, **reading), locations.shown_place(run), curves, given=scalars)
    say(messages.as_json(reply) if as_json else messages.metrics_as_text(reply))
