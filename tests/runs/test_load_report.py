"""board.runs.load_report: every problem is counted, and the first are kept."""

import pandas as pd

from board.runs.load_report import MOST_PROBLEMS, LoadReport
from board.sources.shards import Problem


def test_problems_beyond_the_limit_are_counted_but_not_kept() -> None:
    """Of each severity the first so many are kept, and the report knows how many are left out."""
    report = LoadReport()
    for line in range(MOST_PROBLEMS + 5):
        report.add(Problem("a.jsonl", line, "odd", "flagged"))
    report.add(Problem("a.jsonl", 1, "bad", "refused"))

    assert (report.flagged, report.refused, report.left_out) == (MOST_PROBLEMS + 5, 1, 5)
    assert len(report.problems) == MOST_PROBLEMS + 1
    assert report.problems[-1].reason == "bad"


def test_empty_report_has_no_problem() -> None:
    """Nothing counted, nothing kept, an empty table with its columns."""
    report = LoadReport()

    assert (report.flagged, report.refused, report.left_out, report.problems) == (0, 0, 0, [])
    assert list(report.to_frame().columns) == ["severity", "shard", "line", "reason"]
    assert report.to_frame().empty


def test_table_of_problems_keeps_lines_whole() -> None:
    """Lines are integers, missing where the whole shard is meant."""
    report = LoadReport()
    report.add(Problem("a.jsonl", 3, "odd", "flagged"))
    report.add(Problem("b.jsonl", None, "gone", "refused"))

    frame = report.to_frame()

    assert frame["line"].dtype == "Int64"
    assert frame["line"].tolist() == [3, pd.NA]
    assert frame[["severity", "shard", "reason"]].to_numpy().tolist() == [
        ["flagged", "a.jsonl", "odd"],
        ["refused", "b.jsonl", "gone"],
    ]
