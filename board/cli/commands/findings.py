"""The command `findings`: what went wrong in a run, with the evidence, and an exit status by what was found. Knows no kind of finding."""

from pathlib import Path
from typing import Literal

import click

from board.cli.endings import Command, ExitCode
from board.cli.options import MAPPING, TOKENIZER
from board.cli.printing import Ticker, say
from board.text.path_names import shown


@click.command(cls=Command)
@TOKENIZER
@MAPPING
@click.argument("run", type=click.Path(path_type=Path))
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object, for scripts.")
@click.option(
    "--fail-on",
    type=click.Choice(["error", "warning", "note"]),
    help=f"From which severity on a finding makes the exit status {ExitCode.FAULTS.value}; none does unless given.",
)
def findings(
    run: Path, as_json: bool, fail_on: Literal["error", "warning", "note"] | None, tokenizer: Path | None, mapping: Path | None
) -> None:
    """Look through the folder RUN for what went wrong in training, and name the rollouts that show it."""
    from board.findings import messages
    from board.findings.looking import find_all
    from board.runs.opening import open_run

    done = [0.0]
    tick = Ticker(lambda: f"{done[0]:.0%} looked through")

    def tell(share: float) -> None:
        done[0] = share
        tick()

    report = find_all(open_run(run, tokenizer=tokenizer, mapping=mapping), progress=tell)
    say(messages.as_json(report, shown(run)) if as_json else messages.as_text(report))
    raise click.exceptions.Exit(ExitCode.FAULTS if fail_on and report.reaches(fail_on) else ExitCode.DONE)
