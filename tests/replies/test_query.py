"""SQL over a run: rows as DuckDB gives them, and nothing that it could touch."""

from pathlib import Path

import pytest
from asked import asked_run, empty_run

from board.cli.replies.query import query
from board.errors import ArgumentRefused
from board.runs.opening import open_run
from board.runs.run import Run


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Run:
    """The run of two steps."""
    return open_run(asked_run(tmp_path_factory.mktemp("root")))


def test_rows(run: Run) -> None:
    """Columns by name, a row each, missing values as null, texts cut where that is asked."""
    told = query(
        run,
        "SELECT step, max(reward) AS best, NULL AS nothing, min(response) AS r FROM rollouts GROUP BY step ORDER BY step",
        longest=3,
    )

    assert told.columns == ["step", "best", "nothing", "r"]
    assert told.rows == [[0, 1.0, None, "r00"], [1, 3.0, None, "r10"]]
    assert not told.cut


def test_no_more_rows_than_asked_for(run: Run) -> None:
    """And it is told that there were more."""
    told = query(run, "SELECT step FROM rollouts", most_rows=3)

    assert (len(told.rows), told.cut) == (3, True)


REFUSED = {
    "nothing": (" ", "1 to"),
    "no SQL": ("SELEC step", "SELEC"),
    "a file": ("SELECT * FROM read_text('/etc/passwd')", "disabled"),
    "no such column": ("SELECT rewrad FROM rollouts", "reward"),
    "no text": ("SELECT '\0'", "no text"),
}


@pytest.mark.parametrize(("sql", "why"), REFUSED.values(), ids=REFUSED)
def test_refused(sql: str, why: str, run: Run) -> None:
    """With DuckDB's words, or ours."""
    with pytest.raises(ArgumentRefused, match=why):
        query(run, sql)


def test_a_run_without_rollouts(tmp_path: Path) -> None:
    """Has nothing to ask."""
    with pytest.raises(ArgumentRefused, match="no rollouts"):
        query(open_run(empty_run(tmp_path)), "SELECT 1 AS one")
