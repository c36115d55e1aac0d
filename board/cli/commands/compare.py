"""The command `compare`: compare two runs on the prompts that both saw, and list the settings that differ."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from board.cli.endings import Command
from board.cli.options import AS_JSON, READING, SCALARS, RunPlace
from board.cli.printing import say
from board.errors import ArgumentRefused, FieldMissing, RunNotFound
from board.sources import locations

if TYPE_CHECKING:
    from board.runs.run import Run
    from board.sources.settings_files import SettingsFile

_ABOVE = 2
"""So many folders above a run's its settings may lie in: the user who names a run here may read its surroundings."""


@click.command(cls=Command)
@READING
@click.argument("run_a", type=RunPlace())
@click.argument("run_b", type=RunPlace())
@click.option(
    "--metric",
    default="reward",
    show_default=True,
    help="The number that is compared: a column of the board, or a metric that is its mean.",
)
@click.option("--last-visit", is_flag=True, help="Pair each prompt's last step in either run, instead of equal steps.")
@SCALARS
@AS_JSON
def compare(run_a: Path, run_b: Path, metric: str, last_visit: bool, as_json: bool, scalars: Path | None, **reading: Any) -> None:
    """Compare the folders RUN_A and RUN_B on the prompts that both saw: B minus A, with an interval by bootstrap over prompts.

    Prompts are the same by their prompt_id where both runs have it, else by their text. Settings next to the rollouts (config.yaml,
    args.json, .hydra, W&B's), and those that were logged to trackers, are compared, too. What cannot be compared is said.
    """
    from board.analysis.compare import pair_report, run_settings
    from board.analysis.compare import run_pair as comparing

    a, b = (_opened(run, reading) for run in (run_a, run_b))
    try:
        pair = comparing.compare(a, b, metric, "last" if last_visit else "same step")
    except FieldMissing as error:
        raise ArgumentRefused(f"--metric: {error}") from error
    (of_a, unread_a), (of_b, unread_b) = (_settings(run, scalars) for run in (a, b))
    differing = run_settings.compared(of_a, of_b)
    notes = (*run_settings.notes(of_a, of_b, differing), *dict.fromkeys((*unread_a, *unread_b)))
    report = pair_report.as_json if as_json else pair_report.as_text
    say(report(pair, (locations.shown_place(run_a), locations.shown_place(run_b)), differing, notes))


def _opened(location: Path, reading: dict[str, Any]) -> "Run":
    """Raises RunNotFound that names the run as it was given."""
    from board.runs.opening import open_run

    try:
        return open_run(location, **reading)
    except RunNotFound as error:
        given = locations.shown_place(location)
        raise error if given in str(error) else RunNotFound(f"{given}: {error}") from error


def _settings(run: "Run", scalars: Path | None) -> "tuple[tuple[SettingsFile, ...], tuple[str, ...]]":
    """The settings next to a run and those that it logged to trackers, and which of the trackers' files could not be read."""
    from board.analysis.steps import logged_curves
    from board.sources.settings_files import find_settings

    folder = run.location.resolve()
    above = 0 if locations.address_of(folder) else _ABOVE  # what lies above a prefix is not ours to read
    settings = find_settings(folder, [folder, *folder.parents][: above + 1][-1])
    logged = logged_curves.CurveReader().read(logged_curves.find(run.location, scalars))
    return settings + logged_curves.settings(logged), logged.problems
