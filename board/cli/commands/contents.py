"""The commands that print what a run holds, for a reader or as JSON: `summary`, `steps`, `metrics`, `rollouts`, `show`."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from board.cli.options import SCALARS, WHERE, of_run
from board.cli.printing import say, stream
from board.sources import locations

if TYPE_CHECKING:
    from board.runs.run import Run


def _opened(location: Path, reading: dict[str, Any]) -> tuple["Run", str]:
    """The run, and its name in replies."""
    from board.runs.opening import open_run

    return open_run(location, **reading), locations.shown_place(location)


@of_run
def summary(run: Path, as_json: bool, **reading: Any) -> None:
    """Tell what there is of the folder RUN: rollouts, steps, how the reward goes, columns, texts, token metrics."""
    from board.cli.replies import messages
    from board.cli.replies import summary as summaries

    reply = summaries.summary(*_opened(run, reading))
    say(messages.as_json(reply) if as_json else messages.summary_as_text(reply))


@of_run
@click.option("--metric", "metrics", multiple=True, metavar="KEY", help="A metric by its key, several times for several.")
def steps(run: Path, metrics: tuple[str, ...], as_json: bool, **reading: Any) -> None:
    """List the steps of the folder RUN with their numbers: those of the page Steps unless others are chosen."""
    from board.cli.replies import messages
    from board.cli.replies import steps as step_rows

    reply = step_rows.steps(*_opened(run, reading), metrics)
    say(messages.as_json(reply) if as_json else messages.steps_as_text(reply))


@of_run
@click.option(
    "--curve", "curves", multiple=True, metavar="KEY", help="This metric alone, or logged name, with its value at every step."
)
@SCALARS
def metrics(run: Path, curves: tuple[str, ...], as_json: bool, scalars: Path | None, **reading: Any) -> None:
    """List the metrics that the folder RUN can give: first, last, lowest and highest value, and what each means.

    Below them stands what trackers logged in or next to the run.
    """
    from board.cli.replies import messages, metric_rows

    reply = metric_rows.metrics(*_opened(run, reading), curves, given=scalars)
    say(messages.as_json(reply) if as_json else messages.metrics_as_text(reply))


@of_run
@WHERE
@click.option("--sort", default="", metavar="COLUMN", help="Sort by it; a minus before it, as -reward, for the largest first.")
@click.option("--top", type=click.IntRange(0), default=20, show_default=True, help="At most so many; 0 for all.")
@click.option(
    "--columns", default="", metavar="NAMES", help="Columns and texts, with commas between; the usual numbers unless given."
)
def rollouts(run: Path, where: str | None, sort: str, top: int, columns: str, as_json: bool, **reading: Any) -> None:
    """List rollouts of the folder RUN, in the order of step, file and line unless sorted. `summary` names the columns there are."""
    from board.cli.replies import messages
    from board.cli.replies.rollouts import RolloutQuestion, choose

    names = tuple(name.strip() for name in columns.split(",") if name.strip())
    opened, name = _opened(run, reading)
    chosen = choose(opened, RolloutQuestion(where or "", sort, top or None, names))
    if as_json:
        stream(messages.rollouts_as_json(name, chosen))
    else:
        for piece in messages.rollouts_as_text(chosen):
            say(piece)


@of_run
@click.option("--step", type=int, help="Its step; without --rollout the best rewarded of the step is shown.")
@click.option("--rollout", default="", metavar="SHARD:LINE", help="Which, as `rollouts` and links call it.")
@click.option("--tokens", "all_tokens", is_flag=True, help="With every token and its numbers.")
@click.option("--extremes", default="", metavar="METRIC", help="With the most extreme tokens by this token metric, such as kl.")
@click.option("--top", type=click.IntRange(1), default=20, show_default=True, help="So many of these.")
def show(
    run: Path, step: int | None, rollout: str, all_tokens: bool, extremes: str, top: int, as_json: bool, **reading: Any
) -> None:
    """Show one rollout of the folder RUN: its numbers, its group, its texts whole, and, with --tokens or --extremes, its tokens."""
    from board.cli.replies import messages
    from board.cli.replies.one_rollout import RolloutRequest, one_rollout

    reply = one_rollout(*_opened(run, reading), RolloutRequest(rollout, step, "all" if all_tokens else "none", extremes, top))
    say(messages.as_json(reply) if as_json else messages.rollout_as_text(reply))
