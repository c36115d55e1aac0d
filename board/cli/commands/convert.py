"""The command `convert`: a run written as the board's own rows. Knows only which run, where to, and what to say of it."""

from pathlib import Path
from typing import Any

import click

from board.cli.endings import Command, ExitCode
from board.cli.filtering import WHERE, chosen
from board.cli.options import READING, RunPlace
from board.cli.printing import say
from board.text.counting import plural
from board.text.path_names import shown


@click.command(cls=Command)
@READING
@WHERE
@click.argument("run", type=RunPlace())
@click.argument("out", type=click.Path(path_type=Path))
@click.option(
    "--to", "target", type=click.Choice(["jsonl", "parquet"]), default="jsonl", show_default=True, help="What to write."
)
def convert(run: Path, out: Path, target: str, where: str | None, **reading: Any) -> None:
    """Write the rollouts of the folder RUN, whatever trainer's they are, as the board's own rows into the folder OUT.

    A file for each of the run's files, with what the trainer logged alone. For one table with all columns of the board: `export`.
    """
    from board.runs import convert as converting
    from board.runs.opening import open_run
    from board.text.terminal import on_one_line

    opened = chosen(open_run(run, **reading), where)
    written = converting.convert(opened, out, "parquet" if target == "parquet" else "jsonl")
    say(f"{plural(len(opened.frame), 'rollout')} in {plural(len(written), 'file')} under {shown(out)}")
    for problem in opened.report.problems[:5]:
        say(f"  {on_one_line(str(problem))}", err=True)
    if opened.report.refused:
        say(f"{opened.report.refused:,} lines or files could not be read and are not in it.", err=True)
        raise click.exceptions.Exit(ExitCode.FAULTS)
