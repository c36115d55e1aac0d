"""The command `export`: rollouts of a run as one file. Knows only which run, which of its rollouts, where to, and what to say of it."""

from pathlib import Path
from typing import Any

import click

from board.cli.endings import Command, ExitCode
from board.cli.filtering import WHERE, chosen
from board.cli.options import READING, RunPlace
from board.cli.printing import Ticker, say
from board.errors import ArgumentRefused
from board.text.counting import plural
from board.text.path_names import shown


@click.command(cls=Command)
@READING
@WHERE
@click.option("--arrays", is_flag=True, help="With the token arrays, as lists; in CSV as JSON.")
@click.option("--to", "form", type=click.Choice(["csv", "jsonl", "parquet"]), help="What to write; as FILE ends unless given.")
@click.argument("run", type=RunPlace())
@click.argument("file", type=click.Path(path_type=Path))
def export(run: Path, file: Path, form: str | None, arrays: bool, where: str | None, **reading: Any) -> None:
    """Write rollouts of the folder RUN into one FILE (.csv, .jsonl, .parquet): all columns of the board and all texts.

    It is the file that "Export" on the pages gives: in the order of step, file and line, a row for each rollout. Missing values are null,
    or empty cells. Texts are written letter for letter: a spreadsheet may take one that begins with =, +, - or @ for a formula.
    """
    from board.runs import export as exporting
    from board.runs.opening import open_run

    wanted = form or file.suffix.removeprefix(".").lower()
    known = next((one for one in exporting.FORMATS if one == wanted), None)
    if known is None:
        raise ArgumentRefused(f"{shown(file)} does not say what to write: give it the ending .csv, .jsonl or .parquet, or --to.")
    kept = chosen(open_run(run, **reading), where)
    rows = [0]
    tick = Ticker(lambda: f"{rows[0]:,} of {len(kept.frame):,} rollouts")

    def written(count: int) -> None:
        rows[0] = count
        tick()

    exporting.write(kept, file, known, arrays, written)
    say(f"{plural(len(kept.frame), 'rollout')} in {shown(file)}")
    if kept.report.refused:
        say(f"{kept.report.refused:,} lines or files could not be read and are not in it.", err=True)
        raise click.exceptions.Exit(ExitCode.FAULTS)
