"""The option `--where`: the rollouts of a run that satisfy a condition in SQL, as the filter of the pages takes it."""

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import click

from board.errors import ArgumentRefused, BoardError

if TYPE_CHECKING:
    from board.runs.run import Run

WHERE: Callable[[Any], Any] = click.option(
    "--where",
    metavar="CONDITION",
    help='Only rollouts that satisfy this condition in SQL, such as "reward > 0.5 AND step >= 100"; as the pages\' filter.',
)


def chosen(run: "Run", where: str | None) -> "Run":
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
