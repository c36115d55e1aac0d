"""The commands `findings` and `check`: what went wrong in a run, and whether its numbers are what was meant, as the exit status says."""

import json
from pathlib import Path
from typing import Any, Literal

import click

from board.cli.endings import ExitCode
from board.cli.options import of_run
from board.cli.printing import Ticker, say
from board.settings.finding_settings import Thresholds, parsed_thresholds
from board.sources import locations


@of_run
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


@of_run
@click.option(
    "--fail-on",
    type=click.Choice(["error", "warning", "note"]),
    help=f"From which severity on a finding makes the exit status {ExitCode.FAULTS.value}; none does unless given.",
)
@click.option(
    "--thresholds",
    type=click.Path(path_type=Path, exists=True, dir_okay=False),
    help="A JSON file of thresholds that are not as declared: {KIND: {NAME: NUMBER}}, or the settings that the board keeps of a run.",
)
def findings(
    run: Path,
    as_json: bool,
    fail_on: Literal["error", "warning", "note"] | None,
    thresholds: Path | None,
    **reading: Any,
) -> None:
    """Look through the folder RUN for what went wrong in training, and name the rollouts that show it."""
    from board.findings import messages
    from board.findings.checks.contract import reached
    from board.findings.scan import find_all
    from board.runs.opening import open_run

    limits = _limits(thresholds) if thresholds else {}
    done = [0.0]
    tick = Ticker(lambda: f"{done[0]:.0%} looked through")

    def tell(share: float) -> None:
        done[0] = share
        tick()

    opened = open_run(run, **reading)
    if opened.sample:
        say(f"{opened.sample.share}: these are looked through.", err=True)
    report = find_all(opened, limits, progress=tell)
    say(messages.as_json(report, locations.shown_place(run)) if as_json else messages.as_text(report))
    bad = fail_on and reached(fail_on, (finding.severity for finding in report.findings))
    raise click.exceptions.Exit(ExitCode.FAULTS if bad else ExitCode.DONE)


def _limits(file: Path) -> Thresholds:
    """What the file sets. Raises UsageError where it is not JSON of that form, or names what no kind has: it would be passed over in silence."""
    from board.findings.all_kinds import KINDS

    try:
        limits = parsed_thresholds(json.loads(file.read_text(encoding="utf-8")))
    except (OSError, ValueError, RecursionError) as error:
        raise click.UsageError(f"The thresholds in {file} cannot be taken: {error}.") from error
    declared = {kind.name: kind.limits for kind in KINDS}
    for kind, names in limits.items():
        if odd := [name for name in names if name not in declared.get(kind, {})]:
            known = ", ".join(declared[kind]) if kind in declared else "there is no such kind"
            raise click.UsageError(f"{kind} has no threshold {odd[0]}: {known}.")
    return limits
