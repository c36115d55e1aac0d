"""The command `rollouts`: list rollouts of a run, filtered and sorted, with chosen columns."""

from pathlib import Path
from typing import Any

import click

from board.cli.endings import Command
from board.cli.filtering import WHERE
from board.cli.options import AS_JSON, READING, RunPlace
from board.cli.printing import say, stream
from board.sources import locations


@click.command(cls=Command)
@READING
@WHERE
@AS_JSON
@click.argument("run", type=RunPlace())
@click.option("--sort", default="", metavar="COLUMN", help="Sort by it; a minus before it, as -reward, for the largest first.")
@click.option("--top", type=click.IntRange(0), default=20, show_default=True, help="At most so many; 0 for all.")
@click.option(
    "--columns", default="", metavar="NAMES", help="Columns and texts, with commas between; the usual numbers unless given."
)
def rollouts(
    run: Path,
    where: str | None,
    sort: str,
    top: int,
    columns: str,
    as_json: bool,
    **reading: Any,
) -> None:
    """List rollouts of the folder RUN, in the order of step, file and line unless sorted. `summary` names the columns there are."""
    from board.cli.replies import messages
    from board.cli.replies.rollouts import RolloutQuestion, choose
    from board.runs.opening import open_run

    names = tuple(name.strip() for name in columns.split(",") if name.strip())
    question = RolloutQuestion(where or "", sort, top or None, names)
    chosen = choose(open_run(run, **reading), question)
    if as_json:
        stream(messages.rollouts_as_json(locations.shown_place(run), chosen))
    else:
        for piece in messages.rollouts_as_text(chosen):
            say(piece)
