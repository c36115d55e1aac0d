"""The command `export`: write rollouts of a run as one table, or as a run of the board's own."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from board.cli.endings import Command, ExitCode
from board.cli.options import READING, WHERE, RunPlace
from board.cli.printing import Ticker, say
from board.errors import ArgumentRefused, BoardError
from board.text.counting import plural
from board.text.path_names import shown

if TYPE_CHECKING:
    from board.runs.run import Run


@click.command(cls=Command)
@READING
@WHERE
@click.option(
    "--layout",
    type=click.Choice(["table", "run"]),
    default="table",
    show_default=True,
    help="One file with all columns of the board, or a folder of what the trainer logged alone, which opens as a run.",
)
@click.option("--arrays", is_flag=True, help="With the token arrays, as lists; in CSV as JSON. A run has them in any case.")
@click.option(
    "--to", "form", type=click.Choice(["csv", "jsonl", "parquet"]), help="What to write; as OUT ends, or jsonl for a run."
)
@click.argument("run", type=RunPlace())
@click.argument("out", type=click.Path(path_type=Path))
def export(run: Path, out: Path, layout: str, form: str | None, arrays: bool, where: str | None, **reading: Any) -> None:
    """Write rollouts of the folder RUN to OUT: as one file (.csv, .jsonl, .parquet), or as a run of the board's own rows.

    The file is the one that "Export" on the pages gives: in the order of step, file and line, a row for each rollout. Missing values are
    null, or empty cells. Texts are written letter for letter: a spreadsheet may take one that begins with =, +, - or @ for a formula.

    With --layout run a file of rows for each of the run's files, whatever trainer's they are, in the folder OUT. `convert` is the same.
    """
    from board.runs.opening import open_run
    from board.text.terminal import on_one_line

    kind = form or ("jsonl" if layout == "run" else out.suffix.removeprefix(".").lower())
    if kind not in ("jsonl", "parquet") and (layout == "run" or kind != "csv"):
        refused = f"{shown(out)} does not say what to write: give it the ending .csv, .jsonl or .parquet, or --to."
        raise ArgumentRefused("A run is written as jsonl or parquet." if layout == "run" else refused)
    opened = _chosen(open_run(run, whole=True, **reading), where)
    place = _written_run(opened, out, kind) if layout == "run" else _written_table(opened, out, kind, arrays)
    say(f"{plural(len(opened.frame), 'rollout')} in {place}")
    for problem in opened.report.problems[:5]:
        say(f"  {on_one_line(str(problem))}", err=True)
    if opened.report.refused:
        say(f"{opened.report.refused:,} lines or files could not be read and are not in it.", err=True)
        raise click.exceptions.Exit(ExitCode.FAULTS)


def _chosen(run: "Run", where: str | None) -> "Run":
    """The run with the rollouts alone that satisfy the condition, if one is given. Raises ArgumentRefused where it is none."""
    if where is None:
        return run
    from board.analysis.texts import measured_columns
    from board.sql.condition import matching
    from board.sql.identifiers import may_be_named

    if may_be_named(measured_columns.NAMES, where):
        run = measured_columns.with_measures(run)
    try:
        return run.of_rows(matching(run, where), "where")
    except BoardError as error:
        raise ArgumentRefused(f"--where: {error}") from error


def _written_table(run: "Run", file: Path, form: str, arrays: bool) -> str:
    """Write one file of the columns of the board; where it is, in words."""
    from board.runs import export as exporting

    rows = [0]
    tick = Ticker(lambda: f"{rows[0]:,} of {len(run.frame):,} rollouts")

    def written(count: int) -> None:
        rows[0] = count
        tick()

    exporting.write(run, file, next(known for known in exporting.FORMATS if known == form), arrays, written)
    return shown(file)


def _written_run(run: "Run", folder: Path, form: str) -> str:
    """Write the rows of each file; where they are, in words."""
    from board.runs import convert

    written = convert.convert(run, folder, "parquet" if form == "parquet" else "jsonl")
    return f"{plural(len(written), 'file')} under {shown(folder)}"
