"""The command `show`: print one rollout whole."""

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
@click.option("--step", type=int, help="Its step; without --rollout the best rewarded of the step is shown.")
@click.option("--rollout", default="", metavar="SHARD:LINE", help="Which, as `rollouts` and links call it.")
@click.option("--tokens", "all_tokens", is_flag=True, help="With every token and its numbers.")
@click.option("--extremes", default="", metavar="METRIC", help="With the most extreme tokens by this token metric, such as kl.")
@click.option("--top", type=click.IntRange(1), default=20, show_default=True, help="So many of these.")
def show(
    run: Path,
    step: int | None,
    rollout: str,
    all_tokens: bool,
    extremes: str,
    top: int,
    as_json: bool,
    **reading: Any,
) -> None:
    """Show one rollout of the folder RUN: its numbers, its group, its texts whole, and, with --tokens or --extremes, its tokens."""
    from board.cli.replies import messages
    from board.cli.replies.one_rollout import RolloutRequest, one_rollout
    from board.runs.opening import open_run

    request = RolloutRequest(rollout, step, "all" if all_tokens else "none", extremes, top)
    reply = one_rollout(open_run(run, **reading), locations.shown_place(run), request)
    say(messages.as_json(reply) if as_json else messages.rollout_as_text(reply))
