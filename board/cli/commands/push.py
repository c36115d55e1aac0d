"""The command `push`: make a request of its options, print its progress and its end."""

from pathlib import Path
from typing import Any

import click

from board.cli.endings import Command, ExitCode
from board.cli.options import READING, NamedElsewhere, RunPlace
from board.cli.printing import Ticker, say
from board.errors import BoardError


def _trackers() -> tuple[str, ...]:
    from board.trackers import OPTIONS

    return tuple(OPTIONS)


def _dialects() -> tuple[str, ...]:
    from board.metrics.declared import DIALECTS

    return tuple(DIALECTS)


@click.command(cls=Command)
@READING
@click.argument("run", type=RunPlace())
@click.option("--to", "tracker", type=NamedElsewhere(_trackers), required=True, help="The tracker to push to.")
@click.option(
    "--names",
    type=NamedElsewhere(_dialects),
    default="board",
    show_default=True,
    help="Whose names metrics get: those a trainer has one for; the rest stay board/<key>, as all do with board.",
)
@click.option("--follow", is_flag=True, help="Go on while the run grows, until Ctrl+C.")
@click.option("--again", is_flag=True, help="Forget what was pushed before, and begin anew.")
@click.option(
    "--resume", is_flag=True, help="With stdout: print only what an earlier call with --resume did not; trackers always go on."
)
@click.option("--log-dir", metavar="FOLDER", help="Where the tracker writes; board_metrics for tensorboard unless given.")
@click.option("--project", metavar="NAME", help="The project at wandb, swanlab or trackio, the experiment at mlflow.")
@click.option("--name", default="", metavar="NAME", help="What the run is called there; its folder's name unless given.")
@click.option("--mode", metavar="MODE", help="As wandb and swanlab know it: offline, for one.")
@click.option("--tags", metavar="A,B", help="Tags of the run at wandb and swanlab, with commas between them.")
@click.option("--notes", metavar="TEXT", help="Notes on the run at wandb.")
@click.option("--format", "layout", type=click.Choice(["table", "jsonl"]), help="How stdout is written; a table unless given.")
@click.option("--board-url", default="", metavar="URL", help="Where the board runs, so that what is shown links to it.")
@click.option("--examples/--no-examples", "shown", default=True, help="Example rollouts and findings with the numbers; on.")
@click.option("--seed", default=0, show_default=True, help="By which the random example of each step is drawn.")
@click.option(
    "--quiet",
    default=30.0,
    show_default=True,
    metavar="SECONDS",
    help="After so long without a new row, a step that nothing follows is taken to be complete.",
)
def push(
    run: Path,
    tracker: str,
    log_dir: str | None,
    project: str | None,
    mode: str | None,
    layout: str | None,
    tags: str | None,
    notes: str | None,
    tokenizer: Path | None,
    mapping: Path | None,
    extra_pads: tuple[str, ...],
    **how: Any,
) -> None:
    """Push what the board computes of the run in the folder RUN to a tracker, step by step.

    With each step's numbers go its best, its worst and a random rollout as text, and what stands out in the run.

    It goes on behind the last step delivered, noted in the user's state folder (RL_BOARD_STATE), for each tracker, place and names apart:
    when the tracker's run has ended in order, and while following with the next steps. A kill doubles what was not noted; while following
    it may leave out what the tracker's library still held back. Standard output gets all steps each time, unless --resume is given.
    Steps go forward only: one that comes to light behind the last one pushed is not pushed.

    A step that may still be being written is held back until every shard that grows has come to a later one, its recorder says that
    it has ended, or nothing was written for some seconds (--quiet). Rows that come later still are not in its numbers.

    Progress and the summary go to standard error.
    """
    from board.push import delivery, places, pushing

    listed = None if tags is None else [tag.strip() for tag in tags.split(",") if tag.strip()]
    reading = {"tokenizer": tokenizer, "mapping": mapping, "extra_pads": extra_pads}
    given = {"log_dir": log_dir, "project": project, "mode": mode, "format": layout, "tags": listed, "notes": notes}
    try:
        target = places.target(tracker, given)
    except BoardError as error:
        raise click.UsageError(str(error)) from error
    request = pushing.Request(run, target, reading=reading, **how)
    done = delivery.Pushed()
    try:
        pushing.push(request, done, Ticker(lambda: pushing.progress(done)))
    except BoardError as error:
        error.args = (pushing.failure(error, done),)
        raise
    except KeyboardInterrupt:
        say(pushing.summary(done, request), err=True)
        raise click.exceptions.Exit(ExitCode.DONE if request.follow else ExitCode.STOPPED) from None
    say(pushing.summary(done, request), err=True)
