"""The command `check`: run all checks over a run; the exit status says what they found."""

from pathlib import Path
from typing import Any, Literal

import click

from board.cli.endings import Command, ExitCode
from board.cli.options import AS_JSON, READING, RunPlace
from board.cli.printing import say
from board.sources import locations


@click.command(cls=Command)
@READING
@click.argument("run", type=RunPlace())
@AS_JSON
@click.option(
    "--fail-on",
    type=click.Choice(["error", "warning"]),
    default="error",
    show_default=True,
    help=f"From which severity on a finding makes the exit status {ExitCode.FAULTS.value}.",
)
def check(run: Path, as_json: bool, fail_on: Literal["error", "warning"], **reading: Any) -> None:
    """Examine the folder RUN: are its numbers what its trainer meant to write?"""
    from board.findings.checks import messages
    from board.findings.checks.all_checks import run_checks
    from board.findings.checks.contract import reached
    from board.runs.opening import open_run

    opened = open_run(run, **reading)
    if opened.sample:
        say(f"{opened.sample.share}: these are checked.", err=True)
    checked = run_checks(opened)
    say(messages.as_json(checked, locations.shown_place(run)) if as_json else messages.as_text(checked))
    bad = reached(fail_on, (finding.check.severity for finding in checked.findings))
    raise click.exceptions.Exit(ExitCode.FAULTS if bad else ExitCode.DONE)
